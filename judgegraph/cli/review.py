"""`judgegraph review`."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgegraph.cli.options import CRITIC_HELP, SETTING_HELP, columns, graph_of, judge_of
from judgegraph.errors import ConfigError, CriteriaError, DataError, JudgegraphError, one_line, printable, status_text
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

    def next(self, run: str) -> CriteriaSet:
        """The next version of the set that a run was judged by."""
        from judgegraph.runs.suggestions import next_version

        return next_version(self.before, self.now, run=run)

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

    def saved(self, path: Path, run: str = "") -> str:
        """Written as a criteria set, of topics of a run with its version and digest; gives what to say of it.

        Raises:
            DataError: it cannot be written.
        """
        found = CriteriaSet.model_construct(name=path.stem, task=self.before.task, criteria=tuple(self.now))
        if run:
            found = self.next(run).model_copy(update={"name": path.stem})
        text = as_yaml(found)
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise DataError(f"{path}: {error.strerror or error}") from None
        which = f", version {found.version} ({found.digest})" if run else ""
        had = {one.name for one in self.before.criteria if one.steps}
        bare = ", ".join(one_line(one.name, 60) for one in self.now if one.name in had and not one.steps)
        steps = (
            f"\n  the steps of {bare} went with their definitions: judgegraph criteria {path} --steps writes new ones"
        )
        return printable(f"criteria: {len(self.now)}{which}, in {path}{steps if bare else ''}")


CHOICES = {"a": "accept", "e": "edit", "r": "reject"}


@click.command(context_settings={"show_default": True})
@click.argument("method", metavar="METHOD|RUN")
@click.argument("data", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("-c", "--criteria", metavar="SET", help="A criteria set: a built-in name or a YAML or JSON file.")
@click.option("-j", "--judge", help="embedded, openai:MODEL, or PROVIDER:MODEL.  [default: embedded]")
@click.option("--base-url", metavar="URL", help="Of any OpenAI-compatible server; then --judge openai:MODEL.")
@click.option("--critic", metavar="NAME", help=CRITIC_HELP)
@click.option("-s", "--setting", "settings", multiple=True, metavar="KEY=VALUE", help=SETTING_HELP)
@click.option("-f", "--field", "fields", multiple=True, metavar="FIELD=COLUMN", help="Read FIELD from COLUMN.")
@click.option(
    "-n",
    "--limit",
    metavar="N",
    type=click.IntRange(1),
    help="At most so many samples (1 unless given), or topics (all).",
)
@click.option(
    "--ledger", type=click.Path(dir_okay=False), help="A file of model calls: what it holds is not paid again."
)
@click.option("--save", type=click.Path(dir_okay=False), help="Write the criteria, as decided, to this YAML file.")
def review(method: str, data: str | None, **given: Any) -> None:
    """Decide on the criteria that critics suggest: topic by topic of a RUN, or sample by sample of DATA.

    With a RUN, the folder of a finished run, nothing is judged: you accept, edit or reject each topic of what its
    critics suggest (see `judgegraph suggestions`). --save writes a new version of the run's criteria, with a digest of
    what it holds and what it was made of, and it is told how many calls a rerun by it would pay; --judge, --setting
    and --critic are then those of the run.

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
    if data is None:
        _review_run(method, judge, given, save)
        return
    graph = graph_of(
        method, criteria=given["criteria"], judge=judge, settings=given["settings"], critic=given["critic"]
    )  # fmt: skip
    decisions = _begun(method, graph, given["criteria"])
    try:
        asyncio.run(_reviewed(graph, load(data, fields=named, limit=given["limit"] or 1), given["ledger"], decisions))
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


# The topics of a finished run.


def _review_run(path: str, judge: Any, given: Mapping[str, Any], save: Path | None) -> None:
    from judgegraph.runs.run import Run
    from judgegraph.views.blocks import counted

    if not Path(path).is_dir():
        raise click.UsageError(f"{one_line(path, 120)} is no folder of a run; METHOD takes DATA, a file of samples")
    run = Run.load(path)
    before, found = run.criteria, run.suggestions()
    if before is None:
        raise ConfigError(f"{path}: the run tells of no criteria, so none can be added to them")
    if given["criteria"]:
        before = _given_set(given["criteria"], before)
    decisions = Decisions(before)
    click.echo(f"{counted(len(found.topics), 'topic')}, from {found.advised:,} of {counted(found.samples, 'sample')}")
    try:
        for number, topic in enumerate(found.topics[: given["limit"]], 1):
            click.echo(f"\n  {counted(topic.samples, 'sample')}, {counted(topic.count, 'suggestion')}")
            _decide(number, topic.as_suggestion().model_dump(), decisions)
    except (KeyboardInterrupt, click.Abort) as stop:
        click.echo()  # behind the prompt
        stop.add_note(_left(decisions, save, run.signature))
        raise
    if decisions.now == before.criteria:
        click.echo("nothing was accepted: the criteria are as they were")
        return
    if save is not None:
        click.echo(decisions.saved(save, run.signature))
    _tell_rerun(run, decisions, judge, given, save)


def _given_set(which: str, before: CriteriaSet) -> CriteriaSet:
    """The set that the run was judged by, with its name and version.

    Raises:
        ConfigError: the run was judged by another one.
    """
    from judgegraph.prompts.criteria import criteria_set

    own = criteria_set(which)
    if own.digest != before.digest:
        raise ConfigError(f"{one_line(which, 120)} is {own.digest}, and the run was judged by {before.digest}")
    return own


def _decide(number: int, suggestion: Mapping[str, Any], decisions: Decisions) -> None:
    """Asks about one topic until the answer fits."""
    from judgegraph.agents.person import decided
    from judgegraph.types import Suggestion

    while True:
        try:
            found, _ = decided(decisions.now, [Suggestion.model_validate(suggestion)], [_answer(number, suggestion)])
        except (DataError, CriteriaError) as error:
            click.echo(printable(f"  {error}"))
            continue
        decisions.now, decisions.made = tuple(found), True
        return


def _tell_rerun(run: Any, decisions: Decisions, judge: Any, given: Mapping[str, Any], save: Path | None) -> None:
    """How many calls the same method would pay by the new criteria, with what the run's ledger holds; and how to."""
    from judgegraph.planning.forecast import plan
    from judgegraph.runs.identity import signature

    method = str(run.manifest.get("method") or "")

    def made(criteria: CriteriaSet) -> Any:
        return graph_of(method, criteria=criteria, judge=judge, settings=given["settings"], critic=given["critic"])

    try:
        same = signature(made(decisions.before)) == run.signature
        if same:
            forecast = plan(
                made(decisions.next(run.signature)), (item.sample for item in run.items), ledger=_ledger(run, given)
            )
    except JudgegraphError as error:
        click.echo(printable(f"what a rerun would pay is not known: {one_line(error, 300)}"))
        return
    if not same:
        click.echo("what a rerun would pay is not known: by --judge, --setting and --critic say what the run was by")
        return
    for line in _rerun_lines(forecast):
        click.echo(printable(line))
    if save is not None:
        click.echo(printable(f"  {_command(method, given, save, _ledger(run, given))}"))


def _ledger(run: Any, given: Mapping[str, Any]) -> Any:
    """The file named by --ledger, else the run's own."""
    if given["ledger"] or run.folder is None:
        return given["ledger"]
    return run.folder.path / str(run.manifest.get("ledger") or "ledger.sqlite")


def _rerun_lines(forecast: Any) -> Iterator[str]:
    total = forecast.total
    low, high, worst = (total.missing + more for more in total.rest)
    pay = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    yield (
        f"a rerun by these criteria pays for {pay} calls where every reply can be read (at worst {worst:,}, as others "
        f"are asked for again); {total.kept:,} are in the ledger"
    )
    whole = [one_line(node.node, 60) for node in forecast.nodes if not node.kept and node.missing + node.rest[1]]
    if whole:
        yield f"  every call of {', '.join(whole)} is new: prompts there hold all criteria, and change with any of them"


def _command(method: str, given: Mapping[str, Any], save: Path, ledger: Any) -> str:
    """The rerun: as the run was made, by the new criteria, with what is in the ledger."""
    options = {"-j": given["judge"], "--base-url": given["base_url"], "--critic": given["critic"]}
    words = [word for option, value in options.items() if value for word in (option, value)]
    words += [word for setting in given["settings"] for word in ("-s", setting)]
    kept = ["--ledger", str(ledger)] if ledger else []
    return shlex.join(["judgegraph", "run", method, "DATA", *words, "-c", str(save), *kept, "-o", "FOLDER"])


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


def _left(decisions: Decisions, save: Path | None, run: str = "") -> str:
    """What is left of a review that was stopped."""
    if not decisions.made:
        return "nothing was decided"
    return decisions.saved(save, run) if save else "what was decided is lost; --save FILE keeps it"


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
    return {s.criterion: f"{s.value:.2f}" if s.value is not None else s.label or status_text(s.status) for s in finals}


def _print(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    width = max(map(len, after), default=0)
    for name, value in after.items():
        was = before.get(name)
        moved = "  (new)" if was is None else f"  (was {was})" if was != value else ""
        click.echo(printable(f"  {one_line(name, 80):<{min(width, 80)}}  {value}{moved}"))
