"""Judges in your own words, who may hear one another before they decide.

    START -> strict | kind -> strict-2 | kind-2 -> chair -> END

Each round of a debate is a column of its own: every judge of it has heard all of the round before. In the end a chair
decides, who has heard the last round, or the judges' scores are combined as a panel's are.

Source: debates of LLM judges are those of Chan et al. 2023 (ChatEval, arXiv:2308.07201); a jury without debate is the
panel of Verga et al. 2024 (arXiv:2404.18796).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise
from typing import Annotated, Any, TypeAlias

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from judgegraph import registry
from judgegraph.agents.juror import Hearer, Juror, hearing
from judgegraph.agents.panel import Combine, Consensus, first_alike, likeness
from judgegraph.answers import BALLOT, ROUND
from judgegraph.calls import JudgeLike, Reader
from judgegraph.calls.ratings import STATED
from judgegraph.compiled import vocabulary
from judgegraph.compose.panel import Brief, Node
from judgegraph.errors import ConfigError, one_line, settings_checked
from judgegraph.prompts.criteria import CriteriaLike, criteria_set
from judgegraph.prompts.template import load
from judgegraph.types import Asked, Criterion, EvalState, Notes, Scores, merged

# Rounds of agents: columns of nodes, each of which waits for all of the column before.


def add_columns(graph: Any, columns: Iterable[Mapping[str, Any]], after: Sequence[str] = (START,)) -> list[str]:
    """Adds columns of nodes to a graph; each node of a column has an edge from every node of the one before.

    In a column of one node it has the floor alone; those of a wider one do not know of each other.

    Args:
        columns: node's name -> what it runs. after: nodes that the first column waits for.

    Returns:
        The names of the last column, for the edges that lead on.
    """
    before = [*after]
    for column in columns:
        for name, node in column.items():
            graph.add_node(name, node)
            graph.add_edge(before if len(before) > 1 else before[0], name)
        before = [*column]
    return before


def add_rounds(
    graph: Any, count: int, speak: Callable[[int], Mapping[str, Any]],
    between: Callable[[int], Mapping[str, Any]] | None = None, *, together: bool = False,
) -> list[str]:  # fmt: skip
    """Adds rounds of speakers, as `add_columns`; nodes of later rounds have the round behind their names.

    Args:
        speak: round -> node's name -> who speaks in it. between: the same, after each round but the last.
        together: those of a round do not know of each other, else each has the floor alone.
    """
    columns: list[Mapping[str, Any]] = []
    for turn in range(1, count + 1):
        behind = "" if turn == 1 else f"-{turn}"
        spoken = {f"{who}{behind}": agent for who, agent in speak(turn).items()}
        columns += [spoken] if together else [{who: agent} for who, agent in spoken.items()]
        if between and turn < count:
            columns.append({f"{who}{behind}": agent for who, agent in between(turn).items()})
    return add_columns(graph, columns)


def add_consensus(
    graph: Any, before: Sequence[str], members: Sequence[str], name: str, combine: Combine = "mean",
    criteria: Sequence[Criterion] = (),
) -> None:  # fmt: skip
    """Adds what the ballots of a last column come to, and the end behind it.

    Args:
        before: the column's nodes. members: whose ballots count. name, combine, criteria: as of `Consensus`.
    """
    one = Consensus(combine=combine, members=tuple(members), criteria=criteria, ballots=BALLOT, name=name)
    graph.add_edge(add_columns(graph, [{"consensus": one}], before)[0], END)


MOST_ROUNDS = 10  # of a debate
CHAIR = "You chair a jury. You have heard its judges; you decide by what they show of the text, not by their number."
Words: TypeAlias = str  # who a judge is and what it looks for
WITH_JUDGE = frozenset({"prompt", "judge"})  # of a judge in words that has somebody of its own who answers


CASTING = 'jg.judge_agent(...), or a mapping {"strict": "You look for what is missing.", ...} of names to words'


class Result(TypedDict, total=False):
    """What a jury writes."""

    scores: Annotated[Scores, merged]
    notes: Annotated[Notes, merged]


@settings_checked
def judge_agent(
    name: str, prompt: str = "", *, reads: Sequence[str] | str | None = None, scores: CriteriaLike | None = None,
    hears: Sequence[str] | str | None = None, judge: JudgeLike = "embedded", task: str | None = None,
    reader: Reader = STATED, stage: str = "final",
) -> Juror:  # fmt: skip
    """A judge of your own from a prompt, as a node: `jg.judge_agent("strict", "You look for what is missing.")`.

    Args:
        name: whom its scores name; another for each judge of a graph.
        prompt: who the judge is and what it looks for, in your words; criteria, material and the form of the reply are
            added. A .md file is a whole template, with fields of `prompts/juror.md`.
        reads: what it is shown of a sample beside the output: "query", "source", "reference", "contexts", "turns",
            "images", "facts". None: whatever the sample brings.
        scores: what it judges by: a criteria set's name or file, or criteria. None: what the state brings.
        hears: agents whose scores and reasons it reads before it judges; "all" for everybody before it. Its scores
            take the place of theirs. None: it judges alone.
        judge, reader: who answers, how scores are read. task: what kind of text is judged; None: the criteria's own.
        stage: of its scores: "draft" where a critic reviews them.

    Raises:
        ConfigError: an empty name or prompt, or something to read that no sample has. CriteriaError: no such criteria.
        PromptError: no such template.
    """
    if not name.strip():
        raise ConfigError(f"judge_agent: a judge has a name, a text; got {one_line(repr(name), 60)}")
    chosen = criteria_set(scores) if scores is not None else None
    about: dict[str, Any] = {"name": name, "judge": judge, "reader": reader, "stage": stage}
    about |= {"criteria": chosen.criteria, "task": chosen.task} if chosen else {}
    about |= {"task": task} if task else {}
    about |= {"reads": reads} if reads is not None else {}
    if prompt.endswith(".md") and "\n" not in prompt:
        load(prompt)
        about["prompt"] = prompt
    elif prompt:
        about["instructions"] = _words("judge_agent", name, prompt)
    if hears is None:
        return Juror(**about)
    return Hearer(**about, hears=() if hears == "all" else (hears,) if isinstance(hears, str) else tuple(hears))


@settings_checked
def jury(
    *jurors: Juror | Mapping[str, Words | Mapping[str, Any] | Juror], debate: int = 0,
    chair: Words | Mapping[str, Any] | Juror | None = None,
    combine: Combine = "mean", criteria: CriteriaLike | None = None, judge: JudgeLike | None = None,
    task: str | None = None, name: str = "jury",
) -> Node:  # fmt: skip
    """Judges in your own words as one node: `jg.jury({"strict": "You ...", "kind": "You ..."}, criteria="summary")`.

    Args:
        jurors: two or more judges of `judge_agent`, or a mapping of names to such, or to what their prompt says; or to
            {"prompt": what it says, "judge": who answers for this one}.
        debate: rounds after the first, in each of which every judge hears all scores and reasons of the round before
            and judges again; 0 to 10.
        chair: who decides in the end, having heard the last round: as one of the jurors. None: the last round's
            scores are combined.
        combine: without a chair: "mean", "median" or "vote".
        criteria: what all judge by who have no criteria of their own. judge: who answers for judges that are given in
            words; None: the embedded judge. task: what kind of text is judged; None: the criteria's own.
        name: of the graph, and of the combined scores.

    Raises:
        ConfigError: fewer than two judges, two of one name, or two that ask one judge the same; or a setting that would
            do nothing. CriteriaError: no such criteria.
    """
    chosen = criteria_set(criteria) if criteria is not None else None
    _refuse_idle(jurors, chair, judge=judge, task=task)
    answers = judge if judge is not None else "embedded"
    about: dict[str, Any] = {"judge": answers} | ({"task": task} if task else {"task": chosen.task} if chosen else {})
    members = _members(jurors, about)
    if not isinstance(debate, int) or not 0 <= debate <= MOST_ROUNDS:
        raise ConfigError(f"jury: debate is 0 to {MOST_ROUNDS} rounds, got {one_line(repr(debate), 40)}")
    if chair is not None and combine != "mean":
        raise ConfigError(f"jury: combine={combine!r} would do nothing where a chair decides; leave one of them out")
    head = _chair(chair, about, members) if chair is not None else None
    given = tuple(chosen.criteria) if chosen else ()
    columns = _columns({n: m if m.criteria else replace(m, criteria=given) for n, m in members.items()}, debate)
    last = [*members]
    if head is not None:
        end: Any = hearing(head if head.criteria else replace(head, criteria=given), last, BALLOT, "final")
    else:
        end = Consensus(combine=combine, members=tuple(last), ballots=BALLOT, name=name, stage="final")
    brief = Brief(criteria=given, task=about.get("task", ""), name=name) if given else None
    graph = _wired(columns, end, brief)
    settings: dict[str, Any] = {"jurors": ",".join(map(_in_short, members.values())), "debate": debate}
    settings |= {"chair": _in_short(head)} if head is not None else {"combine": combine}
    registry.declare(graph, settings=settings, own_nodes=frozenset(graph.nodes))
    return graph.compile(name=name)  # type: ignore[no-any-return]


def jury_of(
    *, jurors: Mapping[str, str | Mapping[str, Any]], debate: int = 0, chair: str | Mapping[str, Any] = "",
    combine: Combine = "mean",
    criteria: CriteriaLike | None = None, judge: JudgeLike = "embedded", task: str | None = None, name: str = "jury",
) -> Node:  # fmt: skip
    """Judges in your own words, who may debate before a chair or a vote decides; `jury` for graph files.

    Args:
        jurors: name -> who this judge is and what it looks for, or {prompt: the same, judge: who answers for it}.
            chair: the same of who decides, "" for none. judge: who answers for those that name nobody. The others:
            as of `jury`.

    Raises:
        ConfigError, CriteriaError: as `jury`.
    """
    everybody = (*jurors.values(), chair or {"judge": judge})
    idle = all(isinstance(one, Mapping) and "judge" in one for one in everybody)  # a file's own is for other nodes too
    return jury(
        jurors, debate=debate, chair=chair or None, combine=combine, criteria=criteria, judge=None if idle else judge,
        task=task, name=name,
    )  # fmt: skip


@settings_checked
def debate(a: Juror, b: Juror, /, *, rounds: int = 2, judge: Words | Juror | None = None, **settings: Any) -> Node:
    """Two judges who hear one another, and a third who decides: `jg.debate(strict, kind, rounds=3, judge=chair)`.

    Args:
        a, b: judges of `judge_agent`. rounds: in all, 2 or more: in the first nobody has heard anybody.
        judge: who decides, having heard the last round; None: the mean of their last scores.
        settings: `criteria`, `combine`, `task` and `name` as `jury` takes them.

    Raises:
        ConfigError: as `jury`; or fewer than two rounds, in which nobody would hear anybody.
    """
    if rounds < 2:
        raise ConfigError(f"debate: {rounds} round: nobody would hear anybody; rounds=2 or more, or jg.jury")
    return jury(a, b, debate=rounds - 1, chair=judge, **{"name": "debate", **settings})


def _refuse_idle(jurors: Sequence[Any], chair: Any, **given: Any) -> None:
    """Settings of judges that are given in words, where none is."""
    everybody = [who for one in jurors for who in (one.values() if isinstance(one, Mapping) else [one])]
    in_words = [who for who in (*everybody, chair) if isinstance(who, str | Mapping)]
    asks_it = any(isinstance(who, str) or "judge" not in who for who in in_words)
    for name, value in given.items():
        if value is not None and in_words and name == "judge" and not asks_it:
            raise ConfigError(f"jury: judge={one_line(repr(value), 60)} would do nothing: each has a judge of its own")
        if value is not None and not in_words:
            raise ConfigError(
                f"jury: {name}={one_line(repr(value), 60)} would do nothing: it is for judges that are given in words, "
                f"and all of these are judge agents; give it to them: jg.judge_agent(..., {name}=...)"
            )


def _members(jurors: Sequence[Any], about: Mapping[str, Any]) -> dict[str, Juror]:
    """Name -> judge, in their order.

    Raises:
        ConfigError: see `jury`.
    """
    pairs = [pair for one in jurors for pair in (one.items() if isinstance(one, Mapping) else [("", one)])]
    made: dict[str, Juror] = {}
    for called, which in pairs:
        if not isinstance(which, Juror) and not (called and isinstance(which, str | Mapping)):
            raise _no_juror(called, which)
        if isinstance(which, str | Mapping):
            which = _in_words(called, which, about)
        found = replace(which, name=called or which.name)
        if found.name in made or found.name in vocabulary() or {":", "|"} & set(found.name):
            why = "two are called so" if found.name in made else "a word of the graph's own, or with ':' or '|'"
            raise ConfigError(f"jury: no judge can be called {one_line(found.name, 80)!r}: {why}")
        made[found.name] = found
    if len(made) < 2:
        raise ConfigError(f"jury: two judges or more, got {len(made)}")
    if (alike := first_alike([likeness(one) for one in made.values()])) is not None:
        one, other = ([*made][place - 1] for place in alike)
        raise ConfigError(
            f"jury: {one!r} and {other!r} differ in their names alone: one call is made for both, so that one opinion "
            "would count twice; give one another judge or other words"
        )
    return made


def _no_juror(called: str, which: Any) -> ConfigError:
    name = f"'{one_line(called, 80)}'" if called else "a judge"
    if which is None:
        return ConfigError(f"jury: {name} is None, so nothing says who judges: give {CASTING}")
    return ConfigError(
        f"jury: {name} is {one_line(repr(which), 60)}: give {CASTING}; for methods, models and graphs side by side see "
        "jg.panel"
    )


def _in_words(name: str, said: Words | Mapping[str, Any], about: Mapping[str, Any], before: str = "") -> Juror:
    given = {"prompt": said} if isinstance(said, str) else dict(said)
    if {"prompt"} <= {*given} <= WITH_JUDGE and not isinstance(given["prompt"], str):
        got = one_line(repr(given["prompt"]), 60)
        raise ConfigError(f"jury: the prompt of '{one_line(name, 80)}' is {got}: write who it is and what it looks for")
    if not isinstance(given.get("prompt"), str) or {*given} - WITH_JUDGE:
        raise ConfigError(
            f"jury: '{one_line(name, 80)}' is its words, or {{prompt: its words, judge: who answers}}; got the keys "
            f"{', '.join(one_line(key, 40) for key in given) or 'none'}"
        )
    judge = given.get("judge") or about["judge"]
    return Juror(name=name, instructions=before + _words("jury", name, given["prompt"]), **{**about, "judge": judge})


def _chair(chair: Words | Mapping[str, Any] | Juror, about: Mapping[str, Any], members: Mapping[str, Juror]) -> Juror:
    found = chair
    if isinstance(found, str | Mapping):
        found = _in_words("chair", found, about, f"{CHAIR} ")
    if not isinstance(found, Juror):
        raise _no_juror("chair", found)
    if found.name in members:
        raise ConfigError(f"jury: the chair and a judge are both called {one_line(found.name, 80)!r}")
    return found


def _words(of: str, name: str, said: str) -> str:
    if not said.strip():
        raise ConfigError(f"{of}: '{one_line(name, 80)}' has no words: say who it is and what it looks for")
    return said


def _in_short(juror: Juror) -> str:
    """A judge's name with a digest of its words, for signatures."""
    read = "" if juror.reads is None else f"\nreads {','.join(juror.reads)}"
    said = blake2b(f"{juror.instructions}\n{juror.prompt}{read}".encode(), digest_size=4).hexdigest()
    return f"{juror.name}@{said}"


def _columns(members: Mapping[str, Juror], debate: int) -> list[dict[str, Juror]]:
    """The rounds: node -> judge. In the last one their scores are ballots."""
    stages = [*(f"{ROUND}{number}" for number in range(1, debate + 1)), BALLOT]
    columns = [{name: replace(one, stage=stages[0]) for name, one in members.items()}]
    for number, (before, stage) in enumerate(pairwise(stages), 2):
        column = {f"{name}-{number}": hearing(one, [*members], before, stage) for name, one in members.items()}
        columns.append({**column})
    return columns


def _wired(columns: Sequence[Mapping[str, Juror]], end: Any, brief: Brief | None) -> Any:
    graph: Any = StateGraph(EvalState, input_schema=Asked, output_schema=Result)
    before: list[str] = [START]
    if brief is not None:
        graph.add_node("brief", brief)
        graph.add_edge(START, "brief")
        before = ["brief"]
    before = add_columns(graph, columns, before)
    last = "consensus" if isinstance(end, Consensus) else end.name
    graph.add_node(last, end)
    graph.add_edge(before, last)
    graph.add_edge(last, END)
    return graph
