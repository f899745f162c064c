"""Functions that take of their state what it has, or may have: `check` says nothing of any of them."""

# ruff: noqa: F811, SIM105

from __future__ import annotations

import contextlib
from typing import Any

from judgegraph.types import Criterion, EvalState, Note, Sample, Score, keyed


class Weighed(Score):
    """A score of one's own."""

    weight: float = 1.0


class Own(EvalState, total=False):
    sample: Any  # type: ignore[misc]


def rated(value: float) -> Any:
    return {"scores": keyed(Score(criterion="Brevity", agent="brevity", value=value, scale="1-5"))}  # type: ignore[arg-type]


def is_long(one: Any) -> bool:
    return hasattr(one, "pages")


def slices_criteria(state: EvalState):
    rest = state["criteria"][1:]
    rest.append(rest[0])
    return rated(min(5, rest.count(rest[0])))


def slices_by_a_name(state: EvalState):
    first = slice(0, 2)
    return rated(min(5, state["criteria"][first].count(1) + 1))  # type: ignore[arg-type]


def slices_sorted_scores(state: EvalState):
    rest = sorted(state["scores"].values(), key=str)[1:]
    return rated(1 + rest.count(rest[0]))


def slices_a_list_of_keys(state: EvalState):
    first = list(state["scores"])[:2]
    first.sort()
    return rated(len(first))


def copies_a_list(state: EvalState):
    rest = list(state["criteria"])
    rest.reverse()
    return rated(min(5, len(rest)))


def asks_with_hasattr(state: EvalState):
    return rated(sum(s.blah if hasattr(s, "blah") else 1 for s in state["scores"].values()))


def asks_with_getattr(state: EvalState):
    sample = state["sample"]
    return rated(sample.pages if getattr(sample, "pages", None) else 1)  # type: ignore[attr-defined]


def asks_a_function(state: EvalState):
    sample = state["sample"]
    return rated(sample.pages if is_long(sample) else 1)  # type: ignore[attr-defined]


def goes_on_where_it_lacks(state: EvalState):
    found = 0
    for s in state["scores"].values():
        if not is_long(s):
            continue
        found += s.pages  # type: ignore[attr-defined]
    return rated(1 + found)


def asserts_a_class(state: EvalState):
    for s in state["scores"].values():
        assert isinstance(s, Weighed)
        s.weigh_again()  # type: ignore[attr-defined]
    return rated(3)


def catches_the_error(state: EvalState):
    for s in state["scores"].values():
        try:
            s.blah  # type: ignore[attr-defined]  # noqa: B018
        except AttributeError:
            pass
    return rated(3)


def suppresses_the_error(state: EvalState):
    with contextlib.suppress(AttributeError):
        return rated(state["sample"].blah)  # type: ignore[attr-defined]
    return rated(3)


def knows_a_class(state: EvalState):
    found = [s.weight for s in state["scores"].values() if isinstance(s, Weighed)]
    return rated(sum(found, 1))


def knows_a_class_by_its_agent(state: EvalState):
    return rated(sum(s.weight for s in state["scores"].values() if s.agent == "mine"))  # type: ignore[attr-defined]


def compares_classes(state: EvalState):
    sample = state["sample"]
    return rated(sample.pages if sample.__class__ is not Sample else 1)  # type: ignore[attr-defined]


def matches(state: EvalState):
    one = state["sample"]
    match one:
        case Sample():
            return rated(1)
        case _:
            return rated(one.pages)


def matches_into_a_name(state: EvalState):
    sample = state["sample"]
    match {"of": 3}:
        case {"of": sample}:  # type: ignore[assignment]
            return rated(sample.real)  # type: ignore[attr-defined]
        case {**sample}:  # type: ignore[assignment]
            return rated(len(sample.items()))  # type: ignore[attr-defined]
    return rated(1)


def rebinds_by_except(state: EvalState):
    s = state["sample"]
    try:
        return rated(len(s.output))
    except ValueError as s:  # type: ignore[assignment]
        return rated(len(s.args))  # type: ignore[attr-defined]


def rebinds_by_import(state: EvalState):
    sample = state["sample"]
    import json as sample  # type: ignore[no-redef]

    return rated(len(sample.dumps(3)))  # type: ignore[attr-defined]


def rebinds_by_with(state: EvalState):
    s = state["sample"]
    with contextlib.nullcontext(3) as s:  # type: ignore[assignment]
        pass
    return rated(s.real)  # type: ignore[attr-defined]


def rebinds_by_for(state: EvalState):
    s = state["sample"]
    for s in range(3):  # type: ignore[assignment]
        s.bit_length()  # type: ignore[attr-defined]
    return rated(3)


def rebinds_by_class(state: EvalState):
    s = state["sample"]

    class s:  # type: ignore[no-redef]
        value = 3

    return rated(s.value)  # type: ignore[attr-defined]


def rebinds_by_def(state: EvalState):
    s = state["sample"]

    def s():  # type: ignore[no-redef]
        return 3

    return rated(len(s.__name__))  # type: ignore[attr-defined]


def rebinds_by_walrus(state: EvalState):
    s = state["sample"]
    if s := 3:  # type: ignore[assignment]
        return rated(s.real)  # type: ignore[attr-defined]
    return rated(1)


def rebinds_by_a_global(state: EvalState):
    global sound
    sound = state["sample"]
    return rated(sound.pages)


def rebinds_by_a_nonlocal(state: EvalState):
    s = state["sample"]

    def count() -> None:
        nonlocal s
        s = 3  # type: ignore[assignment]

    count()
    return rated(s.real)  # type: ignore[attr-defined]


def rebinds_after_del(state: EvalState):
    s = state["sample"]
    del s
    s = 3  # type: ignore[assignment]
    return rated(s.real)  # type: ignore[attr-defined]


def rebinds_an_argument(state: EvalState, s: Any = 3):
    return rated(s.real if s else (s := state["sample"]))


def says_more_by_an_annotation(state: EvalState):
    s: Any = state["sample"]
    return rated(s.pages)


def has_a_default(state: EvalState):
    return rated(state.get("sample", 3).real)  # type: ignore[attr-defined]


def has_another_place(state: EvalState):
    found = state.get("scores") or {"a": 3}
    return rated(max(one.real for one in found.values()))  # type: ignore[attr-defined]


def puts_something_else_there(state: EvalState):
    found = {**state}["scores"]
    own = state["scores"]
    own["more"] = 3  # type: ignore[assignment]
    return rated(own["more"].real + 0 * len(found))  # type: ignore[attr-defined]


def has_a_sorted_of_its_own(state: EvalState):
    def sorted(scores: Any) -> list[int]:
        return [len(scores)]

    return rated(sorted(state["scores"])[0].real)


def has_a_state_of_its_own(state: Own):
    return rated(state["sample"].pages)


# Of what pydantic's models and Python's mappings give.


def copies_scores(state: EvalState):
    made = [s.model_copy(update={"agent": "mine"}) for s in state["scores"].values() if s.value is not None]
    return {"scores": keyed(*made)}


def dumps_scores(state: EvalState):
    dumps = [s.model_dump(mode="json") for s in state["scores"].values()]
    return rated(min(5, 1 + sum(dump["repeat"] for dump in dumps)))


def keeps_keys(state: EvalState):
    return {"scores": {s.key: s for s in state["scores"].values() if s.answer is not None}}


def goes_over_items(state: EvalState):
    best = {key.partition("/")[0]: s.value or 0 for key, s in state["scores"].items() if s.status == "ok"}
    return rated(max(best.values(), default=1))


def sorts_by_a_key(state: EvalState):
    ordered = sorted(state["scores"].values(), key=lambda s: (s.value or 0, s.criterion.lower()))
    return rated(ordered[-1].value or 1) if ordered else rated(1)


def sorts_keys(state: EvalState):
    first = sorted(state["scores"], key=lambda key: key.lower())[0]
    return rated(state["scores"][first].value or len(first.split("/")))


def writes_notes(state: EvalState):
    texts = [f"{s.criterion.title()}: {s.value!r:>5} ({s.scale})" for s in state["scores"].values()]
    return {"notes": keyed(Note(agent="mine", text=" ".join(texts) or state["sample"].output[:20]))}


def copies_criteria(state: EvalState):
    kept = [one.model_copy(update={"definition": one.definition.strip()}) for one in state.get("criteria") or []]
    return {"criteria": [Criterion.model_validate(one.model_dump()) for one in kept]}


def copies_the_sample(state: EvalState):
    sample = state["sample"].model_copy(update={"output": state["sample"].output.strip()})
    return rated(min(5, len(sample.model_dump_json(exclude_none=True))))


def reads_a_score_by_its_key(state: EvalState):
    found = state["scores"].get("Brevity/brevity/final/0")
    fields = [name for name in Score.model_fields if getattr(found, name, None)]
    return rated((found.value or 1) if found is not None and found.model_fields_set else 1 + 0 * len(fields))


def averages(state: EvalState):
    scores = state.get("scores", {})
    read = [s for s in scores.values() if s.value is not None and s.scale is not None]
    return rated(sum(s.value for s in read if s.value) / len(read) if read else 1)


def goes_by_notes(state: EvalState):
    kinds = {note.kind for note in (state.get("notes") or {}).values() if note.text.startswith("left")}
    first = next(iter(state["scores"].values()), None)
    return rated(1 + len(kinds)) if first is None else rated(first.value or 1)


SOUND = [
    one for name, one in list(globals().items())
    if getattr(one, "__module__", "") == __name__ and name not in ("rated", "is_long") and not isinstance(one, type)
]  # fmt: skip
