"""Judges of others: one response scored, or a pair compared, by a judge form.

    single:  START -> judge -> END
    pair:    START -> run (per order) -> merge -> END
             START -> merge (no rival)

The form says what is asked and how the reply is read; its template comes at run time, from an installed package or a
file. Forms, readers and templates: `judgegraph.forms`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeAlias

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from judgegraph import registry
from judgegraph.agents.judge_form import FormComparer, FormJudge, shows_criterion
from judgegraph.agents.orders import Combine
from judgegraph.calls import JudgeLike
from judgegraph.compose.orders import order_graph
from judgegraph.errors import ConfigError, handing_on, one_line
from judgegraph.forms.form import JudgeForm
from judgegraph.forms.readers import reader_of
from judgegraph.forms.shipped import form_of
from judgegraph.forms.templates import template_of
from judgegraph.graphs.settings import OwnPrompts, Temperature, Templates, checked, named, narrowed
from judgegraph.prompts.criteria import CriteriaLike, CriteriaSet, criteria_set
from judgegraph.types import Asked, EvalState, Notes, Scores, merged

Orders: TypeAlias = Literal["form", "AB", "both"]


class Result(TypedDict, total=False):
    """What a single form writes; of a pair form see `judgegraph.compose.orders`."""

    scores: Annotated[Scores, merged]
    notes: Annotated[Notes, merged]


Builder: TypeAlias = StateGraph[EvalState, None, Asked, Any]


@checked("judge-form")
def builder(
    form: str | JudgeForm = "rating", *, judge: JudgeLike = "embedded", template: str = "", system: str = "",
    slots: Mapping[str, str] | str | None = None, criteria: CriteriaLike | None = None, orders: Orders = "form",
    combine: Combine | None = None, temperature: Temperature | None = None, prompts: OwnPrompts | None = None,
    name: str = "",
) -> Builder:  # fmt: skip
    """A judge form as a graph to go on building with.

    Args:
        form: name of a shipped form (`judgegraph.forms.shipped.FORMS`), a .yaml file, or a `JudgeForm`.
        judge: who answers: the model that the form is of.
        template: where the template is: "" an installed package that is known to have it, FILE, FILE:NAME,
            FILE:FIELD=VALUE:NAME, PACKAGE:FILE:NAME, or a text with slots and a line end.
        system: the same of the system message; "none" sends none.
        slots: the template's names -> our keys ("their=ours,their=ours" as a text), beside those that are known.
        criteria: what a form that shows criteria judges by; None is "general". A form that shows none scores over all.
        orders: of a pair: "form" as its authors ask, "AB" the given order alone, "both".
        combine: how both orders come to a verdict: "agree-else-tie" or "mean"; None as the form's authors do.
        temperature: None: as the form's authors sample.
        prompts: of a form that is ours, a template in the place of its own: {"form_verdict": "mine.md"}.
        name: put before the agents' names, for two of these in one graph.

    Raises:
        ConfigError: no such form, reader, template or slot, or a setting that would do nothing.
    """
    chosen = form_of(form)
    reader_of(chosen)
    templates = Templates("judge-form", prompts)
    if chosen.prompt and (own := templates.of(chosen.prompt)):
        chosen = replace(chosen, prompt=own["prompt"])
    templates.refuse_unused()
    read = None if chosen.prompt else template_of(chosen, template, system, _slots(slots))
    if chosen.prompt and (template or system or slots):
        raise ConfigError(f"form '{chosen.name}' is ours and brings its template: leave template, system and slots out")
    if chosen.kind == "single" and (orders != "form" or combine is not None):
        raise ConfigError(f"form '{chosen.name}' scores one response: orders and combine would do nothing")
    sampled = chosen.settings.get("temperature") if temperature is None else temperature
    asked = _criteria(chosen, criteria, shows_criterion(chosen, read))
    common: dict[str, Any] = {
        "judge": judge, "form": chosen, "template": read, "prompt": chosen.prompt, "temperature": sampled,
        "criteria": asked.criteria if asked else (), **({"task": asked.task} if asked else {}),
    }  # fmt: skip
    if chosen.kind == "single":
        graph: Any = StateGraph(EvalState, input_schema=Asked, output_schema=Result)
        graph.add_node("judge", FormJudge(name=named(name, "form-judge"), **common))
        graph.add_edge(START, "judge")
        graph.add_edge("judge", END)
    else:
        both = orders == "both" or (orders == "form" and chosen.orders != "one")
        rule = combine or (chosen.orders if chosen.orders != "one" else "agree-else-tie")
        if combine is not None and not both:
            raise ConfigError(
                f"form '{chosen.name}': combine: '{combine}' would do nothing in one order; set orders: 'both'"
            )
        comparer = FormComparer(name=named(name, "form-comparer"), **common)
        graph = order_graph(comparer, combine=rule, name=named(name, "form"), both=both)
    settings: dict[str, Any] = {"form": chosen.name, "reader": chosen.reader}
    if chosen.kind == "pair":
        settings |= {"orders": "both", "combine": rule} if both else {"orders": "AB"}
    if read is not None:
        settings["template"] = f"{one_line(read.source, 120)}@{read.digest}"
    if system:
        settings["system"] = one_line(system, 80)
    registry.declare(graph, settings=settings)
    return graph  # type: ignore[no-any-return]


def _slots(given: Mapping[str, str] | str | None) -> dict[str, str]:
    """Their names -> our keys, also of a text such as "question_body=query,answer=output".

    Raises:
        ConfigError: a part of the text is no pair.
    """
    if not isinstance(given, str):
        return dict(given or {})
    pairs = [part.partition("=") for part in given.split(",") if part.strip()]
    if wrong := [left for left, equals, right in pairs if not (equals and left.strip() and right.strip())]:
        raise ConfigError(f"judge-form: slots: write THEIRS=OURS, with commas between; got {one_line(wrong[0], 60)!r}")
    return {left.strip(): right.strip() for left, _, right in pairs}


def _criteria(form: JudgeForm, criteria: CriteriaLike | None, shown: bool) -> CriteriaSet | None:
    """What it judges by; None where its template shows no criterion and none was named.

    Raises:
        ConfigError: several criteria for a template that shows none, or one on another scale than the form's.
    """
    if criteria is None:
        return criteria_set("general") if shown else None
    found = criteria_set(criteria)
    if not shown and len(found.criteria) > 1:
        raise ConfigError(
            f"form '{form.name}': its template shows no criterion, so {len(found.criteria)} criteria would be one "
            "question; leave criteria out, or name one"
        )
    scale = form.numbers()
    if (
        form.kind == "single"
        and shown
        and scale is not None
        and (off := [c for c in found.criteria if c.scale != scale])
    ):
        raise ConfigError(
            f"form '{form.name}' scores on {scale}, and '{one_line(off[0].name, 60)}' is on {off[0].scale}: write "
            f"scale: {scale} and a guideline that says what each score means"
        )
    return found


@handing_on(kinds={"form"})
def judge_form(form: str | JudgeForm = "rating", **settings: Any) -> Any:
    """A judge of others as a graph of ours, compiled; settings as `builder` takes them.

    `jg.judge_form("prometheus2-absolute", judge="openai:prometheus", criteria="mine.yaml")`: the template is read from
    the package `prometheus-eval` where it is installed, else `template=` says where it is.
    """
    return narrowed(builder(form, **settings)).compile(name="judge-form")
