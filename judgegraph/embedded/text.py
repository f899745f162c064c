"""Text as the embedded judge sees it: cleaned, capped, cut into sentences and words."""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files

# The word lists of `words.txt`. They are part of the judge's name: changing one changes the model.


_LISTS = {
    name: tuple(p.strip() for p in re.split(r";\s*" if ";" in body else r"\s+", " ".join(body.split())) if p.strip())
    for name, body in re.findall(
        r"^\[(\w+)\]\n((?:(?![\[#]).*\n?)*)", files(__package__).joinpath("words.txt").read_text("utf-8"), re.M
    )
}


def listed(name: str) -> frozenset[str]:
    """The words of a list.

    Raises:
        KeyError: no such list.
    """
    return frozenset(_LISTS[name])


FUNCTION_WORDS, DANGLING, PRONOUNS = listed("function_words"), listed("dangling"), listed("pronouns")
CONNECTIVES, LOADED = listed("connectives"), listed("loaded")
POSITIVE, NEGATIVE = listed("positive"), listed("negative")
FORMAL, INFORMAL = listed("formal"), listed("informal")
LOADED_PHRASES, LEADING_PHRASES = _LISTS["loaded_phrases"], _LISTS["leading_phrases"]
BLAND, REFUSALS = _LISTS["bland"], _LISTS["refusals"]


SOURCE_WORDS, OUTPUT_WORDS = 3000, 600  # beyond these the text is not read: time stays bounded
_CHARS_PER_WORD = 24

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|[^\W_]")
_CJK = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")
_END = re.compile(r"(?<=[.!?。！？])['\"”’)\]`]*\s+|\n+")
_ABBREVIATION = re.compile(r"(?:\b(?:mr|mrs|ms|dr|st|prof|vs|no|gen|sen|rep|lt|jr|sr|e\.g|i\.e)|\b[a-z])\.$", re.I)
_GRADER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,60}\b(?:instruction|prompt|above|previous|rule)s?\b"
    r"|\b(?:give|assign|award|output|answer|return|grade|graded|rate|rated|score|scored)\b.{0,60}"
    r"(?:\b(?:maximum|highest|best|full|perfect|top)\s+(?:score|grade|mark|rating|point)s?\b"
    r"|\b(?:a|it|with|be|of|then|grade|score|is|this|as)?\s*(?:10|[1-9])(?:\s*(?:/|out of)\s*\d+)?\s*[.!'\"”]*$"
    r"|\b(?:graded?|scored?|rated?)\s+(?:an?\s+)?\d)"
    r"|\b(?:evaluat\w+|grader|judge|reviewer|editor to)\b.{0,80}\b(?:coherence|consistency|fluency|score|verified)\b"
    r"|[\"']?(?:score|rating|verdict|grade)[\"']?\s*[:=]\s*[\"']?\d"
    r"|\bthe candidate has ended\b",
    re.I,
)
_MARK = re.compile(
    r"<\|\w{1,40}\|>|</?(?:output|candidate|instructions?|system|summary|response|assistant)\b[^<>]{0,200}>", re.I
)
_BEFORE_MARK = re.compile(rf"(?<=[.!?。！？])(?={_MARK.pattern})", re.I)
_EDGE = re.compile(rf"\A(?:\s*(?:{_MARK.pattern}))+\s*|\s*(?:(?:{_MARK.pattern})\s*)+\Z", re.I)


def clean(text: str, words: int = OUTPUT_WORDS) -> str:
    """Visible text only: no tag, zero-width, bidi or control characters, no floods of combining marks."""
    text = text[: words * _CHARS_PER_WORD]
    if text.isascii():
        return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", " ", text)
    characters, marks = [], 0
    for char in unicodedata.normalize("NFC", text):
        kind = unicodedata.category(char)
        marks = marks + 1 if kind in ("Mn", "Me") else 0
        if (kind in ("Cf", "Cs", "Co", "Cn") or marks > 1) and char != "\u200d":
            continue
        characters.append(" " if kind == "Cc" and char not in "\n\t" else char)
    return "".join(characters).replace("’", "'").replace("\u200d", "")


def split(text: str) -> list[str]:
    """Sentences, as they stand; lines end sentences, titles like "Mr." do not."""
    parts: list[str] = []
    joined = False
    for part in _END.split(text):
        if part is None or not part.strip():
            continue
        if joined:
            parts[-1] += " " + part.strip()
        else:
            parts.append(part.strip())
        joined = bool(_ABBREVIATION.search(part.strip()[-6:])) and len(part) > 3
    return parts


def words_of(text: str) -> list[str]:
    """Lower-case words; a number is one word, a character of a script without spaces too."""
    if not text.isascii():
        text = _CJK.sub(r" \1 ", text)
    return _WORD.findall(text.lower())


def stem(word: str) -> str:
    """A word without its commonest English endings, so that "votes" meets "voted"."""
    if len(word) > 4 and not word[0].isdigit():
        for ending in ("'s", "ingly", "edly", "ations", "ation", "ments", "ment", "ings", "ing", "ies", "ied",
                       "ers", "ed", "es", "er", "ly", "s", "e", "y"):  # fmt: skip
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                return word[: -len(ending)]
    return word


stemmed = lru_cache(maxsize=65536)(stem)


def content(words: Iterable[str]) -> list[str]:
    """Stems of the words that carry content."""
    return [stemmed(w) for w in words if w not in FUNCTION_WORDS and (len(w) > 1 or w.isdigit())]


@dataclass(frozen=True, eq=False)
class Text:
    """A text cut up once. `raw` are its sentences as written, `sentences` their words.

    `orders` counts what speaks to a grader ("give 5"): it is set aside, never obeyed or scored. A tag or a chat mark
    closes and opens nothing: text before and behind it is text.
    """

    raw: tuple[str, ...]
    sentences: tuple[tuple[str, ...], ...]
    orders: int
    cut: bool

    @cached_property
    def words(self) -> list[str]:
        return [w for s in self.sentences for w in s]

    @cached_property
    def content(self) -> list[str]:
        return content(self.words)

    @cached_property
    def contents(self) -> list[set[str]]:
        """Per sentence, its content stems."""
        return [set(content(s)) for s in self.sentences]

    @cached_property
    def bigrams(self) -> list[tuple[str, str]]:
        return [pair for s in self.sentences for pair in itertools.pairwise(s)]

    @cached_property
    def trigrams(self) -> list[tuple[str, str, str]]:
        return [triple for s in self.sentences for triple in zip(s, s[1:], s[2:], strict=False)]


def _speaks(part: str) -> bool:
    """Whether it speaks to a grader."""
    return bool(_GRADER.search(_MARK.sub(" ", part[:600]).strip()))


def _parts(tidy: str) -> tuple[list[str], int]:
    """What is to be judged, sentence by sentence, and how much was set aside."""
    parts: list[str] = []
    orders = 0
    for sentence in split(_BEFORE_MARK.sub("\n", tidy)):
        if _speaks(sentence):
            orders += 1
            between = [part.strip() for part in _MARK.split(sentence)]
            if any(map(_speaks, between)):  # the order stands between marks: what is not between them is text
                parts += [part for part in between if not _speaks(part)]
        else:
            parts.append(sentence)
    return [_EDGE.sub("", part) for part in parts], orders


def _read(text: str, cap: int) -> Text:
    raw, sentences, count, total = [], [], 0, len(text)
    parts, orders = _parts(clean(text, cap))
    for sentence in parts:
        words = words_of(sentence)[: cap - count]
        if not words:
            continue
        raw.append(sentence)
        sentences.append(tuple(words))
        count += len(words)
        if count >= cap:
            break
    return Text(tuple(raw), tuple(sentences), orders, count >= cap or total > cap * _CHARS_PER_WORD)


@lru_cache(maxsize=256)
def read_output(text: str) -> Text:
    """The judged text, at most `OUTPUT_WORDS` words of it."""
    return _read(text, OUTPUT_WORDS)


@lru_cache(maxsize=64)
def read_source(text: str) -> Text:
    """A source, query or reference, at most `SOURCE_WORDS` words of it."""
    return _read(text, SOURCE_WORDS)


# Slips of form that plain rules can see, and what an output shares with its source.


_BASE = "|".join(sorted(listed("base_verbs")))
_BEHIND = "|".join(sorted(listed("behind_modals")))
_NO_AUX = "".join(
    rf"(?<!\b{word} )"
    for word in (
        *("did", "does", "do", "could", "would", "should", "can", "will", "may", "might", "must"),
        *("let", "make", "made", "makes", "help", "helped", "see", "watch", "hear", "have", "had", "to", "than"),
    )
)
_MODAL = r"\b(?:can|could|should|would|will|may|must|might)(?: not)? "
_SLIPS: tuple[tuple[str, str], ...] = (
    (
        "a verb that does not agree",
        _NO_AUX + rf"\b(?:he|she|it) (?:only )?(?:are|were|have|do|say|like|feel|{_BASE})\b"
        r"|(?<!of )\b(?:they|we|you|these|those) (?:is|was|has|does)\b|\bi (?:is|are|has|does)\b"
        r"|(?<!of )\b(?:i|you|we|they) "
        r"(?:like|goe|want|need|save|think|know|say|make|take|feel|get|give|see|use|start|leave)s\b"
        r"|\b(?:does|has) (?:you|they|we)\b|\b(?:are|do) (?:he|she)\b|\bpeoples? (?:is|was|has)\b"
        r"|\b(?:he|she|it) do ?n'?t\b|\b(?:do|does|did|wo|ca) nt\b"
        r"|\b(?:do|does|did) (?:you|they|we|he|she|it|i) (?!alway|also|thus|perhap|discus|pas|mis)\w+[^s\W]s\b"
        r"|\bwhich (?!people|children|men|women|staff|data|media|police)\w*[^s\W] (?:are|were)\b",
    ),
    (
        "a wrong verb form",
        r"\b(?:did|does|do)(?:n't| not)? (?:you|he|she|they|it|we|i) "
        r"(?:went|found|saw|came|took|gave|thought|knew|was|were|had|made|said|got|told|felt|became)\b"
        r"|\b(?:didn't|doesn't|don't|to) (?:went|came|took|gave|knew|became|thought)\b|\b(?:do|does|did) (?:has|had)\b"
        r"|\b(?:could|should|would|must) (?:of|went|goes|has|is|was|makes|takes|gives)\b"
        rf"|{_MODAL}(?!(?:{_BEHIND})\b)(?:\w+ing|\w+[^s\W]s|to)\b(?<!will to)"
        rf"|(?<!\bdo )(?<!\bdoes )(?<!\bdid )(?<!\bcan )\b(?:is|are|was|were) (?:{_BASE}|went|has|have)\b"
        rf"|\b(?:have|has) (?!use\b|need\b|mean\b|become\b|show\b|hold\b|print\b|measure\b|win\b|find\b)(?:{_BASE})\b"
        r"|\bmore (?:better|worse|easier|bigger|faster|harder)\b"
        r"|\b(?:it|he|she|they|we|you|i) not (?:did|had|have|do|does|is|was|will)\b",
    ),
    (
        "a wrong article",
        r"\ba (?!one|once|eu|and\b|are\b|all\b|any\b|also\b|into\b|only\b|even\b)[aeio][a-z]{2,}\b"
        r"|\ban (?!hour|honest|hono|heir|mba|nhs|fbi)[b-df-hj-np-tv-z][a-z]{2,}\b"
        r"|\bthe (?:the|a|an|of|at|by|for|to|from|is|are|was|were|and|or|but)\b",
    ),
    ("a missing verb", r"^(?:how(?: often| long(?: time)?| much)?|what|why|where) (?:you|they|we|he|she) \w+[^,?]*\?"),
    ("a wrong pronoun", r"\b(?:of|by|with|at|from|into) (?:he|she|they|we)\b|\b(?:without|before|despite) of\b"),
    (
        "a number that does not agree",
        r"\b(?:this|that) (?:questions|people|things|years|days|services|courses|forms|answers|options)\b"
        r"|\b(?:these|those|many|several|few) "
        r"(?:question|thing|year|day|service|course|form|answer|option|person)\b"
        r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|(?!1\b)\d\d?) "
        r"(?:day|week|month|year|hour|minute|line|person|chapter|page|evening)"
        r"(?=[,.;!?]|$| (?:in|of|by|at|and|with|for|from|until|before|after|as|that)\b)"
        r"|\binformations\b|\bfeedbacks\b|\badvices\b",
    ),
    (
        "a misspelling",
        r"\b(?:teh|recieve\w*|definat\w+|seperat\w+|occured|alot|wich|thier|beleive\w*|untill|adress\w*|becuase"
        r"|goverment|enviroment\w*|accomodat\w+|sucess\w*|neccess\w+|expirience\w*|experiance\w*|reccomend\w*"
        r"|recomend\w*|satisfyed|qestion\w*|queston\w*|anwser\w*|servise\w*|tommorow|begining|occassion\w*"
        r"|freind\w*|wierd|truely|arguement|improove\w*|usefull|helpfull|carefull|convinient|availible|avaliable"
        r"|diffrent|intresting|colledge|dissapoint\w*)\b",
    ),
)
_RULES = tuple((name, re.compile(rule, re.I)) for name, rule in _SLIPS)
_ODD = re.compile(r"[#<>\[\]{}|*@~^_\\]")
_AUX = re.compile(
    r"(?:how|what|why|where|when|which|who|whom|do|does|did|is|are|was|were|have|has|can|could|would|will|should)\b",
    re.I,
)
_NO_QUESTION = re.compile(r"(?:please|if|when you|what follows|would you please)\b", re.I)


@dataclass(frozen=True)
class Slips:
    """Counts over a text. `rules` names broken rules; shares lie between 0 and 1, per sentence or per word run."""

    rules: tuple[str, ...]
    doubled: int
    stutter: float
    repeated: float
    fragments: float
    long: float
    odd: float
    dangling: float
    inner: float
    stopped: bool


def doubled(sentence: tuple[str, ...]) -> Iterator[int]:
    """Places where a word, or a pair of words, is said twice in a row ("had had" is English)."""
    for i in range(len(sentence) - 1):
        once = sentence[i] == sentence[i + 1] and sentence[i] not in ("had", "that", "very", "really", "so", "ha")
        pair = i + 3 < len(sentence) and sentence[i : i + 2] == sentence[i + 2 : i + 4]
        if (once and not sentence[i].isdigit()) or pair:
            yield i


def _inner(sentence: tuple[str, ...]) -> float:
    held = [w for w in sentence if w not in FUNCTION_WORDS]
    return 1 - len(set(held)) / len(held) if held else 0.0


def rules_broken(sentences: tuple[str, ...]) -> list[str]:
    """One entry per slip, in the order of the rules; the sentence is quoted by its number."""
    found = []
    for n, sentence in enumerate(sentences, 1):
        line = " ".join(sentence[:1000].split())
        for name, rule in _RULES:
            found += [f"{name} in sentence {n}"] * len(rule.findall(line))
    return found


@lru_cache(maxsize=256)
def slips_of(text: Text) -> Slips:
    """Count the slips of a text with at least one sentence."""
    n = len(text.sentences) or 1
    runs = list(zip(text.words, text.words[1:], text.words[2:], strict=False))
    stutters = [sum(1 for _ in doubled(s)) for s in text.sentences]
    last = text.raw[-1].rstrip().rstrip("'\"`”’)] ") if text.raw else ""
    return Slips(
        rules=tuple(rules_broken(text.raw)),
        doubled=sum(stutters),
        stutter=sum(stutters) / n,
        repeated=1 - len(set(runs)) / len(runs) if runs else 0.0,
        fragments=sum(len(s) < 4 for s in text.sentences) / n,
        long=sum(len(s) > 40 for s in text.sentences) / n,
        odd=min(1.0, sum(len(_ODD.findall(r)) for r in text.raw) / n),
        dangling=sum(s[-1] in DANGLING for s in text.sentences) / n,
        inner=sum(map(_inner, text.sentences)) / n,
        stopped=last.endswith((".", "!", "?", "。", "！", "？")),
    )


def question_slips(line: str) -> list[str]:
    """Slips of one line of a form: no capital at its start, no question mark behind a question."""
    found = []
    bare = line.strip()
    if bare[:1].isalpha() and bare[:1].islower() and len(bare.split()) > 2:
        found.append("a line that starts with a small letter")
    if (
        _AUX.match(bare)
        and not _NO_QUESTION.match(bare)
        and len(bare.split()) > 3
        and "?" not in bare
        and bare[-1:] not in ".:)"
    ):
        found.append("a question without a question mark")
    return found


# What an output shares with its source: pairs of words, runs of words, order, what is salient, names.
#
# Figures for these features stand in `benchmarks/embedded.py`. All of them reward copying; none checks a fact.


_NAME = re.compile(r"(?<=[\w,;] )[A-Z][\w'-]+|\b\d+(?:[.,:]\d+)*\b")


def names_in(sentence: str) -> set[str]:
    """Numbers, and words with a capital that do not open the sentence, lower case."""
    found = {m.lower().removesuffix("'s") for m in _NAME.findall(sentence)}
    return {n for n in found if n not in FUNCTION_WORDS}


def is_known(name: str, known: frozenset[str]) -> bool:
    """All words of a name are known; "3,800" also where a tokenizer wrote "3 , 800"."""
    return all(w in known or all(part in known for part in re.split(r"[.,:]", w)) for w in words_of(name))


@dataclass(frozen=True, eq=False)
class Source:
    """A source cut up once: sets for look-up, sentences for alignment, salience per content stem (sums to 1)."""

    text: Text
    words: frozenset[str]
    stems: frozenset[str]
    bigrams: frozenset[tuple[str, str]]
    trigrams: frozenset[tuple[str, str, str]]
    salience: dict[str, float]
    positions: tuple[tuple[dict[str, int], int], ...]


def _bits(sentence: tuple[str, ...]) -> tuple[dict[str, int], int]:
    """Word -> bits of the places where it stands: for the bit-parallel LCS."""
    places: dict[str, int] = {}
    for i, word in enumerate(sentence):
        places[word] = places.get(word, 0) | (1 << i)
    return places, len(sentence)


@lru_cache(maxsize=64)
def source_of(text: str) -> Source:
    """The source of this text; kept, because many outputs share one."""
    read = read_source(text)
    first: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for i, sentence in enumerate(read.sentences):
        for word in content(sentence):
            counts[word] += 1
            first.setdefault(word, i)
    weight = {w: (1 + math.log(n)) / math.sqrt(1 + first[w]) for w, n in counts.items()}
    total = math.fsum(weight.values()) or 1.0
    return Source(
        text=read,
        words=frozenset(read.words) | {w[:-2] for w in read.words if w.endswith("'s")},
        stems=frozenset(stemmed(w) for w in set(read.words)),
        bigrams=frozenset(read.bigrams),
        trigrams=frozenset(read.trigrams),
        salience={w: v / total for w, v in weight.items()},
        positions=tuple(_bits(s[:120]) for s in read.sentences),
    )


def lcs(sentence: tuple[str, ...], places: dict[str, int], length: int) -> int:
    """Length of the longest common subsequence, a machine word of the table at a time (Hyyro 2004)."""
    full = (1 << length) - 1
    row = full
    for word in sentence:
        match = places.get(word)
        if match:
            hit = row & match
            row = ((row + hit) | (row - hit)) & full
    return length - row.bit_count()


@dataclass(frozen=True)
class Alignment:
    """Per output sentence: index of its best source sentence, and shared subsequence / its length (0-1)."""

    best: tuple[int, ...]
    shares: tuple[float, ...]


def align(output: Text, source: Source) -> Alignment:
    """Each output sentence with the source sentence that shares most with it (earliest on ties)."""
    best, shares = [], []
    for sentence in output.sentences:
        sentence = sentence[:120]
        words = set(sentence)
        top, where = 0, 0
        for i, (places, length) in enumerate(source.positions):
            if min(length, len(sentence)) <= top or sum(1 for w in words if w in places) * 4 <= top:
                continue
            shared = lcs(sentence, places, length)
            if shared > top:
                top, where = shared, i
        best.append(where)
        shares.append(top / len(sentence))
    return Alignment(tuple(best), tuple(shares))


def share(items: list[str] | list[tuple[str, str]] | list[tuple[str, str, str]], known: frozenset[object]) -> float:
    """Share of items that are known, 0 for none."""
    return sum(1 for i in items if i in known) / len(items) if items else 0.0
