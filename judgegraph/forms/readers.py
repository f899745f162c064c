"""What a judge of somebody else replied: by the grammar of its form, then ever more freely, and never by a guess.

The steps, first to last; the first that finds a verdict decides, and is kept as `FormReading.step`:
    1. exact: the form's own grammar, as its authors' code reads it
    2. marks: the same with markdown, quotes, brackets, a full stop, tokens that end a turn, and lines behind it
    3. line: a line that begins with the verdict, or the last line that names one ("Rating: 7", "Verdict: A")
    4. words: the readers of this package (`replies`), which know number words ("four out of five")
What could be read by none is unreadable, with the shape of what is there: "no [RESULT] in it", "one number in its first
line, two wanted". A verdict off the form's scale or by none of its labels is never looked for by a later step.

Thoughts are set apart first. Of two different marks the last one counts, and `FormReading.other` has the one before it.
The authors' own rules are cited in `READERS`; where those make a tie, a -1 or a 0.0 of a broken reply, ours make
nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from judgegraph.errors import ConfigError, one_line
from judgegraph.forms.form import JudgeForm
from judgegraph.replies.quotation import attributed, disowned
from judgegraph.replies.reply import abstains, declines, parts, refuses
from judgegraph.types import Scale, Verdict

Gives: TypeAlias = Literal["score", "scores", "verdict"]
Step: TypeAlias = Literal["exact", "marks", "line", "words", ""]
Answer: TypeAlias = tuple[float, ...] | Verdict

_N = r"-?\d{1,4}(?:\.\d{1,4})?"
_OF = r"(?:[ ]{0,2}(?:/|out[ ]of)[ ]{0,2}(?P<of>\d{1,4}))?"
_END_OF_TURN = re.compile(r"<\|?/?(?:s|im_end|eot_id|endoftext|end_of_turn|end)\|?>|\[/?INST\]", re.I)
_DECORATION = re.compile(r"(?<!\w)[*_`~]{1,3}|[*_`~]{1,3}(?!\w)")
_SIDE = r"(?:(?:assistant|response|answer|output|model|candidate)(?:['’]s)?[ ]?)"


@dataclass(frozen=True)
class FormReading:
    """What a reply says, by position: "A" is what stood first.

    Attributes:
        verdict: of a pair; None unless it is ok. values: the number, or the two of a pair, in the reply's order.
        status: "ok", "unreadable", "refused" (the model declined) or "abstained".
        step: which step read it, "" where none did. shape: what of it could not be read, in a few words.
        reason: the reply's words beside its verdict. other: a different mark before the one that counts.
    """

    verdict: Verdict | None = None
    values: tuple[float, ...] = ()
    status: Literal["ok", "unreadable", "refused", "abstained"] = "ok"
    step: Step = ""
    shape: str = ""
    reason: str = ""
    other: str = ""

    @property
    def value(self) -> float | None:
        """The one number of a single form."""
        return self.values[0] if len(self.values) == 1 else None


@dataclass(frozen=True)
class FormReader:
    """A grammar of replies. In its patterns `v` is the verdict or the number, `w` the second number of a pair.

    Attributes:
        gives: "score" one number, "scores" a number for each of two, "verdict" one of the form's labels.
        about: the grammar in words. rule: what the authors' own code does.
        exact, marks, line: patterns of the first three steps; "" for a step that it has not. {L} stands for the form's
            labels, {N} for a number, {SIDE} for a noun such as "Response".
        first: the verdict stands in the first line that is no heading; else the last match of the whole counts.
        foremost: of lines that begin with a verdict the first label's counts, as LLMBar's code has it.
        passes_over: what the last step does not look at, such as the marks of citations, "[1]".
    """

    name: str
    gives: Gives
    about: str
    rule: str = ""
    exact: str = ""
    marks: str = ""
    line: str = ""
    first: bool = False
    foremost: bool = False
    passes_over: str = ""


def read_reply(text: str, form: JudgeForm, scale: Scale | None = None) -> FormReading:
    """What a reply says by a form.

    Args:
        text: the reply as it came. scale: of its numbers, where the form leaves it to the criterion.

    Raises:
        ConfigError: the form names no reader that there is, or one of another kind.
    """
    reader, found = reader_of(form), parts(text)
    answer = found.answer
    if not answer.strip():
        return FormReading(status="unreadable", shape="all thought, no answer" if text.strip() else "empty")
    bounds = form.numbers(scale)
    plain = _plain(answer)
    region = (_first_line(answer), _first_line(plain)) if reader.first else (answer, plain)
    tries: tuple[tuple[Step, str, str], ...] = (
        ("exact", reader.exact, region[0]), ("marks", reader.marks, region[1]), ("line", reader.line, plain),
    )  # fmt: skip
    for step, pattern, where in tries:
        if pattern and (reading := _matched(where, pattern, step, reader, form, bounds)) is not None:
            if step == "exact" and not reading.other:  # the looser grammar finds what stands before it
                looser = _matched(region[1], reader.marks, "marks", reader, form, bounds)
                reading = replace(reading, other=looser.other if looser is not None else "")
            return replace(reading, reason=_reason(found.answer_text, reader))
    return _by_words(found.answer_text, reader, form, bounds)


def reader_of(form: JudgeForm) -> FormReader:
    """The reader that a form names.

    Raises:
        ConfigError: there is none of that name, or it reads another kind of reply.
    """
    reader = READERS.get(form.reader)
    if reader is None:
        known = ", ".join(sorted(READERS))
        raise ConfigError(f"form '{form.name}': no reader '{one_line(form.reader, 60)}'; known: {known}")
    if (form.kind == "single") != (reader.gives == "score"):
        gives = {"score": "one score", "scores": "a score for each of two", "verdict": "a verdict"}[reader.gives]
        raise ConfigError(f"form '{form.name}' is of kind '{form.kind}', and its reader '{reader.name}' gives {gives}")
    return reader


def _plain(text: str) -> str:
    """Without markdown's marks and the tokens that end a turn; line ends stay."""
    return _DECORATION.sub("", _END_OF_TURN.sub("", text))


_HEADING = re.compile(r"[\s#*_]*(?:[A-Za-z][\w ']{0,40}:)?[\s*_]*")


def _first_line(text: str) -> str:
    """The first line that says something: headings such as "### Evaluation:" and fences are passed over."""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not _HEADING.fullmatch(line) and not line.startswith("```")), "")


def _matched(
    text: str, pattern: str, step: Step, reader: FormReader, form: JudgeForm, bounds: Scale | None
) -> FormReading | None:
    """What a pattern finds; None where it finds nothing, or only what others are said to have said."""
    met = _labels(form)
    filled = pattern.replace("{L}", _either(met)).replace("{N}", _N).replace("{SIDE}", _SIDE).replace("{OF}", _OF)
    matches = list(re.finditer(filled, text, re.I | re.M))
    own = [m for m in matches if not (attributed(text, m.start()) or disowned(text, m.start(), m.end()))]
    every, matches = matches, own or matches
    if not matches:
        return None
    answers = [_answer(match, met, bounds if reader.gives != "verdict" else None) for match in matches]
    last = len(matches) - 1
    if reader.foremost and step == "line":
        last = next((i for i, one in enumerate(answers) if one == "A"), 0)
    answer = answers[last]
    if isinstance(answer, str) and answer.startswith("!"):
        return FormReading(status="unreadable", shape=answer[1:])
    chosen = matches[last]
    before = [match["v"] for match in every if match["v"].lower() != chosen["v"].lower()]
    verdict = _verdict(answer)
    if reader.gives == "verdict" and (why := _contradicted(text, chosen, verdict, step, form, met)):
        return FormReading(status="unreadable", shape=why)
    if last and verdict is not None and _OFFERED.fullmatch(text, matches[last - 1].end("v"), chosen.start("v")):
        return FormReading(status="unreadable", shape="two labels, and none is chosen")
    values = () if isinstance(answer, str) else answer
    if len(values) == 1 and _SPANS.match(text, chosen.end("v")):
        return FormReading(status="unreadable", shape="two numbers, and none is chosen")
    if re.search(r"[^\W\d_]{3}", text[chosen.end() :]):
        answer = _after_answer(text[chosen.end() :], answer, form, bounds)
        if isinstance(answer, str) and answer.startswith("!"):
            return FormReading(status="unreadable", shape=answer[1:])
        if answer != (values or verdict):
            taken = f"{values[0]:g}" if values else str(verdict)
            values = () if isinstance(answer, str) else answer
            return FormReading(_verdict(answer), values, step=step, other=taken)
    return FormReading(verdict, values, step=step, other=one_line(before[-1], 40) if before else "")


_OFFERED = re.compile(r"[\s\])}>\"'*_]*(?:\bor\b|/|\bvs\.?)[\s\[({<\"'*_]*", re.I)
_SPANS = re.compile(r"[ ]?[-–~][ ]?\d|[ ](?:to|or)[ ]\d", re.I)


def _after_answer(behind: str, answer: Any, form: JudgeForm, bounds: Scale | None) -> Any:
    """The answer, or the one that the words behind it give in its place; "!" and why where they only take it back."""
    from judgegraph.replies.choices import read_choice  # many expressions: no part of an import
    from judgegraph.replies.free_text import read_rating
    from judgegraph.replies.text import RETAKES

    if isinstance(answer, str):
        label = {"A": form.labels[0], "B": form.labels[1]}.get(answer, form.tie or "tie")
        reading = read_choice(f"Verdict: {label}\n{behind}", _spoken(form))
    elif len(answer) == 1 and bounds is not None:
        reading = read_rating(f"Score: {answer[0]:g}\n{behind}", bounds)
    else:
        return answer
    if "taken back" in reading.rule or reading.rule.startswith(("another rating", "points are")):
        return f"!{reading.rule}"
    if reading.value is None or (reading.earlier is None and not RETAKES.search(behind)):
        return answer
    return reading.value if isinstance(reading.value, str) else (float(reading.value),)


def _contradicted(
    text: str, match: re.Match[str], verdict: Verdict | None, step: Step, form: JudgeForm, met: Mapping[str, Verdict]
) -> str:
    """Why a label that was found is no verdict: another stands behind it, or the words behind it say otherwise."""
    behind = text[match.end("v") :]
    if re.match(
        rf"[\])\"'*_ ]*(?:or|/|vs\.?|versus)[\[(\"'*_ ]*(?:{_SIDE})?[\W_]{{0,3}}(?:{_either(met)})\b", behind, re.I
    ):
        return "two labels, and none is chosen"
    if step != "line" or not re.search(r"\w", behind):
        return ""
    from judgegraph.replies.choices import read_choice  # many expressions: no part of an import

    line = text[text.rfind("\n", 0, match.start("v")) + 1 :]
    said = [read_choice(words, _spoken(form)) for words in (line.partition("\n")[0], line)]
    if said[0].status == "ok" and said[0].value == verdict:
        later = said[1].value if said[1].rule == "lone" and said[1].status == "ok" else verdict
        return "" if later == verdict else f"{verdict}, and then {later}"
    return f"the words behind the label do not say that it is better: {one_line(behind.strip(), 60)}"


def _answer(match: re.Match[str], met: Mapping[str, Verdict], bounds: Scale | None) -> Any:
    """A verdict, or numbers; a text that begins with "!" says why it is neither."""
    held = match.groupdict()
    given = [held[name] for name in ("v", "w") if held.get(name) is not None]
    if bounds is not None:
        values = tuple(float(one) for one in given)
        low, high = bounds.low, bounds.high
        if low is None or high is None or not all(low <= value <= high for value in values):
            return f"!off the scale {bounds}: {', '.join(given)}"
        if held.get("of") and float(held["of"]) != high:
            return f"!counted out of {held['of']}, and the scale is {bounds}"
        return values
    label = " ".join(given[0].lower().split())
    return (
        met.get(label)
        or met.get(label.strip("()[]\"'. "))
        or f"!a verdict that is none of the labels: {one_line(given[0], 40)}"
    )


def _verdict(answer: Any) -> Verdict | None:
    if isinstance(answer, str):
        return answer  # type: ignore[return-value]
    if len(answer) != 2:
        return None
    return "tie" if answer[0] == answer[1] else "A" if answer[0] > answer[1] else "B"


def _labels(form: JudgeForm) -> dict[str, Verdict]:
    """How a reply calls a verdict, in lower case -> the verdict by position."""
    if form.kind == "single":
        return {}
    sides: tuple[Verdict, Verdict] = ("A", "B")
    met: dict[str, Verdict] = {}
    for label, side in zip(form.labels, sides, strict=True):
        met[label.lower()] = side
    if form.tie:
        met |= dict.fromkeys((form.tie.lower(), "tie"), "tie")
    return met


def _either(met: Mapping[str, Verdict]) -> str:
    return "|".join(re.escape(label) for label in sorted(met, key=len, reverse=True)) or "(?!)"


def _by_words(answer: str, reader: FormReader, form: JudgeForm, bounds: Scale | None) -> FormReading:
    """By the readers of free text, or unreadable with the shape of the reply."""
    from judgegraph.replies.choices import read_choice  # many expressions: no part of an import
    from judgegraph.replies.free_text import read_rating

    if reader.gives != "scores":
        words = re.sub(reader.passes_over, " ", answer) if reader.passes_over else answer
        scored = reader.gives == "score"
        reading = read_rating(words, bounds or "1-5") if scored else read_choice(words, _spoken(form))
        if reading.status == "ok":
            other = "" if reading.other is None else str(reading.other)
            told = FormReading(step="words", reason=answer.strip(), other=other)
            if isinstance(reading.value, float | int):
                return replace(told, values=(float(reading.value),))
            return replace(told, verdict=reading.value)  # type: ignore[arg-type]
        if reading.status in ("abstained", "refused"):
            return FormReading(status=reading.status, shape=reading.rule, reason=answer.strip())
        return FormReading(status="unreadable", shape=_shape(answer, reader, reading.rule))
    if abstains(answer):
        return FormReading(status="abstained", shape="abstained", reason=answer.strip())
    if declines(answer) or refuses(answer):
        return FormReading(status="refused", shape="declined", reason=answer.strip())
    return FormReading(status="unreadable", shape=_shape(answer, reader, ""))


def _spoken(form: JudgeForm) -> dict[str, tuple[str, ...]]:
    """The labels as `read_choice` takes them; what a tie may be called beside the form's own word."""
    found: dict[str, tuple[str, ...]] = {"A": (form.labels[0],), "B": (form.labels[1],)}
    return {**found, "tie": tuple(dict.fromkeys((form.tie, "tie", "tied")))} if form.tie else found


def _shape(answer: str, reader: FormReader, rule: str) -> str:
    """What stands there instead, in a few words, so that replies of one shape are counted together."""
    if reader.first:
        line, wanted = _first_line(answer), {"score": "one number", "scores": "two numbers", "verdict": "a label"}
        return f"{len(re.findall(_N, line))} numbers in its first line, {wanted[reader.gives]} wanted"
    return f"not as {reader.about}" + (f"; {rule}" if rule else "")


def _reason(answer: str, reader: FormReader) -> str:
    """The words beside the verdict: behind its line where that is the first, else before its mark."""
    text = answer.strip()
    if reader.first:
        return text.partition(_first_line(text))[2].strip()
    marks: list[int] = [m.start() for m in _MARKS.finditer(text)]
    before = text[: marks[-1]].strip(" \n*_#") if marks else ""
    return before or text


_MARKS = re.compile(
    r"\[RESULT\]|\[\[|<score>|<answer>|\*{0,2}Result:|(?:the[ ])?final[ ]decision[ ]is"
    r"|^\W*(?:Rating|Score|Verdict)\W*:",
    re.I | re.M,
)

# The readers by name. Each row says what its authors' own code does with a reply.


_RATED = r"^[\W_]*(?:final[ ]|overall[ ])?(?:score|rating|result)[\W_]*(?:is|of)?[\W_]{0,4}(?P<v>{N}){OF}[\W_]*$"
_JUDGED = (
    r"^[\W_]*(?:the[ ])?(?:final[ ]|my[ ])*(?:verdict|decision|result|winner|answer|choice)[\W_]*(?:is|of)?[\W_]{0,4}"
    r"{SIDE}?[\W_]{0,3}(?P<v>{L})(?![\w+>=<])"
)
_BEGINS = r"^[\W_]*{SIDE}?[\W_]{0,3}(?P<v>{L})(?=[\W_]*$|[)\]:.]|[ ]is\b)"
_TAGGED = r"<(?:TAG)>\s*(?P<v>{N})\s*</(?:TAG)>"

READERS: Mapping[str, FormReader] = {
    reader.name: reader
    for reader in (
        FormReader(
            "first-line-label",
            "verdict",
            "a label alone in the first line",
            "PandaLM: 1, 2 or tie as the first line, any case; all else is a tie",
            exact=r"\A(?P<v>{L})\Z",
            marks=r"\A[\W_]*{SIDE}?[\W_]{0,3}(?P<v>{L})[\W_]*\Z",
            line=_JUDGED,
            first=True,
        ),
        FormReader(
            "first-line-scores",
            "scores",
            "two numbers in the first line",
            "JudgeLM: commas to blanks, split at single blanks, two floats; else -1 and -1",
            exact=r"\A(?P<v>{N})[ ](?P<w>{N})\Z",
            marks=r"\A[\W_]*(?P<v>{N})(?:[ ]?/[ ]?(?P<of>10))?[\s,;|/&]+(?:and[ ])?(?P<w>{N})(?:[ ]?/[ ]?10)?[\W_]*\Z",
            line=r"\A\s*{SIDE}[\W_]{0,3}[1A][\W_]{0,4}(?P<v>{N})(?:[ ]?/[ ]?10)?[\s,;]+"
            r"{SIDE}[\W_]{0,3}[2B][\W_]{0,4}(?P<w>{N})(?!\d)",
            first=True,
        ),
        FormReader(
            "first-line-score",
            "score",
            "one number in the first line",
            "JudgeLM with 10 as what its reply begins with: no reader of their own; theirs for pairs fails",
            exact=r"\A(?P<v>{N})\Z",
            marks=r"\A[\W_]*(?:10(?:\.0)?[ ,]+)?(?P<v>{N})(?:[ ]?/[ ]?10)?[\W_]*\Z",
            line=_RATED,
            first=True,
        ),
        FormReader(
            "final-decision",
            "verdict",
            "'final decision is' with a label behind it",
            "Auto-J: the last such phrase; else -1",
            exact=r"final decision is (?P<v>{L})(?!\w)",
            marks=r"final[ ]+decision[ ]*(?:is|:)[\s:]*(?:that[ ])?[\s\"'(\[]*(?P<v>{L})(?!\w)",
            line=_JUDGED,
        ),
        FormReader(
            "rating-brackets",
            "score",
            "'Rating: [[n]]'",
            "Auto-J: the last one; a bare 'Rating: 7' is read as 0.0",
            exact=r"Rating: \[\[(?P<v>{N})\]\]",
            marks=r"rating[\W_]{0,3}:[\s\"']*\[{0,2}[ ]?(?P<v>{N})[ ]?{OF}[ ]?\]{0,2}(?!\w|\.\d)[^\n]{0,3}$",
            line=_RATED,
        ),
        FormReader(
            "result-score",
            "score",
            "'[RESULT] n'",
            "prometheus-eval 0.1.20: a marker and a whole number that end the reply, 1 to 5; else None",
            exact=r"\[RESULT\][ ]*(?P<v>\d{1,2})\s*\Z",
            marks=r"\[?RESULT\]?[\s:(\[\"']*(?:score[ ]?:?[ ]?)?(?P<v>{N}){OF}(?!\d)",
            line=_RATED,
        ),
        FormReader(
            "result-label",
            "verdict",
            "'[RESULT] A'",
            "prometheus-eval 0.1.20: a marker and A or B; else None",
            exact=r"\[RESULT\][ ]*(?P<v>{L})\s*\Z",
            marks=r"\[RESULT\][\s:(\[\"']*{SIDE}?[\s(\[\"']*(?P<v>{L}|tie|both|neither)(?![\w+>=<])",
            line=_JUDGED,
        ),
        FormReader(
            "double-brackets",
            "verdict",
            "'[[A]]'",
            "MT-Bench: [[A]] anywhere, else [[B]], else [[C]], in this order; else 'error'",
            exact=r"\[\[(?P<v>{L})\]\]",
            marks=r"\[\[\s*[\"']?{SIDE}?(?P<v>[^\[\]\n]{1,30}?)[\"']?\s*\]\]",
            line=_JUDGED,
        ),
        FormReader(
            "bracket-score",
            "score",
            "'[[n]]'",
            "MT-Bench: the first [[n]], else the first [n]; else -1",
            exact=r"\[\[(?P<v>{N})\]\]",
            marks=r"\[\[\s*(?P<v>{N}){OF}\s*\]\]",
            line=r"^[\W_]*(?:final[ ]|overall[ ])?(?:rating|score)[\W_]{0,6}(?P<v>{N}){OF}[\W_]*$",
            passes_over=r"\[\d{1,3}\]",
        ),
        FormReader(
            "result-line-score",
            "score",
            "'**Result:** n'",
            "Selene Mini, by RewardBench: the word behind **Result:**",
            exact=r"\*\*Result:\*\* ?(?P<v>\d{1,2})\s*\Z",
            marks=r"\bresult[ ]?:[\s\"'(\[]*(?P<v>{N}){OF}(?!\d)",
            line=_RATED,
        ),
        FormReader(
            "result-line-label",
            "verdict",
            "'**Result:** A'",
            "Selene Mini, by RewardBench: the word behind **Result:**",
            exact=r"\*\*Result:\*\* ?(?P<v>{L})\s*\Z",
            marks=r"\bresult[ ]?:[\s\"'(\[]*{SIDE}?[\s\"'(\[]*(?P<v>{L})(?![\w+>=<])",
            line=_JUDGED,
        ),
        FormReader(
            "score-tag",
            "score",
            "'<score>n</score>'",
            "Flow-Judge: both tags, a whole number, else -1; GLIDER: a float between the tags, else None",
            exact=_TAGGED.replace("TAG", "score"),
            marks=r"<score>[\s\"'(\[]*(?P<v>{N}){OF}[^\n<]{0,3}(?:</score>|\s*\Z)",
            line=_RATED,
        ),
        FormReader(
            "answer-tags",
            "scores",
            "two '<answer>n</answer>'",
            "JudgeLRM: the first two tags, whole, 0 to 10; else None",
            exact=r"<answer>\s*(?P<v>\d{1,2})\s*</answer>\s*<answer>\s*(?P<w>\d{1,2})\s*</answer>",
            marks=r"<answer>\D{0,20}(?P<v>{N})\D{0,10}</answer>(?:(?!<answer>)[\s\S]){0,200}<answer>\D{0,20}(?P<w>{N})\D{0,10}</answer>",
        ),
        FormReader(
            "answer-label",
            "verdict",
            "'<answer>[[A]]</answer>'",
            "RM-R1: a mark in the last 80 characters and not the other one there; else -1",
            exact=r"<answer>\s*\[\[(?P<v>{L})\]\]\s*</answer>",
            marks=r"(?:<answer>|\[\[)[\s\[\"'(]*{SIDE}?(?P<v>{L})[\s\])\"']*(?:</answer>|\]\]|\s*\Z)",
            line=_JUDGED,
        ),
        FormReader(
            "choice-json",
            "verdict",
            '\'{"Choice": "Model A"}\'',
            "CompassJudger: the field of a JSON object",
            exact=r"\{\s*\"Choice\"\s*:\s*\"(?P<v>{L})\"\s*\}",
            marks=r"[\"']?(?:choice|winner)[\"']?\s*[:：]\s*[\"']?{SIDE}?(?P<v>{L})[\"']?(?!\w)",
            line=_JUDGED,
        ),
        FormReader(
            "label-line",
            "verdict",
            "a line that begins with a label",
            "LLMBar: a line that begins with 'Output (a)', else one with 'Output (b)'; else nothing",
            exact=r"\A\s*(?P<v>{L})\s*\Z",
            marks=r"\A[\W_]*(?P<v>{L})[\W_]*\Z",
            line=r"^[ \t*_>#\"']*(?P<v>{L})(?:[\W_]*$|[ ]is[ ](?:the[ ])?better\b)",
            foremost=True,
        ),
        FormReader(
            "label-first",
            "verdict",
            "a label and a colon at the beginning",
            "Auto-J's comparison of critiques: the letter that the reply begins with",
            exact=r"\A\s*(?P<v>{L}):",
            marks=r"\A[\W_]*(?P<v>{L})(?=[\W_]*$|[)\]:.])",
            line=_BEGINS,
        ),
        FormReader(
            "rating-line",
            "score",
            "'Rating: n'",
            "ours",
            exact=r"^Rating: (?P<v>{N})$",
            marks=_RATED,
            line=_RATED,
        ),
    )
}
