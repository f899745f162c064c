"""`judgegraph review`."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgegraph.cli.options import CRITIC_HELP, SETTING_HELP, columns, graph_of, judge_of
from judgegraph.errors import ConfigError, CriteriaError, DataError, JudgegraphError, one_line, printable
from judgegraph.prompts.criteria import CriteriaSet, as_yaml

if TYPE_CHECKING:
    from judgegraph.types import Criterion, Sample


# What a person has decided in `judgegraph review`: the criteria as they are now, written to a file.


class Decisions:
    """The criteria before and now.

    Attributes:
        before: what the method judges by, with its task. now: the same criteria with what was accepted.
        made: whether anything was decided, rejections included.
    """

    def __init__(self, before: CriteriaSet) -> None:
        self.before = before
        self.now: tuple[Criterion, ...] = before.criteria
        self.made = False

    @property
    def changed(self) -> dict[str, Any]:
        """Of a graph's input: the criteria where they are not the method's own any more."""
        return {"criteria": list(self.now)} if self.now != self.before.criteria else {}

    @contextmanager
    def taking(self, suggestions: Sequence[Mapping[str, Any]], answers: Sequence[Any]) -> Generator[None]:
        """Within, answers are given and judged by; where it is stopped, those that were given count."""
        try:
            yield
        except BaseException:
            self._take(suggestions, answers)
            raise
        self.made = True

    def _take(self, suggestions: Sequence[Mapping[str, Any]], answers: Sequence[Any]) -> None:
        from judgegraph.agents.person import decided
        from judgegraph.types import Suggestion

        for suggestion, answer in zip(suggestions, answers, strict=False):
            with suppress(DataError, CriteriaError):  # it would have been asked again
                found, _ = decided(self.now, [Suggestion.model_validate(suggestion)], [answer])
                self.now, self.made = tuple(found), True

    def saved(self, path: Path) -> str:
        """Written as a criteria set; gives what to say of it.

        Raises:
            DataError: it cannot be written.
        """
        text = as_yaml(CriteriaSet.model_construct(name=path.stem, task=self.before.task, criteria=tuple(self.now)))
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise DataError(f"{path}: {error.strerror or error}") from None
        return printable(f"criteria: {len(self.now)}, in {path}")


CHOICES = {"a": "accept", "e": "edit", "r": "reject"}


@click.command(context_settings={"show_default": True})
@click.argument("method")
@click.argument("data", type=click.Path(exists=True, dir_okay=False))
@click.option("-c", "--criteria", metavar="SET", help="A criteria set: a built-in name or a YAML or JSON file.")
@click.option("-j", "--judge", help="embedded, openai:MODEL, or PROVIDER:MODEL.  [default: embedded]")
@click.option("--base-url", metavar="URL", help="Of any OpenAI-compatible server; then --judge openai:MODEL.")
@click.option("--critic", metavar="NAME", help=CRITIC_HELP)
@click.option("-s", "--setting", "settings", multiple=True, metavar="KEY=VALUE", help=SETTING_HELP)
@click.option("-f", "--field", "fields", multiple=True, metavar="FIELD=COLUMN", help="Read FIELD from COLUMN.")
@click.option("-n", "--limit", metavar="N", type=click.IntRange(1), default=1, help="At most so many samples.")
@click.option(
    "--ledger", type=click.Path(dir_okay=False), help="A file of model calls: what it holds is not paid again."
)
@click.option("--save", type=click.Path(dir_okay=False), help="Write the criteria, as decided, to this YAML file.")
def review(method: str, data: str, **given: Any) -> None:
    """Judge samples of DATA by METHOD, and decide on the criteria that its critic suggests.

    METHOD is a name (see `judgegraph methods`), a graph file, or file.py:factory; it has a critic, as sageval does.

    Where the critic suggests a changed definition or a new criterion, you accept, edit or reject it, and the sample is
    judged again by the new criteria, as are all samples after it. What --save writes, with the method's task, is a
    criteria set for `judgegraph run METHOD DATA --criteria FILE`. Ctrl-C, or the end of the input, ends it with exit
    code 130; what was decided before is saved all the same.
    """
    from judgegraph.data.load import load

    save = Path(given["save"]) if given["save"] else None
    if save is not None and (save.exists() or save.suffix not in (".yaml", ".yml")):
        raise click.UsageError(f"--save {save}: {'it exists already' if save.exists() else 'it ends in .yaml'}")
    judge, named = judge_of(given["judge"], given["base_url"]), columns(given)
    graph = graph_of(
        method, criteria=given["criteria"], judge=judge, settings=given["settings"], critic=given["critic"]
    )  # fmt: skip
    decisions = _begun(method, graph, given["criteria"])
    try:
        asyncio.run(_reviewed(graph, load(data, fields=named, limit=given["limit"]), given["ledger"], decisions))
    except (KeyboardInterrupt, click.Abort) as stop:
        click.echo()  # behind the prompt
        stop.add_note(_left(decisions, save))
        raise
    except JudgegraphError:  # a judge that refuses the key, say, after an hour of decisions
        if decisions.made:
            click.echo(_left(decisions, save), err=True)
        raise
    if save is not None:
        click.echo(decisions.saved(save))


def _begun(method: str, graph: Any, criteria: str | None) -> Decisions:
    """Nothing is decided yet.

    Raises:
        ConfigError: there will be nothing to decide, or it is not known what the graph judges by.
    """
    from judgegraph.compose.nodes import held, suggests
    from judgegraph.prompts.criteria import criteria_set

    if not suggests(graph):
        raise ConfigError(
            f"{one_line(method, 120)} has no critic that suggests criteria, so there is nothing to decide; review "
            "takes a method with one, such as sageval"
        )
    own = criteria_set(criteria) if criteria is not None else held(graph)
    if own is None:
        raise ConfigError(
            f"{one_line(method, 120)}: no agent of the graph holds criteria; say by --criteria what it judges by"
        )
    return Decisions(own)


def _left(decisions: Decisions, save: Path | None) -> str:
    """What is left of a review that was stopped."""
    if not decisions.made:
        return "nothing was decided"
    return decisions.saved(save) if save else "what was decided is lost; --save FILE keeps it"


async def _reviewed(graph: Any, samples: Any, ledger: str | None, decisions: Decisions) -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    from judgegraph.calls.context import CallContext, context
    from judgegraph.calls.ledger import Ledger
    from judgegraph.compose.nodes import with_person
    from judgegraph.traces.record import serializer

    asking = with_person(graph, criteria=decisions.before).compile(checkpointer=InMemorySaver(serde=serializer()))
    with closing(Ledger(ledger)) as kept:
        before = context.set(CallContext(ledger=kept))
        try:
            for sample in samples:
                await _one(asking, sample, decisions)
        finally:
            context.reset(before)


async def _one(graph: Any, sample: Sample, decisions: Decisions) -> None:
    """One sample to its end."""
    from langgraph.types import Command

    config = {"configurable": {"thread_id": sample.id}}
    click.echo(f"\n{printable(one_line(sample.id, 80))}")
    state = await graph.ainvoke({"sample": sample, **decisions.changed}, config)
    first = _finals(state)
    while pending := state.get("__interrupt__"):
        asked = pending[0].value
        answers: list[Any] = []
        if "wrong" in asked:
            click.echo(printable(f"  {asked['wrong']}"))
        with decisions.taking(asked["suggestions"], answers):
            for number, one in enumerate(asked["suggestions"], 1):
                answers.append(_answer(number, one))
            state = await graph.ainvoke(Command(resume=answers), config)
    decisions.now = tuple(state.get("criteria") or decisions.now)
    _print(first, _finals(state))


def _answer(number: int, suggestion: Mapping[str, Any]) -> Any:
    kind = "new criterion" if suggestion["kind"] == "criterion" else "changed definition of"
    click.echo(printable(f"  {number}. {kind} {one_line(suggestion['criterion'], 80)}"))
    for key in ("definition", "reason"):
        if suggestion.get(key):
            click.echo(printable(f"     {key}: {one_line(suggestion[key], 400)}"))
    chosen = click.prompt("     accept, edit or reject", type=click.Choice(list(CHOICES)), show_choices=True)
    if chosen != "e":
        return CHOICES[chosen]
    edited = {"definition": _edited("definition", suggestion["definition"])}
    if suggestion["kind"] == "criterion":
        edited["name"] = _edited("name", suggestion["criterion"])
    return edited


def _edited(what: str, now: str) -> Any:
    """What is typed, nothing for what stands there now: as it is, though it is shown without control characters."""
    return click.prompt(f"     {what} [{printable(now)}]", default=now, show_default=False)


def _finals(state: Mapping[str, Any]) -> dict[str, str]:
    """Criterion -> its answer, as text."""
    from judgegraph.answers import answer_keys

    scores = (state.get("scores") or {}).values()
    answers = set(answer_keys(scores))
    finals = [s for s in scores if s.key in answers]
    return {s.criterion: f"{s.value:.2f}" if s.value is not None else s.label or s.status for s in finals}


def _print(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    width = max(map(len, after), default=0)
    for name, value in after.items():
        was = before.get(name)
        moved = "  (new)" if was is None else f"  (was {was})" if was != value else ""
        click.echo(printable(f"  {one_line(name, 80):<{min(width, 80)}}  {value}{moved}"))
