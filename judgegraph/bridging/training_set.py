"""One training set in chat format, of what was bridged and of what was made by branching: four tasks, split by query.

Every row is asked as Fennec's agents ask, with their own templates, and its completion is the JSON that their forms
read: what is trained is what `judgegraph run fennec` then asks for. A pair stands there in both orders.

Rows are conversational prompt-completion rows, preferences conversational preference rows, in TRL's words: columns
`prompt` and `completion`, or `prompt`, `chosen` and `rejected`, each a list of {"role", "content"}.

Source: Fennec, sections 3.1 (the four tasks), 3.2 (bridged judgements join them) and 4.1 (exchanged orders).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

from judgegraph.agents.corrector import FORMS as CORRECTION
from judgegraph.agents.corrector import Corrector
from judgegraph.agents.criteria import FORMS as GUIDELINE
from judgegraph.agents.criteria import CriteriaWriter, GuidelineWriter, criteria_form
from judgegraph.agents.judge import Case, Judge, rating_form
from judgegraph.agents.pairwise import Comparer, Order, pairwise_form
from judgegraph.agents.reverse import carried_over
from judgegraph.bridging.consistency import (
    Asked,
    Bridged,
    Reject,
    Sifted,
    counted_kinds,
    is_positional,
    unfit_score,
    unread,
)
from judgegraph.bridging.records import chat_mark
from judgegraph.errors import ConfigError, one_line
from judgegraph.graphs.fennec import TASK
from judgegraph.prompts import Rendered
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.types import Comparison, Correction, Criterion, Sample, Score, text_of, words

Task: TypeAlias = Literal["criteria", "guideline", "judge", "correction"]
Split: TypeAlias = Literal["train", "validation", "test"]
Message: TypeAlias = dict[str, str]
TASKS: tuple[Task, ...] = ("criteria", "guideline", "judge", "correction")
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
ORDERS: tuple[Order, ...] = ("AB", "BA")


@dataclass(frozen=True)
class Row:
    """One question and its answer.

    Attributes:
        task: of the four. kind: of a judgement "pair" or "single", else "". order: of a pair "AB" or "BA", else "".
        prompt: system and user message. completion: the reply. id: of the sample. origin: name of its source.
        query, source: by which splits are made.
    """

    task: Task
    prompt: tuple[tuple[str, str], ...]
    completion: str
    id: str
    origin: str
    kind: str = ""
    order: str = ""
    query: str = ""
    source: str = ""

    def to_dict(self) -> dict[str, Any]:
        """A conversational prompt-completion row, with columns that say what it is."""
        about = {"task": self.task, "kind": self.kind, "order": self.order, "id": self.id, "origin": self.origin}
        return {"prompt": messages(self.prompt), "completion": [_reply(self.completion)], **about}


@dataclass(frozen=True)
class Preference:
    """One question with a better and a worse answer; attributes as of `Row`. why: what makes the one better."""

    task: Task
    prompt: tuple[tuple[str, str], ...]
    chosen: str
    rejected: str
    id: str
    origin: str
    why: str
    query: str = ""
    source: str = ""

    def to_dict(self) -> dict[str, Any]:
        """A conversational preference row, with columns that say what it is."""
        about = {"task": self.task, "why": self.why, "id": self.id, "origin": self.origin}
        sides = {"chosen": [_reply(self.chosen)], "rejected": [_reply(self.rejected)]}
        return {"prompt": messages(self.prompt), **sides, **about}


def messages(prompt: Iterable[tuple[str, str]]) -> list[Message]:
    """As a list of {"role", "content"}."""
    return [{"role": role, "content": text} for role, text in prompt]


def _reply(text: str) -> Message:
    return {"role": "assistant", "content": text}


@dataclass(frozen=True)
class Source:
    """Where rows come from.

    Attributes:
        name: of the file or the folder. way: how they were made. origin: where it comes from and its licence, "" where
            that is not known. judge: who wrote what was written for it. records: judgements or samples that were read.
        rejects: what makes no row. notes: what to know.
    """

    name: str
    way: Literal["bridging", "branching"]
    origin: str = ""
    judge: str = ""
    records: int = 0
    rejects: tuple[Reject, ...] = ()
    notes: tuple[str, ...] = ()


# The completions: what Fennec's forms read.


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _number(value: float | None) -> float | int | None:
    return int(value) if value is not None and value == int(value) else value


def pair_completion(output: Score, rival: Score, comparison: str, criterion: Criterion) -> str:
    """The reply of a pairwise judge, as `pairwise_form` reads it."""
    said = {
        "explanation_a": output.reason, "score_a": _number(output.value),
        "explanation_b": rival.reason, "score_b": _number(rival.value), "comparison": comparison,
    }  # fmt: skip
    pairwise_form(criterion.scale).read(said)
    return _json(said)


def single_completion(score: float, reason: str, criterion: Criterion) -> str:
    """The reply of a judge of one response, as `rating_form` reads it."""
    said = {"reason": reason, "score": _number(score)}
    rating_form(criterion).read(said)
    return _json(said)


def criteria_completion(criteria: Sequence[Criterion]) -> str:
    """The reply of a writer of criteria."""
    said = {"criteria": [{"name": one.name, "definition": one.definition} for one in criteria]}
    criteria_form(len(criteria)).read(said)
    return _json(said)


def guideline_completion(text: str) -> str:
    """The reply of a writer of guidelines."""
    GUIDELINE["form"].read(said := {"guideline": text})
    return _json(said)


def correction_completion(text: str) -> str:
    """The reply of a corrector."""
    CORRECTION["form"].read(said := {"response": text})
    return _json(said)


@dataclass(frozen=True)
class _Maker:
    """Makes rows of one source, asked as Fennec asks."""

    origin: str
    task: str = TASK

    def row(self, task: Task, asked: Rendered, completion: str, sample: Sample, **more: str) -> Row:
        about = {"id": sample.id, "origin": self.origin, "query": sample.query, "source": text_of(sample.source)}
        return Row(task, asked.messages, completion, **about, **more)

    def pair(self, sample: Sample, criterion: Criterion, order: Order, completion: str) -> Row:
        asked = Comparer(task=self.task, labels="response").rendered(_case(sample, criterion), order)
        return self.row("judge", asked, completion, sample, kind="pair", order=order)

    def single(self, sample: Sample, criterion: Criterion, completion: str) -> Row:
        asked = Judge(task=self.task).rendered(_case(sample, criterion))
        return self.row("judge", asked, completion, sample, kind="single")


def _case(sample: Sample, criterion: Criterion) -> Case:
    return {"sample": sample, "criterion": criterion}


# Of what was bridged: judgements alone, as its criterion was written with the responses in view.


def rows_of_bridged(found: Bridged, origin: str) -> Iterator[Row]:
    """Of a pair two rows, one per order; of a single response one.

    A pair's scores and explanations are of the judgement made anew, which says what the foreign one says. The foreign
    reason is the comparison, where there is one and it calls no response by its place, as places are exchanged. A
    single response's score and reason are the foreign ones, on the criterion's scale; without a reason that of the
    judgement made anew.
    """
    maker, judgement = _Maker(origin), found.judgement
    if judgement.of_pair:
        for order in ORDERS:
            yield maker.pair(found.sample, found.criterion, order, _of_order(found, order))
        return
    anew = found.scores["", "output"]
    assert judgement.score is not None
    assert judgement.scale is not None
    score = carried_over(judgement.score, judgement.scale, found.criterion.scale)
    score = float(round(score)) if found.criterion.scale.whole else score
    completion = single_completion(score, judgement.reason.strip() or anew.reason, found.criterion)
    yield maker.single(found.sample, found.criterion, completion)


def _of_order(found: Bridged, order: Order) -> str:
    reason = found.judgement.reason.strip()
    return _anew(found, order, "" if is_positional(reason) else reason)


def _anew(found: Bridged, order: Order, comparison: str = "") -> str:
    """The reply made anew in one order, with a comparison in the place of its own."""
    sides = found.scores[order, "output"], found.scores[order, "rival"]
    return pair_completion(*sides, comparison or found.comparisons[order].reason, found.criterion)


def preference_of(found: Bridged, origin: str) -> Preference:
    """Of a pair whose verdict held in one order alone: in the other order the right reply against the wrong one.

    Labels stay with their responses in either order, so that the reply to one order answers the other as well. The
    wrong reply is what the judge said, word for word.
    """
    right = next(order for order in ORDERS if found.comparisons[order].verdict == found.judgement.verdict)
    wrong: Order = "BA" if right == "AB" else "AB"
    row = _Maker(origin).pair(found.sample, found.criterion, wrong, _of_order(found, right))
    why = f"{found.judgement.verdict} is the foreign verdict; the judge said so in order {right} alone"
    about = {"id": row.id, "origin": origin, "query": row.query, "source": row.source}
    return Preference("judge", row.prompt, row.completion, _anew(found, wrong), why=why, **about)


# Of a run of Fennec: criteria, guidelines, judgements, corrections.


@dataclass
class Branching:
    """What the items of a Fennec run make.

    Attributes:
        by_position: whether A was what is printed first, so that replies to order BA speak of exchanged labels.
        without_reference: whether the judge was shown none.
        rows, preferences, rejects: as they come. once: judgements of pairs that were asked for in one order alone.
        relabelled: orders that took the other one's reply, as their own speaks of exchanged labels.
    """

    maker: _Maker
    given: bool
    by_position: bool = False
    without_reference: bool = False
    rows: list[Row] = field(default_factory=list)
    preferences: list[Preference] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    once: int = 0
    relabelled: int = 0
    unchanged: int = 0

    def add(self, item: Item) -> None:
        """The rows of one sample; judgements that cannot be read, or change with the order, are rejected."""
        sample, where = item.sample, f"{self.maker.origin}, sample {one_line(item.id, 60)}"
        sample = sample.model_copy(update={"reference": None}) if self.without_reference else sample
        said = (sample.query, *map(text_of, (sample.source, sample.reference or "", sample.output, sample.rival or "")))
        if mark := next(filter(None, map(chat_mark, said)), ""):
            self.rejects.append(Reject(where, item.id, "chat-mark", repr(mark)))
        elif item.status != "ok":
            self.rejects.append(Reject(where, item.id, "failed", f"{item.status}: {one_line(item.reason, 160)}"))
        elif not sample.query.strip():
            self.rejects.append(Reject(where, item.id, "unreadable", "the query is empty"))
        else:
            criteria = self._criteria(item, sample)
            for criterion in criteria:
                self._judgements(item, sample, criterion, where)
            for correction in item.corrections:
                self._correction(correction, sample, criteria, where)

    def _criteria(self, item: Item, sample: Sample) -> list[Criterion]:
        guidelines = item.other.get("guidelines") or {}
        criteria = list(item.branches.values())
        plain = [one.model_copy(update={"guideline": None}) for one in criteria]
        if criteria and not self.given:
            writer = CriteriaWriter(count=len(criteria), task=self.maker.task)
            self._append("criteria", writer.rendered(sample), criteria_completion(criteria), sample)
        for one, bare in zip(criteria, plain, strict=True):
            if (text := guidelines.get(one.name)) and not one.guideline:
                asked = GuidelineWriter(task=self.maker.task).rendered(sample, bare)
                self._append("guideline", asked, guideline_completion(text), sample)
        return [one.model_copy(update={"guideline": guidelines.get(one.name) or one.guideline}) for one in criteria]

    def _append(self, task: Task, asked: Rendered, completion: str, sample: Sample) -> None:
        self.rows.append(self.maker.row(task, asked, completion, sample))

    def _judgements(self, item: Item, sample: Sample, criterion: Criterion, where: str) -> None:
        scores = {(score.repeat, score.of): score for score in item.scores if score.criterion == criterion.name}
        said = {
            c.order: c for c in item.comparisons if c.criterion == criterion.name and c.agent.endswith("comparer")
        }  # fmt: skip
        where = f"{where}, {one_line(criterion.name, 40)}"
        if not said:
            for (_, of), score in scores.items():
                self._single(sample, of, criterion, score, where)
            return
        verdicts = {comparison.verdict for comparison in said.values()}
        sides = [scores.get((int(order == "BA"), of)) for order in said for of in ("output", "rival")]
        lacking = unread(c for c in said.values() if c.verdict is None) or unfit_score(sides)
        if lacking:
            self.rejects.append(Reject(where, item.id, "not-judged", lacking))
        elif self.by_position and "AB" not in said:
            told = "asked in order BA alone, with labels by position: the reply speaks of A and B exchanged"
            self.rejects.append(Reject(where, item.id, "not-judged", told))
        elif len(verdicts) > 1:
            told = ", ".join(f"{order} says {comparison.verdict}" for order, comparison in said.items())
            self.rejects.append(Reject(where, item.id, "order", told))
        else:
            self.once += len(said) == 1
            self._both_orders(sample, criterion, said, scores)

    def _both_orders(
        self, sample: Sample, criterion: Criterion, said: Mapping[Asked, Comparison], scores: Mapping[Any, Score]
    ) -> None:  # fmt: skip
        """Each order with its own reply; one that was not asked for takes the other's, as labels stay."""
        for order in ORDERS:
            own: Asked = order if order in said else next(iter(said))
            if own == "BA" and self.by_position:
                own, self.relabelled = "AB", self.relabelled + 1
            repeat = int(own == "BA")
            completion = pair_completion(
                scores[repeat, "output"], scores[repeat, "rival"], said[own].reason, criterion
            )  # fmt: skip
            self.rows.append(self.maker.pair(sample, criterion, order, completion))

    def _single(self, sample: Sample, of: str, criterion: Criterion, score: Score, where: str) -> None:
        if score.value is None or (told := unfit_score([score])):
            why = unread([score]) if score.value is None else told
            self.rejects.append(Reject(where, sample.id, "not-judged", why))
            return
        judged = sample if of == "output" else sample.model_copy(update={"output": sample.rival})
        completion = single_completion(score.value, score.reason, criterion)
        self.rows.append(self.maker.single(judged.model_copy(update={"rival": None}), criterion, completion))

    def _correction(self, made: Correction, sample: Sample, criteria: Sequence[Criterion], where: str) -> None:
        if not made.changed:
            self.unchanged += made.outcome == "unchanged"
            return
        if mark := chat_mark(made.text):
            self.rejects.append(Reject(f"{where}, correction", sample.id, "chat-mark", repr(mark)))
            return
        known = {one.name: one.model_copy(update={"guideline": None}) for one in criteria}
        asked = Corrector(task=self.maker.task).rendered(sample, made.original, made.by, known)
        row = self.maker.row("correction", asked, correction_completion(made.text), sample)
        self.rows.append(row)
        about = {"id": row.id, "origin": row.origin, "query": row.query, "source": row.source}
        why = "the correction against what it corrects; nobody has judged whether it is better"
        worse = correction_completion(made.original)
        self.preferences.append(Preference("correction", row.prompt, row.completion, worse, why=why, **about))


def judges_of(run: Run) -> str:
    """Who answers in a run, as its manifest names them; also where every reply was kept from before."""
    nodes = (run.manifest.get("nodes") or {}).values()
    named = (str(about["judge"]).partition("@")[0] for about in nodes if about.get("judge"))
    return ", ".join(dict.fromkeys(named))


def refuse_other_method(run: Run, name: str) -> None:
    """
    Raises:
        ConfigError: it is no run of Fennec.
    """
    if (method := run.manifest.get("method")) != "fennec":
        got = one_line(str(method), 40)
        raise ConfigError(f"{name}: a run of {got}; data is made by branching in runs of fennec")


def of_branching(run: Run, name: str, origin: str = "") -> tuple[Source, list[Row], list[Preference]]:
    """The rows of a run of Fennec.

    Args:
        origin: where its data comes from, and the licence.

    Raises:
        ConfigError: the run is of another method. DataError: it cannot be read.
    """
    refuse_other_method(run, name)
    configured = run.manifest.get("configuration") or {}
    task = configured.get("nodes.branch.options.task")
    compare = (run.manifest.get("nodes") or {}).get("weigh/compare") or {}
    by_position = (compare.get("options") or {}).get("labels", "position") == "position"
    maker = _Maker(name, task if isinstance(task, str) else TASK)
    left_out = "|reference:left-out" in run.signature
    found = Branching(maker, bool(run.manifest.get("criteria")), by_position, left_out)
    records = 0
    for records, item in enumerate(run.items, 1):  # noqa: B007 - their number
        found.add(item)
    notes = [f"judgements of pairs in one order alone: {found.once}; whether they hold is not known"]
    notes = notes if found.once else []
    notes += [f"judgements in order BA with the reply to AB, as their own exchanges A and B: {found.relabelled}"
              ] if found.relabelled else []  # fmt: skip
    notes += [] if configured else ["a run in memory names no task: asked as of an answer to a user's query"]
    notes += ["its criteria given, not written: no row teaches to write them"] if found.given else []
    notes += [f"corrections that gave the original back: {found.unchanged}, left out"] if found.unchanged else []
    source = Source(name, "branching", origin, judges_of(run), records, tuple(found.rejects), tuple(notes))
    return source, found.rows, found.preferences


# The whole: doubles taken out, split by query.


def _key(text: str) -> str:
    """A query as splits tell it apart: case, marks and white space aside."""
    return " ".join(words(text)) or " ".join(text.split())


@dataclass(frozen=True)
class TrainingSet:
    """All rows and preferences, each in its split.

    Attributes:
        sources: with their rejects. rows, preferences: by split. doubled: rows whose question came before.
        queries: of each split how many. groups: of queries that share a source, each of them in one split.
        shares: of validation and test. seed: of the splits.
        marked: rows and preferences that hold a mark of chat templates, found at the very end.
    """

    sources: tuple[Source, ...]
    rows: Mapping[Split, tuple[Row, ...]]
    preferences: Mapping[Split, tuple[Preference, ...]]
    queries: Mapping[Split, int]
    doubled: int = 0
    shares: tuple[float, float] = (0.05, 0.05)
    seed: int = 0
    marked: tuple[Reject, ...] = ()
    groups: int = 0

    @property
    def rejects(self) -> list[Reject]:
        """Of all sources."""
        return [one for source in self.sources for one in source.rejects] + list(self.marked)

    @property
    def size(self) -> int:
        """Rows in all splits."""
        return sum(map(len, self.rows.values()))

    def counts(self) -> dict[str, Any]:
        """Rows by task and split, preferences, queries, rejects by kind and source: as JSON values."""
        tasks = {split: Counter(row.task for row in self.rows[split]) for split in SPLITS}
        return {
            "rows": {split: {task: tasks[split][task] for task in TASKS} for split in SPLITS},
            "preferences": {split: len(self.preferences[split]) for split in SPLITS},
            "queries": dict(self.queries),
            "orders": Counter(row.order for split in SPLITS for row in self.rows[split] if row.order),
            "doubled": self.doubled, "marked": len(self.marked),
            "sources": [
                {
                    "name": one.name, "way": one.way, "origin": one.origin, "judge": one.judge, "records": one.records,
                    "rejected": counted_kinds(one.rejects), "notes": list(one.notes),
                }
                for one in self.sources
            ],
        }  # fmt: skip


def training_set(
    sources: Sequence[Source], rows: Iterable[Row], preferences: Iterable[Preference] = (), *,
    shares: tuple[float, float] = (0.05, 0.05), seed: int = 0,
) -> TrainingSet:  # fmt: skip
    """Rows and preferences in three splits: all that shares a query, or a source text, is in one of them.

    Which one is drawn by a digest of the query, so that a query stays in its split when data is added that brings no
    source text to join it with others. So shares are of queries, and kept about.

    Args:
        shares: of validation and of test, from 0 to less than 1 together.

    Raises:
        ConfigError: they are none.
    """
    if not (all(share >= 0 for share in shares) and sum(shares) < 1):
        raise ConfigError(f"shares of validation and test are 0 or more, and below 1 together; got {shares}")
    first: dict[tuple[str, tuple[tuple[str, str], ...]], Row] = {}
    doubled, marked = 0, list[Reject]()
    for row in rows:
        if mark := _marked(row.prompt, row.completion):
            marked.append(Reject(row.origin, row.id, "chat-mark", f"{row.task}: {mark!r}"))
            continue
        doubled += (row.task, row.prompt) in first
        first.setdefault((row.task, row.prompt), row)
    kept = list(first.values())
    pairs = []
    for one in preferences:
        if mark := _marked(one.prompt, one.chosen, one.rejected):
            marked.append(Reject(one.origin, one.id, "chat-mark", f"preference, {one.task}: {mark!r}"))
        else:
            pairs.append(one)
    both: list[Row | Preference] = [*kept, *pairs]
    split_of, groups = _splits([(one.query, one.source) for one in both], shares, seed)
    where: Callable[[Row | Preference], Split] = lambda one: split_of[_key(one.query)]  # noqa: E731
    queries = Counter(split_of.values())
    return TrainingSet(
        tuple(sources), {split: tuple(r for r in kept if where(r) == split) for split in SPLITS},
        {split: tuple(p for p in pairs if where(p) == split) for split in SPLITS},
        {split: queries[split] for split in SPLITS}, doubled, shares, seed, tuple(marked), groups,
    )  # fmt: skip


def _marked(prompt: Iterable[tuple[str, str]], *replies: str) -> str:
    """What would end a turn in the midst of a text, in the last place where that can be seen."""
    return next(filter(None, map(chat_mark, (*(text for _, text in prompt), *replies))), "")


def _splits(texts: Iterable[tuple[str, str]], shares: tuple[float, float], seed: int) -> tuple[dict[str, Split], int]:
    """Query -> its split; how many groups there are, as queries that share a source are one."""
    parent: dict[tuple[str, str], tuple[str, str]] = {}

    def root(node: tuple[str, str]) -> tuple[str, str]:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    queries: dict[str, None] = {}
    for query, source in texts:
        key = _key(query)
        queries[key] = None
        here = root(("query", key))
        if known := _key(source):
            there = root(("source", known))
            low, high = sorted((here, there))
            parent[high] = low
    found: dict[str, Split] = {}
    for key in queries:
        digest = blake2b(f"{seed}\n{root(('query', key))}".encode(), digest_size=8).digest()
        drawn = int.from_bytes(digest, "big") / 2**64
        found[key] = "validation" if drawn < shares[0] else "test" if drawn < sum(shares) else "train"
    return found, len({root(("query", key)) for key in queries})


def of_bridging(
    name: str, found: Sifted, *, rejects: Sequence[Reject] = (), records: int = 0, origin: str = "", judge: str = ""
) -> tuple[Source, list[Row], list[Preference]]:
    """The rows of one file's judgements that hold, and the preferences of those that hold in one order.

    Args:
        rejects: that were found before anything was asked. records: that were read.
    """
    rows = [row for one in found.consistent for row in rows_of_bridged(one, name)]
    preferences = [preference_of(one, name) for one in found.one_order]
    return Source(name, "bridging", origin, judge, records, (*rejects, *found.rejects)), rows, preferences
