"""What the critics of a run suggest, gathered into topics: new criteria, and changed definitions of those there are.

Source: SAGEval (arXiv:2411.16077), section 6.3 and figure 4, which models topics of the suggested criteria and tells
how often each comes. How it finds topics is not said; here it is average-linkage clustering of cosine distances.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from judgegraph.errors import ConfigError, ExtraError, one_line
from judgegraph.prompts.criteria import CriteriaSet, same_key
from judgegraph.runs.item import Item
from judgegraph.types import Criterion, Suggestion

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from judgegraph.traces.redact import Names

    Floats = NDArray[np.float64]

MOST = 1_000  # different names, and definitions of one criterion, that are kept apart; later new ones are only counted
CHARS = 1_000  # characters of a text that are kept
By = Literal["auto", "embeddings", "letters"]
LETTERS, EMBEDDINGS = "character n-grams", "all-MiniLM-L6-v2"
# Two suggestions belong to one topic from these mean cosines on. Chosen on 24 wordings of eight criteria that critics
# often ask for (tests/runtime/test_suggestions.py); other embeddings need others.
ALIKE = {LETTERS: 0.2, EMBEDDINGS: 0.5}
SAME = 0.9  # from this cosine on they are one suggestion in other words
GRAMS = (3, 4, 5)  # characters, within words and their ends
NAME_WEIGHT = 0.5  # of the name's cosine beside the definition's


@dataclass(frozen=True)
class Member:
    """One suggestion of a topic; those that differ in case, punctuation or a few letters are one.

    Attributes:
        name: as it came most often. definition, reason: of the first of this name. count: suggestions.
        samples: that brought it. agents: critics that did. also: other names that were taken for the same.
    """

    name: str
    definition: str
    reason: str
    count: int
    samples: int
    agents: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Topic:
    """Suggestions that ask for the same.

    Attributes:
        label: the name of its most central member. kind: "criterion" (new) or "definition" (changed).
        of: the criterion whose definition is changed, "" of new ones.
        definition, reason, agents: of the most central member.
        count: suggestions. samples: that brought one. members: the most frequent first.
    """

    label: str
    kind: Literal["criterion", "definition"]
    of: str
    definition: str
    reason: str
    agents: tuple[str, ...]
    count: int
    samples: int
    members: tuple[Member, ...]

    def as_suggestion(self) -> Suggestion:
        """The topic as one suggestion, to be accepted, edited or rejected."""
        agent, name = ", ".join(self.agents), self.of or self.label
        return Suggestion(
            kind=self.kind, criterion=name, definition=self.definition, reason=self.reason, agent=agent
        )  # fmt: skip


@dataclass(frozen=True)
class Suggestions:
    """What the critics of a run suggest.

    Attributes:
        topics: new criteria first, then changed definitions; of each the ones of most samples first.
        samples: of the run. advised: that brought a suggestion. count: suggestions. beyond: of these, later ones of yet
            other names, which are in no topic.
        by: how likeness was measured. why: why not by embeddings, "" where it was or nobody asked for it.
        signature: of the run.
    """

    topics: tuple[Topic, ...]
    samples: int
    advised: int
    count: int
    beyond: int = 0
    by: str = LETTERS
    why: str = ""
    signature: str = ""

    def of_kind(self, kind: str) -> tuple[Topic, ...]:
        """The topics of new criteria ("criterion"), or of changed definitions ("definition")."""
        return tuple(topic for topic in self.topics if topic.kind == kind)

    def adopted(self, criteria: CriteriaSet, answers: Mapping[str, Any], name: str = "") -> CriteriaSet:
        """A new version of a set, with the topics that were accepted or edited.

        Args:
            criteria: what the run was judged by, such as `run.criteria`.
            answers: label of a topic -> "accept", "reject", or {"definition", "scale"} to edit it, of a new criterion
                also {"name"}. Topics that are not named are rejected. name: of the new set; "" for that of `criteria`.

        Raises:
            ConfigError: a label is of no topic. DataError, CriteriaError: an answer does not fit; see `agents.person`.
        """
        from judgegraph.agents.person import decided  # it brings LangGraph, which reading a run does without

        unknown = [label for label in answers if all(label != topic.label for topic in self.topics)]
        if unknown:
            raise ConfigError(f"no topic '{one_line(unknown[0], 60)}'; there are: {_labels(self.topics)}")
        chosen = [(topic, answers.get(topic.label, "reject")) for topic in self.topics]
        made, _ = decided(criteria.criteria, [topic.as_suggestion() for topic, _ in chosen], [one for _, one in chosen])
        return next_version(criteria, made, name, self.signature)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


def _labels(topics: Sequence[Topic]) -> str:
    return ", ".join(one_line(topic.label, 60) for topic in topics[:20]) or "none"


def next_version(before: CriteriaSet, criteria: Sequence[Criterion], name: str = "", run: str = "") -> CriteriaSet:
    """The set that follows another, which its source names with its digest; where nothing changed, the same set.

    What is new or changed is `since` this version, so that calls for what stayed are those of the set before.
    """
    if tuple(criteria) == before.criteria:
        return before
    old, version = {one.name: one for one in before.criteria}, before.version + 1
    criteria = [one if one == old.get(one.name) else one.model_copy(update={"since": version}) for one in criteria]
    new = sum(one.name not in old for one in criteria)
    changed = sum(one.name in old and one != old[one.name] for one in criteria)
    source = f"{before.name} version {before.version} ({before.digest}), {new} new and {changed} changed"
    return CriteriaSet(
        name=name or before.name, task=before.task, criteria=tuple(criteria), version=version,
        source=source + (f", from suggestions of the run {one_line(run, 300)}" if run else ""),
    )  # fmt: skip


# One pass over the items, in memory that grows by four bytes a suggestion.


class _Counted:
    """One name, or one definition of a criterion, as it is met."""

    def __init__(self, first: Suggestion) -> None:
        self.names: Counter[str] = Counter()
        self.definition, self.reason = first.definition[:CHARS], first.reason[:CHARS]
        self.places, self.agents = array("L"), dict[str, None]()
        self.also: dict[str, None] = {}

    def add(self, one: Suggestion, place: int) -> None:
        self.names[" ".join(one.criterion[:CHARS].split())] += 1
        self.places.append(place)
        if one.agent:
            self.agents[one.agent] = None

    def join(self, other: _Counted) -> None:
        self.also |= dict.fromkeys((other.name, *other.also))
        self.names.update(other.names)
        self.places.extend(other.places)
        self.agents |= other.agents

    @property
    def name(self) -> str:
        return self.names.most_common(1)[0][0]

    def member(self) -> Member:
        also = tuple(one for one in self.also if same_key(one) != same_key(self.name))
        return Member(
            self.name, self.definition, self.reason, len(self.places), len(set(self.places)), tuple(self.agents), also
        )  # fmt: skip


class Gathering:
    """Suggestions of items as they come, of at most `most` names and definitions.

    Attributes:
        samples: items. advised: items with any suggestion. count: suggestions. beyond: those there was no room for.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self.samples = self.advised = self.count = self.beyond = 0
        self._held: dict[tuple[str, str, str], _Counted] = {}

    def add(self, item: Item) -> None:
        """Count a sample's."""
        for one in item.suggestions:
            key = _key(one)
            self.count += 1
            if key not in self._held and len(self._held) >= self._most:
                self.beyond += 1
                continue
            self._held.setdefault(key, _Counted(one)).add(one, self.samples)
        self.samples += 1
        self.advised += bool(item.suggestions)

    def found(self, by: By = "auto", signature: str = "") -> Suggestions:
        """The topics of what was added; arguments and errors as `suggestions_of`."""
        groups: dict[tuple[str, str], list[_Counted]] = {}
        for (kind, of, _), held in self._held.items():
            groups.setdefault((kind, of), []).append(held)
        several = any(len(group) > 1 for group in groups.values())
        alike, why = _likeness("letters" if by == "auto" and not several else by)
        topics = [topic for (kind, of), held in groups.items() for topic in _topics(kind, of, held, alike)]
        topics.sort(key=lambda one: (one.kind, -one.samples, -one.count, one.of, one.label))
        return Suggestions(
            tuple(topics), self.samples, self.advised, self.count, self.beyond, alike.name, why, signature
        )  # fmt: skip


def suggestions_of(items: Iterable[Item], by: By = "auto", signature: str = "") -> Suggestions:
    """The suggestions of items, by topic.

    Args:
        by: "embeddings" of all-MiniLM-L6-v2, which needs the extra `semantic`; "letters": TF-IDF of character n-grams,
            which sees words that are spelt alike and no synonyms; "auto": embeddings where they can be had.

    Raises:
        ConfigError: `by` is none of these, or the weights are not here. ExtraError: the extra is not installed.
    """
    gathered = Gathering()
    for item in items:
        gathered.add(item)
    return gathered.found(by, signature)


def _key(one: Suggestion) -> tuple[str, str, str]:
    """Kind, what it is a definition of, and what tells it apart."""
    name = same_key(one.criterion[:CHARS]) or one.criterion[:CHARS]
    if one.kind == "criterion":
        return "criterion", "", name
    return "definition", name, " ".join(one.definition[:CHARS].casefold().split())


# How alike two suggestions are, and the topics that come of it.


@dataclass(frozen=True)
class _Likeness:
    name: str

    def of(self, held: Sequence[_Counted]) -> Floats:
        """Cosines of each two, (n, n), by name and definition."""
        names, definitions = [one.name for one in held], [one.definition for one in held]
        if self.name == EMBEDDINGS:
            from judgegraph.tools.semantic import embeddings

            vectors = embeddings([f"{name}: {text}" for name, text in zip(names, definitions, strict=True)])
            found: Floats = vectors @ vectors.T
            return found
        return NAME_WEIGHT * letters_alike(names) + (1 - NAME_WEIGHT) * letters_alike(definitions)


def _likeness(by: By) -> tuple[_Likeness, str]:
    """How it is measured, and why it is not by embeddings where these were wanted if they can be had."""
    if by not in ("auto", "embeddings", "letters"):
        raise ConfigError(f'by: expected "auto", "embeddings" or "letters", got {by!r}')
    if by == "letters":
        return _Likeness(LETTERS), ""
    try:
        from judgegraph.tools.semantic import embeddings

        embeddings(["a"])
    except (ConfigError, ExtraError) as error:
        if by == "embeddings":
            raise
        return _Likeness(LETTERS), str(error)
    return _Likeness(EMBEDDINGS), ""


def letters_alike(texts: Sequence[str]) -> Floats:
    """Cosines of texts by TF-IDF of character n-grams, (n, n), 0 to 1; a text without a letter is like none."""
    import numpy as np
    from scipy.sparse import csr_matrix

    counts = [Counter(_grams(text)) for text in texts]
    terms = {term: at for at, term in enumerate(dict.fromkeys(term for one in counts for term in one))}
    if not terms:
        return np.zeros((len(texts), len(texts)))
    rows = [at for at, one in enumerate(counts) for _ in one]
    columns = [terms[term] for one in counts for term in one]
    values = np.array([1 + np.log(n) for one in counts for n in one.values()])
    held = np.bincount(columns, minlength=len(terms))
    weighted = values * (1 + np.log((1 + len(texts)) / (1 + held)))[columns]
    table = csr_matrix((weighted, (rows, columns)), shape=(len(texts), len(terms)))
    length = np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).ravel())
    length[length == 0] = 1.0
    found: Floats = np.asarray((table @ table.T).todense()) / np.outer(length, length)
    return found


def _grams(text: str) -> Iterable[str]:
    for word in re.findall(r"\w+", text.casefold()):
        for size in GRAMS:
            padded = f" {word} "
            yield from (padded[at : at + size] for at in range(max(1, len(padded) - size + 1)))


def _topics(kind: Any, of: str, held: list[_Counted], likeness: _Likeness) -> Iterable[Topic]:
    held = sorted(held, key=lambda one: (-len(one.places), one.name, one.definition))
    alike = likeness.of(held)
    for same in _clusters(alike, SAME):
        for at in same[1:]:
            held[same[0]].join(held[at])
            held[at].places = array("L")
    left = [at for at, one in enumerate(held) if one.places]
    held, alike = [held[at] for at in left], alike[left][:, left]
    for cluster in _clusters(alike, ALIKE[likeness.name]):
        yield _topic(kind, of, [held[at] for at in cluster], alike[cluster][:, cluster])


def _clusters(alike: Floats, least: float) -> list[list[int]]:
    """Places of what belongs together, in order: average linkage, cut where the mean cosine falls below `least`."""
    import numpy as np
    from scipy.cluster.hierarchy import fcluster, linkage

    if len(alike) < 2:
        return [[at] for at in range(len(alike))]
    apart = np.clip(1 - alike, 0, None)[np.triu_indices(len(alike), 1)]
    found: dict[int, list[int]] = {}
    for at, cluster in enumerate(fcluster(linkage(apart, "average"), 1 - least, criterion="distance")):
        found.setdefault(int(cluster), []).append(at)
    return sorted(found.values())


def _topic(kind: Any, of: str, held: Sequence[_Counted], alike: Floats) -> Topic:
    """Its most central member is the one most like all its suggestions, each counted as often as it came."""
    import numpy as np

    often = np.array([len(one.places) for one in held], dtype=np.float64)
    central = held[int(np.argmax(np.round(alike @ often, 9)))]
    members = tuple(one.member() for one in held)
    places = {place for one in held for place in one.places}
    return Topic(
        label=central.name, kind=kind, of=held[0].name if of else "", definition=central.definition,
        reason=central.reason, agents=tuple(central.agents), count=int(often.sum()), samples=len(places),
        members=members,
    )  # fmt: skip


def redacted_suggestions(found: Suggestions, names: Names) -> Suggestions:
    """Topics of what critics suggest, found in a run's own texts and told without them."""

    def member(one: Member) -> Member:
        return replace(
            one, name=names.of("criterion", one.name), definition=names.text(one.definition),
            reason=names.text(one.reason), agents=tuple(names.of("agent", agent) for agent in one.agents),
            also=tuple(names.of("criterion", name) for name in one.also),
        )  # fmt: skip

    def topic(one: Topic) -> Topic:
        return replace(
            one, label=names.of("criterion", one.label), of=names.of("criterion", one.of),
            definition=names.text(one.definition), reason=names.text(one.reason),
            agents=tuple(names.of("agent", agent) for agent in one.agents), members=tuple(map(member, one.members)),
        )  # fmt: skip

    return replace(found, topics=tuple(map(topic, found.topics)))
