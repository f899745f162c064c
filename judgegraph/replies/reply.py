"""A reply as it came: what in it is thought and what answered, whether it declines to judge, and the JSON in it."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judgegraph.errors import late
from judgegraph.replies.quotation import SPEECH, attributed, blanked, enclosed

# What a reply thinks and what it answers: thoughts are set apart before anything is read.
#
# Models think in channels that chat templates know by marks: `<think>`, `<reasoning>`, `[THINK]`, harmony's
# `<|channel|>analysis`, `<|START_THINKING|>`, `<|begin_of_thought|>`. Servers take most of them out; those that do not
# leave them in the text.
#     An opened channel ends at its closing mark; without one, all behind it is thought.
#     A closing mark that nothing opened ends a thought that the chat template opened: all before it is thought.
#     A mark that stands in quotes or that a text is said to hold (`the output contains </think>`) is a word like
#     others.
# A reply that is JSON as a whole has no thoughts: what looks like a mark stands in one of its texts.


_REASONING_NAMES = (
    r"(?:seed:)?think(?:ing)?|thoughts?|reasoning|reflection|scratchpad|analysis|(?:internal|inner)_monologue"
)
_MARK = late(
    rf"<(?P<close>/)?(?:{_REASONING_NAMES})(?:\s[^<>\n]{{0,80}})?>|(?-i:\[(?P<shut>/)?(?:THINK|think)\])"
    rf"|(?P<tri>◁(?P<endtri>/)?think▷)"
    r"|<\|(?P<edge>START|END)_THINKING\|>|<\|(?P<endbar>/)?think(?:ing)?\|>|<\|(?P<of>begin|end)_of_thought\|>"
    r"|<(?:[ ](?P<spaced>/[ ]?)?|(?P<slashed>/)[ ])think(?:ing)?[ ]?>",
    re.I,
)
_HARMONY = late(
    r"(?:<\|start\|>\s{0,3}\w{0,20}\s{0,3})?<\|channel\|>\s{0,3}(?P<name>\w{1,20})[^<\n]{0,80}<\|message\|>"
)
_ENDS = late(r"<\|(?:end|return|call)\|>|<\|start\|>|<\|(?:START|END)_RESPONSE\|>|<\|(?:begin|end)_of_solution\|>")
_GLUED = late(r"\s{0,9}analysis(?=[A-Z])")  # harmony whose special tokens a server dropped
_GLUED_FINAL = "assistantfinal"
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}
_HINTS = (
    "think",
    "thought",
    "reasoning",
    "reflection",
    "scratchpad",
    "analysis>",
    "analysis ",
    "_monologue",
    "<|channel|>",
    "_thinking|>",
)


TURN_OPENS = late(r"\A(?:\s*<\|[a-z_]{2,24}\|>)+", re.I)
_TURN_ENDS = late(  # tokens that end a turn, and what small models write behind an answer that nothing stopped
    r"(?:<\|?(?:im_end|im_start|eot_id|endoftext|end_of_turn|end_of_text|eot)\|>|<end_of_turn>|</s>(?=\s*(?:<|\n|\Z)))"
    r"|(?P<next>\n[ \t]*(?:#{1,4}[ ]*(?:instruction|input|task|question|user|human|response|source)s?[ ]?:?[ ]*(?=\n)"
    r"|(?:user|human|source|input|article|document|question|dialogue|conversation|instruction)[ ]?:))",
    re.I,
)
_ANSWER_ALONE = late(
    r"\W*(?:[^\W\d]{1,20}[ ]?){0,3}(?:[\W_]{0,6}(?:[0-9]{1,3}(?:[./][0-9]{1,3})?|[a-e]\b|tie|yes|no))?\W*", re.I
)


def own_turn(text: str) -> str:
    """The reply up to where its turn ends; what a model writes for the next user and itself is no part of it."""
    if "<" not in text and "\n" not in text:
        return text
    for match in _TURN_ENDS.finditer(text):
        before = text[: match.start()]
        if any(map(str.isalnum, before)) and (
            not match["next"] or (len(before) < 80 and _ANSWER_ALONE.fullmatch(before))
        ):
            return before
    return text


@dataclass(frozen=True)
class Parts:
    """A reply taken apart.

    Attributes:
        text: as it came. spans: (start, end) of what is no answer, in order, in characters.
    """

    text: str
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def answer(self) -> str:
        """The text with blanks in the place of thoughts: every character stands where it stood."""
        return blanked(self.text, self.spans) if self.spans else self.text

    @property
    def answer_text(self) -> str:
        """The answer alone; the text as it came where nothing was thought."""
        return _without(self.text, self.spans) if self.spans else self.text

    @property
    def reasoning(self) -> str:
        """What was thought, without marks; "" where nothing was."""
        if not self.spans:
            return ""
        thoughts = (_bare(self.text[start:end]) for start, end in self.spans)
        return "\n".join(thought for thought in thoughts if thought)


def parts(text: str) -> Parts:
    """A reply's answer and its thoughts."""
    folded = text.casefold() if "<" in text or "[" in text or "◁" in text else ""
    if not folded or not any(hint in folded for hint in _HINTS):
        return Parts(text, ((0, _glued(text)),) if _GLUED.match(text) else ())
    if _is_json(text):
        return Parts(text)
    return Parts(text, tuple(_harmony(text) if "<|channel|>" in folded else ()) or tuple(_marked(text)))


def _without(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    pieces, end = [], 0
    for start, stop in spans:
        pieces.append(text[end:start].strip())
        end = stop
    return "\n".join(piece for piece in [*pieces, text[end:].strip()] if piece)


def _bare(thought: str) -> str:
    """A thought without its marks."""
    inner = _ENDS.sub("", _HARMONY.sub("", thought)) if "<|" in thought else thought
    inner = _GLUED.sub("", inner, count=1).removesuffix(_GLUED_FINAL)
    return _MARK.sub("", inner).strip()


def _marked(text: str) -> list[tuple[int, int]]:
    """The places of thoughts between marks, and of marks that are left over."""
    words = not ("[think]" in text and "[/think]" in text)  # in lower case they may be plain words
    marks = [
        (mark, _closes(mark)) for mark in _MARK.finditer(text) if not (words and mark[0] in ("[think]", "[/think]"))
    ]
    found: list[tuple[int, int]] = []
    depth, opened, closed = 0, 0, 0  # closed: where the latest closing mark of the open thought ends
    last = max((mark.start() for mark, closes in marks if closes), default=0)
    for mark, closes in marks:
        if depth and (mark.start() == last or not _enclosed(text, mark.span())):
            depth += -1 if closes else 1
            closed = mark.end() if closes else closed
            if not depth:
                found.append((opened, closed))
        elif not depth and not _is_word(text, mark.span(), found[-1][1] if found else 0):
            if not closes:
                depth, opened, closed = 1, mark.start(), 0
            else:  # the first one ends what the template opened; a later one is out of place, and ends nothing
                found.append(mark.span() if found else (0, mark.end()))
    if depth:  # a mark inside that is only spoken of opens nothing
        found.append((opened, closed or len(text)))
    return found + [edge.span() for edge in _ENDS.finditer(text, found[-1][1] if found else 0)]


def _closes(mark: re.Match[str]) -> bool:
    closing = any(mark[name] for name in ("close", "shut", "endtri", "endbar", "spaced", "slashed"))
    return closing or "END" in ((mark["edge"] or "").upper(), (mark["of"] or "").upper())


def _harmony(text: str) -> list[tuple[int, int]]:
    """The places of all that is not said in the final channel, with the marks of that; none where no channel is."""
    found: list[tuple[int, int]] = []
    end, channels = 0, False
    for mark in _HARMONY.finditer(text):
        if mark.start() < end or not (_opens(text, mark) if channels else not _is_word(text, mark.span(), end)):
            continue
        channels = True
        if mark["name"].casefold() == "final":
            found.append((end, mark.end()))
            closing = _ENDS.search(text, mark.end())
            end = closing.start() if closing else len(text)
    return [*found, (end, len(text))] if channels and end < len(text) else found


def _opens(text: str, mark: re.Match[str]) -> bool:
    """It stands where a channel may begin once one has: behind the end of another."""
    return mark[0].startswith("<|start|>") or text[max(0, mark.start() - 20) : mark.start()].rstrip().endswith(
        ("<|end|>", "<|call|>", "|return|>")
    )


def _glued(text: str) -> int:
    """Where the thoughts end of "analysisThe user ... assistantfinalScore: 4"."""
    at = text.rfind(_GLUED_FINAL)
    return at + len(_GLUED_FINAL) if at >= 0 else len(text)


def _enclosed(text: str, span: tuple[int, int]) -> bool:
    """Quotes stand right before and right behind."""
    start, end = span
    quoted = bool(start and end < len(text)) and _QUOTES.get(text[start - 1]) == text[end]
    return quoted and not text.startswith("```", end)


def _is_word(text: str, span: tuple[int, int], since: int) -> bool:
    """A mark that is spoken of: in quotes, or what the judged text is said to hold."""
    return _enclosed(text, span) or _in_quotes(text, span, since) or attributed(text, span[0])


def _in_quotes(text: str, span: tuple[int, int], since: int) -> bool:
    """A quotation that is opened before it on its line, and closed behind it."""
    start = max(since, text.rfind("\n", 0, span[0]) + 1, span[0] - 2000)
    line_end = text.find("\n", span[1])
    before, behind = text[start : span[0]], text[span[1] : line_end if line_end >= 0 else len(text)][:2000]
    if "“" in before and before.rfind("“") > before.rfind("”") and "”" in behind:
        return True
    return any(_count(before, quote) % 2 and quote in behind for quote in '"`')


def _count(text: str, quote: str) -> int:
    return text.count(quote) - text.count("\\" + quote)


def _is_json(text: str) -> bool:
    bare = text.strip()
    if not (bare.startswith(("{", "[")) and bare.endswith(("}", "]"))):
        return False
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True


# That a reply gives no rating: it refuses, declines, abstains, or says that there is nothing to judge by.


_REFUSAL = late(
    r"\bI(?:['’]m|[ ]am)[ ](?:so[ ]|very[ ]|really[ ])?(?:sorry|afraid|unable|not[ ]able)\b"
    r"|\bI[ ](?:can(?:not|['’]t|[ ]not)|won['’]t|will[ ]not|must[ ]decline|apologi[sz]e)\b"
    r"(?![ ](?:justify|follow|pass|fault|overlook|ignore|find|see|verify|confirm|recommend|accept|endorse|approve"
    r"|agree|let"
    r"|call|believe|think|imagine|trace|locate)\b)(?![ ](?:rate|score|give|grade|go|award|put"
    r"|say)\b[^.!?\n]{0,40}\b"  # a bound is no refusal
    r"(?:higher|more|above|lower|less|better|worse|beyond|an?[ ][0-9])\b)"
    r"|\bas[ ]an?[ ](?:AI|artificial|(?:large[ ])?language[ ]model)\b"
    r"|\bunable[ ]to[ ](?:rate|score|judge|provide|assist|help|evaluate|comply)\b",
    re.IGNORECASE,
)
JUDGES = r"(?:judge|evaluate|rate|score|grade|assess)"
GIVEN = r"(?:score|rating|verdict|judge?ment|answer|evaluation|assessment|grade)"
_FOR_THAT = r"(?=[ ]*(?:[.!;\n]|,(?![ ]but\b)|\Z|(?:because|as|since|without|at[ ]all|here)\b))"
_DECLINES = late(  # a judge that will not judge: no number beside these words is its rating
    r"\b(?:I|we)(?:['’]m|[ ]am|[ ]are|[ ]was|[ ]were)?[ ](?:(?:can|could)(?:not|['’]t|n['’]t|[ ]not)|won['’]t"
    r"|will[ ]not|"
    r"(?:(?:must|have[ ]to|politely|respectfully)[ ])?(?:decline|refuse)[ ]to|(?:unable|not[ ]able)[ ]to"
    r"|do[ ]not|don['’]t)[ ]"
    rf"(?:\w{{1,12}}ly[ ])?(?:{JUDGES}"
    r"(?:[ ](?!(?:higher|lower|above|below|more|less|better|beyond|over|part|aspect)\b)[^\W\d_]{1,20}){0,4}"
    rf"{_FOR_THAT}|(?:help|assist|comply|participate|answer|respond|reply|engage|proceed)"
    rf"(?:[ ](?:you|with|in|to|that|this|it|your|the|these|any|such|an?|request|prompt|question"
    rf"|task)\b){{0,5}}{_FOR_THAT}"
    rf"|(?:give|assign|provide|offer|make|produce|return)[ ](?:an?|any)[ ](?:\w{{1,12}}[ ])?{GIVEN}\b(?![ ]of\b))"
    r"|\bI[ ]abstain\b|\bne[ ]peux[ ]pas[ ](?:juger|évaluer|noter)|\bno[ ]puedo[ ](?:evaluar|juzgar|calificar)"
    r"|\bkann[ ](?:ich[ ])?(?:\w{1,12}[ ]){0,2}nicht[ ](?:be|ein)\w|(?:无法|不能|無法)(?:评|判|打分|評)"
    r"|(?P<bare>(?:^|[.!?][ ])\W{0,6}(?:sorry,[ ])?(?:but[ ])?(?:I[ ](?:(?:must|have[ ]to)[ ])?(?:refuse|decline)"
    r"|I[ ]won['’]t"
    r"|sorry,?[ ](?:but[ ])?no)(?=[ ]*(?:[.!\n]|\Z)))",
    re.I | re.M,
)
_NOT_ABLE = r"(?:(?:can|could)(?:not|['’]t|[ ]not|n['’]t)|(?:unable|impossible|failed|not[ ](?:able|possible))[ ]to)"
_AT_START = r"(?:^|[.!?:;][ ])\W{0,6}(?:(?:it|this)(?:[ ]is|[ ]was|['’]s)[ ])?"
_UNJUDGED = late(  # said of the judging, by nobody: "Unable to evaluate.", "The text cannot be scored: 2"
    rf"{_AT_START}(?:{_NOT_ABLE}[ ](?:be[ ])?{JUDGES}e?d?(?:[ ](?:(?:this|the)[ ])?\w{{1,20}}){{0,2}}"
    r"|(?:evaluation|assessment|rating|scoring|judge?ment|keine[ ]bewertung|bewertung[ ]nicht)[ ](?:is[ ]|was[ ])?"
    r"(?:not[ ]possible|impossible|failed|möglich)|nicht[ ]bewertbar"
    r"|(?:impossible[ ]d['’](?:évaluer|attribuer)|no[ ]se[ ]puede[ ](?:evaluar|calificar|juzgar))(?:[ ]\w+){0,2}"
    r"|no[ ](?:score|rating|grade)(?:[ ](?:is|was))?[ ](?:possible|given|available|can[ ]be[ ]given)"
    r"|the[ ](?:score|rating|grade)[ ]cannot[ ]be[ ](?:determined|given|assigned)"
    r"|no[ ](?:text|input|content|output)(?:[ ](?:was|is|has[ ]been))?[ ](?:given|provided|supplied))"
    r"(?=[ ]*(?:[.:!;,\n–—-](?![ ]?but\b)|\Z|(?:because|as|since|without|at[ ]all|here)\b))"
    rf"|\b(?:it|this|(?:the|this)[ ](?:text|output|summary|response|answer|dialogue|conversation|story|article"
    rf"|essay|translation|input|sample))[ ](?:can|could)(?:not|['’]t|[ ]not)[ ]be[ ]{JUDGES}e?d(?:[ ]?[:=]|{_FOR_THAT})"
    rf"|\bneither[ ]can[ ]be[ ]{JUDGES}e?d{_FOR_THAT}"
    rf"|(?:\bnot|n['’]t)[ ](?:have[ ])?enough[ ](?:information|context|evidence|data|input|text|details?)[ ]to"
    rf"[ ]{JUDGES}\b|\b(?:insufficient|lack(?:[ ]the|ing)?|without)[ ]"
    rf"(?:information|context|evidence|data|input|text|details?)[ ]to[ ]{JUDGES}\b|\bnothing[ ]to[ ]{JUDGES}\b",
    re.I | re.M,
)
_UNABLE = late(r"n['’]t\b|not\b|unable|impossible|failed|insufficient", re.I)  # no doubt is told without
_UNDECIDED = late(  # "I cannot choose.", "Unable to decide.", "Not enough information to choose."
    rf"(?:\b(?:I|we)[ ](?:(?:am|was|are|were)[ ])?|['’]m[ ]|{_AT_START}){_NOT_ABLE}[ ](?:\w{{1,12}}ly[ ])?"
    r"(?:(?:choose|decide|determine|compare|tell|pick|say)(?:[ ](?:them|one|between|which|the[ ]better|the[ ]two"
    r"|a[ ]winner|who)(?:[ ]\w+){0,5})?|make[ ](?:an?|any)[ ](?:\w+[ ])?(?:decision|choice|judge?ment))"
    r"(?=[ ]*(?:[.:!;\n]|,(?![ ]?but\b)|\Z|(?:because|as|since|here)\b))"
    r"(?!\W*(?:but|however|still|yet|that[ ]said)\b)"
    r"|\b(?:not|n['’]t|insufficient)[ ](?:have[ ])?(?:enough[ ])?(?:information|context|evidence)[ ]to[ ]"
    r"(?:choose|decide|tell)\b",
    re.I | re.M,
)
_TEXT_MARK = r"[*_\"'`)\]]{0,3}"
_NAMED = (  # "Score", "**Final rating**", "Score for Relevance", then a colon
    r"(?:[a-z]{1,20}[ ]){0,2}(?:score|rating|grade|mark|verdict|answer|result|label|judge?ment)"
    rf"(?:[ ](?:for|of|on)(?:[ ]\w{{1,20}}){{1,4}})?{_TEXT_MARK}[:=]"
)
_NOTHING = r"(?:n/?a|null|not[ ]applicable|no[ ]evidence|(?:I[ ](?:must[ ]|have[ ]to[ ])?)?abstain(?:s|ed|ing)?)"
_ABSTAINS_AT_START = late(
    rf"[\W_]*(?:{_NAMED}[\W_]{{0,9}})?(?:no[ ]evidence\s{{0,3}}:|(?:I[ ](?:must[ ]|have[ ]to[ ])?)?abstain\b"
    rf"|not[ ]applicable[ ](?:to|for|here|in|as|because|since)\b"
    rf"|(?:n/?a|null|not[ ]applicable)(?={_TEXT_MARK}\s{{0,3}}(?:[:;.,(–—-]|\n)))",
    re.IGNORECASE,
)
_ABSTAINS = late(rf"[\W_]*(?:[a-z][\w ]{{0,40}}{_TEXT_MARK}:)?[\W_]{{0,9}}{_NOTHING}[\W_]*", re.IGNORECASE)
_ABSTAINS_AT_END = late(
    rf"(?:^|[.!?][ ]){_TEXT_MARK}{_NAMED}[\W_]{{0,9}}{_NOTHING}[\W_]*\Z"
    r"|(?:^|[.!?][ ])(?:but[ ]|so[ ])?I[ ](?:must[ ]|have[ ]to[ ]|therefore[ ])?abstain\W*\Z",
    re.I | re.M,
)


def refuses(text: str) -> bool:
    """The reply declines, at either end."""
    return bool(_REFUSAL.search(text[:400]) or _REFUSAL.search(text[-200:])) or declines(text)


def declines(text: str) -> bool:
    """The judge says that it will not judge: "I refuse.", "I cannot help with that."; what a text demands may be
    refused without that.
    """
    return any(
        not (
            SPEECH.search(text[: match.start()]) or _IN_THE_TEXT.search(text, 0, match.start())
            if match["bare"] or match[0].endswith("comply")
            else attributed(text, match.start())
        )
        for match in _DECLINES.finditer(text)
    )


_IN_THE_TEXT = late(  # what is refused then is what stands there
    r"\b(?:appears?|stands?|found|hidden|embedded)[ ](?:in|inside|within)[ ](?:the|its|this)\b|\binject", re.I
)


def unjudged(text: str) -> bool:
    """It is said that there is nothing to judge by, or no way to: a number beside these words stands for none."""
    return any(not attributed(text, match.start()) for match in _UNJUDGED.finditer(text))


def undecided(text: str) -> bool:
    """The judge says that it cannot choose: a side that stands beside these words is no verdict."""
    if not _UNABLE.search(text):
        return False
    return any(not attributed(text, match.start()) for match in _UNDECIDED.finditer(text))


def abstains(text: str) -> bool:
    """The reply opens or ends by saying that there is nothing to judge by ("N/A", "No evidence: ...").

    Then no other rule is tried: a "no" or a number that stands beside it is no verdict.
    """
    whole = len(text) < 200 and _ABSTAINS.fullmatch(text)
    return bool(whole or _ABSTAINS_AT_START.match(text[:400]) or _ABSTAINS_AT_END.search(text[-200:]))


# Of what an entry speaks, where it says so: the rating of something else is no answer either.


_NAMING = frozenset({"criterion", "aspect", "metric", "dimension"})


def other_name(pairs: Iterable[tuple[str, Any]], name: str) -> str | None:
    """The name under which an entry rates something else than was asked about; None where it does not say so.

    Args:
        pairs: keys and values of the entry. name: what was asked about, "" where that is not known.
    """
    for key, said in pairs:
        if name and key.lower() in _NAMING and isinstance(said, str) and said.strip() and not same_name(said, name):
            return said
    return None


def same_name(said: str, name: str) -> bool:
    """By words, as models shorten names: "relevancy" is "Relevance to the query", and "Tone" is not."""
    one, other = (re.findall(r"\w+", text.casefold()) for text in (said, name))
    if not one or not other:
        return True
    return set(one) <= set(other) or set(other) <= set(one) or one[0][:5] == other[0][:5]


CRITERIA = frozenset(  # names that are a criterion's wherever they head a number
    """accuracy adequacy clarity coherence coherency completeness conciseness consistency correctness creativity
        engagement engagingness factuality faithfulness fluency grammar grammaticality groundedness harmlessness
        helpfulness honesty informativeness interestingness naturalness originality readability relevance relevancy
        safety tone toxicity truthfulness understandability""".split()
)


def names_another(subject: str, name: str) -> bool:
    """Whether the name before a number is a criterion's, and another than was asked about ("", where not known).

    Only names that mean a criterion in the field count: "Answer: 4" and names of other languages may be the asked one.
    """
    words = subject.split()
    return bool(name and words) and CRITERIA.issuperset(words) and not same_name(subject, name)


# Where a value stands in a JSON text: needed because tokens do not align with JSON.


_SPACE = re.compile(r"[\s,:]*")
_SCALAR = re.compile(r"-?[\d.eE+-]+|[A-Za-z]+")
_OPEN = re.compile(r'\{\s*["}]')  # of an object, not of prose in braces
_DEEPEST = 40
_MOST = 50  # objects looked at: a text of braces alone must not cost quadratic time
JsonPath = tuple[str, ...]
Span = tuple[int, int]


def spans(text: str) -> dict[JsonPath, Span]:
    """Path -> (start, end) in characters of every scalar under the objects in a text.

    The text may have prose or a fence around its objects, and trailing commas. Items of arrays count by their
    index, written as text. A text that is cut off gives what stands before the cut. A path that stands twice,
    in one object or in two, is left out: it has no one place.
    """
    found: list[tuple[JsonPath, Span]] = []
    at, tries = text.find("{"), 0
    while at >= 0 and tries < _MOST:
        tries += 1
        end = _value_at(text, at, (), found) if _OPEN.match(text, at) else at + 1
        at = text.find("{", end)
    counts = Counter(path for path, _ in found)
    return {path: span for path, span in found if counts[path] == 1}


def _value_at(text: str, at: int, path: JsonPath, found: list[tuple[JsonPath, Span]]) -> int:
    """Reads one value at `at`, returns where it ends; len(text) where it is cut off."""
    if at >= len(text) or len(path) > _DEEPEST:
        return len(text)
    if text[at] in "{[":
        return _inside(text, at, path, found)
    quoted = text[at] == '"'
    if quoted:
        end = _string_end(text, at)
    else:
        match = _SCALAR.match(text, at)
        end = match.end() if match else len(text)
    found.append((path, (at + 1, max(at + 1, end - 1)) if quoted else (at, end)))
    return end


def _inside(text: str, at: int, path: JsonPath, found: list[tuple[JsonPath, Span]]) -> int:
    is_object, index = text[at] == "{", 0
    at = _skip(text, at + 1)
    while at < len(text) and text[at] not in "}]":
        key = str(index)
        if is_object:
            if text[at] != '"':
                return len(text)
            end = _string_end(text, at)
            key = _text(text[at:end])
            at = _skip(text, end)
        at = _skip(text, _value_at(text, at, (*path, key), found))
        index += 1
    return at + 1


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _string_end(text: str, at: int) -> int:
    at += 1
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return min(at + 1, len(text))


def _text(quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted.strip('"')


# JSON from a reply that is nearly JSON, where only one reading is possible; what was mended is noted.


FENCE = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*?)```", re.S)
MOST = 200_000  # characters: a longer reply is no answer to any form of ours
TRIES = 50  # braces looked at: a text of braces alone must not cost quadratic time
_OBJECT = re.compile(r'\{\s*["}]')  # how an object begins; "{braces}" in prose do not
_LONE = re.compile(r"\\u[dD][89a-fA-F]")
_REVISED = re.compile(  # what a judge says between an answer and the one that takes it back
    r"\b(?:wait|actually|correct(?:ed|ion|ing)|revis\w{1,4}|instead|on[ ](?:reflection|second[ ]thought)|"
    r"reconsider\w{0,3}|retract|scratch[ ]that|rather|"
    r"my[ ](?:(?:final|own|actual)[ ])?(?:answer|evaluation|verdict|reply|score|rating)|"
    r"final[ ](?:answer|evaluation|verdict|reply))\b",
    re.I,
)
_ANOTHERS = re.compile(r"claim|request|demand|inject|candidate|author|user|quot|cited|initial|draft|example", re.I)
Notes = tuple[str, ...]
Objects = Callable[[str, int, int, Any, Callable[[], str], Mapping[str, Any]], str]
_Asked = tuple[Callable[[], str], Mapping[str, Any], Objects]  # texts that the judge was shown; the form's schema
FENCED, COMMA, PROSE = "code fence removed", "trailing comma removed", "prose around the JSON removed"
RETAKEN, SURPLUS = "an earlier answer taken back", "surplus level removed"
CASE, UNCLOSED = "keys in another case", "missing closing bracket added"
MENDED = (FENCED, COMMA, PROSE, SURPLUS, CASE, UNCLOSED)  # notes on what had to be mended
SHOWN = 40  # characters of a value that was taken back, in a note


DECLINED = "it declines to judge beside its JSON"


class Declined(ValueError):
    """A reply whose words decline to judge."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and not _same(found[key], value):
            raise ValueError(f"key {key[:40]!r} stands twice with different values")
        found[key] = value
    return found


def _same(one: Any, two: Any) -> bool:
    """Equal as JSON: 1 and true are not."""
    return json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:40]} is too large a number")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant, parse_float=_finite)


def parse(
    text: str, keys: frozenset[str] = frozenset(), judged: Callable[[], str] = str,
    schema: Mapping[str, Any] | None = None, *, objects: Objects,
) -> tuple[Any, Notes]:  # fmt: skip
    """The JSON value in a reply, and notes on what was mended.

    Mended where unambiguous: code fences, prose around one object, trailing commas, one surplus level
    around an object that has the form's keys. Of different objects the last one counts where words before it take
    the earlier ones back ("wait", "my final answer").

    Args:
        text: the reply, with blanks in the place of thoughts.
        keys: the form's top-level keys; they tell which of several objects is meant.
        judged: gives the texts that the judge was shown: JSON that stands so in them is no answer.
        schema: of the form: of a low value in it "The answer is incorrect." is the reason, and takes nothing back.
        objects: says why JSON inside a reply is not its answer, as `free_text.objection`.

    Raises:
        ValueError: there is no JSON in it, more than one reading, or its words say that the JSON is not its answer.
    """
    if len(text) > MOST:
        raise ValueError(f"a reply of {len(text)} characters is no answer to a form")
    try:
        bare = text.lstrip().removeprefix("\ufeff").lstrip()
        asked = (judged, schema or {}, objects)
        try:
            value, notes = _decode(bare.rstrip(), keys, asked)
        except ValueError:
            if (closed := _closed(bare, asked[1])) == bare:
                raise
            value, notes = _decode(closed, keys, asked)
            notes = (*notes, UNCLOSED)
        if _LONE.search(text):
            value = _writable(value)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    value, notes = _unwrap(value, keys, notes)
    spelled = _spelled(value, schema or {})
    return spelled, notes if spelled is value else (*notes, CASE)


def _spelled(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value with its keys as the form has them: {"Score": 4} has "score"; the value itself where all are so.

    Raises:
        ValueError: a key stands there in two ways.
    """
    inner = schema.get("properties")
    if not isinstance(value, dict) or not inner:
        return value
    names = {key: key if key in inner else _key_of(key, inner) for key in value}
    for key, name in names.items():
        if key != name and name in value:  # an entry that nobody asked for stays one; a second score does not
            if not isinstance(value[key], dict):
                raise ValueError("a key stands twice, in capital and in small letters")
            names[key] = key
    if len({*names.values()}) < len(names):
        raise ValueError("a key stands twice, in capital and in small letters")
    found = {names[key]: _spelled(one, inner.get(names[key]) or {}) for key, one in value.items()}
    return value if all(found.get(key, found) is one for key, one in value.items()) else found


def _key_of(key: str, names: Mapping[str, Any]) -> str:
    return next((name for name in names if name.casefold() == key.strip().casefold()), key)


_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')


def _closed(text: str, schema: Mapping[str, Any]) -> str:
    """JSON that lacks nothing but closing brackets, with them; the text as it is where more is missing.

    A number at the very end is whole where the form allows none of two digits.
    """
    bare = text.rstrip().removesuffix("```").rstrip()
    body = re.sub(r"\A```[a-zA-Z]*\s*", "", bare)
    outside = _STRINGS.sub("", body)
    if not _OBJECT.match(body) or '"' in outside or body.endswith(","):  # a text is cut off, or more was to come
        return text
    if body[-1].isdigit() and bare == text and max(best_of(schema), default=10) >= 10:
        return text
    opened: list[str] = []
    for bracket in re.findall(r"[{}\[\]]", outside):
        if bracket in "{[":
            opened.append("}" if bracket == "{" else "]")
        elif not opened or opened.pop() != bracket:
            return text
    if not opened:
        return text
    return body + "".join(reversed(opened))


def best_of(schema: Mapping[str, Any]) -> set[float]:
    """The greatest numbers that a form allows, one for each of its answers."""
    inner = [*(schema.get("properties") or {}).values(), *schema.get("anyOf", ())]
    inner += [schema["items"]] if schema.get("items") else []
    own = [one for one in (*schema.get("enum", ()), schema.get("maximum")) if isinstance(one, int | float)]
    return {best for one in inner for best in best_of(one)} | ({float(max(own))} if own else set())


def _decode(text: str, keys: frozenset[str], asked: _Asked) -> tuple[Any, Notes]:
    try:
        return _whole(text), ()
    except ValueError as error:
        reason = error
    fences = list(FENCE.finditer(text)) if "```" in text else []
    if len(fences) == 1 and not _objects(FENCE.sub("", text), keys, fitting_only=True):
        try:
            value, notes = _mended(fences[0][1])
        except ValueError as error:
            reason = error
        else:
            return _own(text, fences[0].span(), value, asked), (FENCED, *notes)
    found = _objects(text, keys)
    if not found:
        raise ValueError(f"the reply is no JSON: {reason}")
    mended = without_trailing_commas(text)
    aside = enclosed(_filled(mended, found)) if len(found) > 1 else []
    found = [
        one
        for one in found
        if not (attributed(mended, one.span[0]) or any(start < one.span[0] < end for start, end in aside))
    ] or found
    last = found[-1]
    different = [one for one in found if not _same(one.value, last.value)]
    if different and not _REVISED.search(mended[different[-1].span[1] : last.span[0]][-500:]):
        raise ValueError(f"the reply holds {len(different) + 1} different JSON objects")
    notes = (_retaken(different, last),) * bool(different)
    return _own(mended, last.span, last.value, asked), (*notes, *last.notes)


def _retaken(different: list[_Object], last: _Object) -> str:
    """A note on answers that were taken back, with what they said otherwise: "(score 5)"; texts are too long for it."""
    stands = set(_leaves(last.value))
    said = dict.fromkeys(pair for one in different for pair in _leaves(one.value) if pair not in stands)
    told = [f"{path} {value}" for path, value in said if len(path) + len(value) <= SHOWN]
    return f"{RETAKEN} ({', '.join(told[:3])})" if told else RETAKEN


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every value in JSON that holds no others, as it is written there, with its path."""
    if not isinstance(value, dict | list):
        yield path, json.dumps(value)
        return
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        name = json.dumps(str(key))[1:-1]
        yield from _leaves(inner, f"{path}.{name}" if path else name)


def _filled(text: str, objects: list[_Object]) -> str:
    """The text with letters in the place of objects, so that nothing in them is taken for a tag."""
    for one in objects:
        start, end = one.span
        text = f"{text[:start]}{'x' * (end - start)}{text[end:]}"
    return text


def _own(text: str, span: tuple[int, int], value: Any, asked: _Asked) -> Any:
    """The value, where the words around it do not say that it is another's or none."""
    if not (text[: span[0]].strip() or text[span[1] :].strip()):
        return value
    judged, schema, objects = asked
    if why := objects(text, *span, value, judged, schema):
        raise (Declined if why == DECLINED else ValueError)(f"the reply is unclear: {why}")
    return value


def _whole(text: str) -> Any:
    value, end = _DECODER.raw_decode(text)
    if text[end:].strip():
        raise ValueError(f"something follows the JSON value at character {end}")
    return value


def _mended(text: str) -> tuple[Any, Notes]:
    text = text.strip()
    try:
        return _whole(text), ()
    except ValueError:
        return _whole(without_trailing_commas(text)), (COMMA,)


@dataclass(frozen=True)
class _Object:
    value: Any
    notes: Notes
    span: tuple[int, int]  # in the text without trailing commas


def _objects(text: str, keys: frozenset[str], *, fitting_only: bool = False) -> list[_Object]:
    """The top-level objects inside prose; those with the form's keys alone, if any has them.

    Raises:
        ValueError: one of them is broken. What stands inside a broken object is not the answer, and what
            stands beside it may not be.
    """
    mended = without_trailing_commas(text)
    commas = (COMMA,) * (mended != text)
    found: list[_Object] = []
    depth, end, tries = 0, 0, 0
    while match := _OBJECT.search(mended, end):
        tries += 1
        depth = _depth(mended[end : match.start()], depth)
        if depth or tries > TRIES:
            raise ValueError("the reply's brackets do not match")
        value, after = _DECODER.raw_decode(mended, match.start())
        prose = (PROSE,) * bool(mended[: match.start()].strip() or mended[after:].strip())
        found.append(_Object(value, (*prose, *commas), (match.start(), after)))
        end = after
    fitting = [one for one in found if keys & set(one.value)]
    return fitting if fitting or fitting_only else found


def _depth(prose: str, depth: int) -> int:
    """Brackets open after this stretch of text; one closed too many opens nothing."""
    for bracket in re.findall(r"[{}\[\]]", prose):
        depth = max(0, depth + (1 if bracket in "{[" else -1))
    return depth


def without_trailing_commas(text: str) -> str:
    """The text without commas that stand right before a closing bracket, outside strings."""
    if not re.search(r",\s*[}\]]", text):
        return text
    parts = re.split(r'("(?:[^"\\]|\\.)*")', text)
    parts[::2] = [re.sub(r",(\s*[}\]])", r"\1", part) for part in parts[::2]]
    return "".join(parts)


def _writable(value: Any) -> Any:
    """Without lone surrogates, which no file can hold: a model may write half of an emoji as "\\ud83d"."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_writable(key): _writable(item) for key, item in value.items()}
    return [_writable(item) for item in value] if isinstance(value, list) else value


def _unwrap(value: Any, keys: frozenset[str], notes: Notes) -> tuple[Any, Notes]:
    """Off with one surplus level: {"result": {...}} or [{...}], if only the inner object has the form's keys."""
    inner = value
    if isinstance(value, dict) and len(value) == 1 and not keys & set(value):
        ((name, inner),) = value.items()
        if _ANOTHERS.search(name):  # {"candidate": {"score": 5}}
            return value, notes
    elif isinstance(value, list) and len(value) == 1:
        (inner,) = value
    if inner is not value and isinstance(inner, dict) and keys & set(inner):
        return inner, (*notes, SURPLUS)
    return value, notes
