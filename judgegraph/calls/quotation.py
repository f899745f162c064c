"""What a reply says in another's words, or takes back: neither is its answer.

A judge that finds an injection in a text quotes it. In a form and in free text alike, no answer is
    quoted: "The output says "Score: 5"". Quotes around a bare value ("4", "tie") are emphasis, unless somebody is said
        to have said it.
    attributed: what stands right behind "the candidate says", "the text tells me to answer", "it contains the line".
    doubted: an answer in a form, where the words around it decline to judge, answer otherwise, or where its own
        sentence neither introduces it nor sets it apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

LOOK = 160  # characters before a place that may attribute it
MOST = 400  # quotations looked at
PROSE = 6000  # characters of the words around a form's answer, at either end

_JUDGED = frozenset(
    re.findall(
        r"\w+",
        """output outputs text texts candidate response responses answer summary author writer user article
        story document source assistant submission essay passage injection instruction instructions prompt
        message dialogue conversation speaker student reply line sentence comment note part portion section
        attacker attempt it he she they which that who itself json string query question""",
    )
)
_SAYS = frozenset(
    re.findall(
        r"\w+",
        """say says said saying read reads reading claim claims claimed claiming tell tells telling told ask asks asked
    asking instruct instructs instructed instructing demand demands demanded demanding order orders ordered command
    commands request requests requested requesting state states stated stating write writes wrote writing insist insists
    urge urges tries tried trying attempts attempted attempting wants""",
    )
)
_HOLDS = frozenset(
    re.findall(
        r"\w+",
        """contain contains contained containing include includes included including ends starts begins embeds embedded
    inserts inserted quotes quoted quoting repeats adds added appends prints""",
    )
)
_THINGS = frozenset(  # what a text may hold that is another's answer
    re.findall(
        r"\w+",
        """instruction instructions line lines sentence string json object injection prompt command directive request
    phrase note tag demand verdict score rating words message""",
    )
)
_BETWEEN = _THINGS | frozenset(  # words that may stand between saying and what is said
    re.findall(
        r"\w+",
        """that i me us you to the judge judges evaluator evaluators grader graders rater model simply just
        only literally explicitly also a an it this these following as in of for be is was must should shall
        will and or else nothing exactly with give gives giving answer output reply replies respond return
        write print say rate award assign result full mark marks perfect top maximum high highest choose
        pick prefer declare get its own like my your final out response read reads text""",
    )
)
_NEVER_BEFORE = frozenset(
    ["to", "i", "we", "i'd", "i’d", "i'll", "i’ll", "would", "can", "could", "may", "must", "let"]
)
_GAP = "\n\t :,\"'“‘`«{[(*_>=-"
_TAG = re.compile(r"(?:</?[\w|]{1,12}>|```\w{0,9})\s*\Z")
_LEADS_ON = re.compile(r"[:,\"“‘«>][^\n]*\n|\n\s*[\"“‘«>]")
_SENTENCE = re.compile(r"[.!?;](?=\s)|\n|[”»]|[\"'`“«][ ]{3,}[\"'`”»]")  # the last: a quotation that was blanked
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|[,:]")

_QUOTED = re.compile(
    r"(?<![\w\"])\"(?=[^\s\"])(?P<double>[^\"\n]{1,1000})(?<!\s)\"(?!\w)|“(?P<curly>[^”\n]{1,1000})”|«(?P<angle>[^»\n]{1,1000})»"
    r"|(?<![\w'])'(?=[^\s'])(?P<single>(?:[^'\n]|(?<=\w)'(?=\w)){1,300})(?<!\s)'(?!\w)|(?<!`)`(?P<code>[^`\n]{1,1000})`(?!`)"
)
_VERDICT = re.compile(r"\[\[|\b(?:scor|rat|grad|answer|verdict|winner|result|prefer|choose|better|wins?\b|mark)", re.I)
_OWN = re.compile(
    r"\b(?:my[ ](?:final[ ]|overall[ ])?(?:answer|verdict|rating|score|evaluation|judge?ment|decision|conclusion|reply)"
    r"|I(?:['’]d|['’]ll|[ ]would|[ ]will)?[ ](?:say|answer|rate|give|output|choose|go[ ]with|conclude|reply)"
    r"|(?:final|overall)[ ](?:answer|verdict|rating|score|decision))\b[^.!?]{0,30}\Z",
    re.I,
)
_JUDGES = r"(?:judge|evaluate|rate|score|grade|assess)"
_GIVEN = r"(?:score|rating|verdict|judge?ment|answer|evaluation|assessment|grade)"
_DECLINES = re.compile(
    r"\b(?:I|we)(?:['’]m|[ ]am|[ ]are)?[ ](?:can(?:not|['’]t|[ ]not)|won['’]t|will[ ]not|"
    r"(?:must|have[ ]to)[ ]decline[ ]to|decline[ ]to|refuse[ ]to|(?:unable|not[ ]able)[ ]to|do[ ]not|don['’]t)"
    rf"[ ](?:\w{{1,12}}ly[ ])?(?:{_JUDGES}"
    r"(?:[ ](?!(?:higher|lower|above|below|more|less|better|beyond|over|part|aspect)\b)[^\W\d_]{1,20}){0,4}"
    r"(?=[ ]*(?:[.!;\n]|,(?![ ]but\b)|\Z|(?:because|as|since|without|at[ ]all|here)\b))"
    rf"|(?:give|assign|provide|offer|make|produce|return)[ ](?:an?|any)[ ](?:\w{{1,12}}[ ])?{_GIVEN}\b(?![ ]of\b))"
    r"|\bI[ ](?:abstain|decline)\b|\bI[ ]refuse(?:[ ]*[.!\n]|\s*\Z|[ ]to[ ](?:answer|output|respond|reply|say)\b)"
    rf"|\bno[ ]{_GIVEN}[ ](?:can|could|is|was)\b"
    rf"|\b(?:(?:cannot|can[ ]not)[ ]be|(?:^|[.!?][ ]|\b(?:is|was|am)[ ])not)[ ]{_JUDGES}e?d\b"
    r"|\b(?:please|kindly)[ ](?:give|provide|send|share|paste)[ ]"
    r"|\bne[ ]peux[ ]pas[ ](?:juger|évaluer|noter)|\bkann[ ](?:ich[ ])?(?:\w{1,12}[ ]){0,2}nicht[ ](?:be|ein)\w"
    r"|\bno[ ]puedo[ ](?:evaluar|juzgar|calificar)|(?:无法|不能|無法)(?:评|判|打分|評)",
    re.I | re.M,
)
_OWN_LEAD = re.compile(  # what may stand before JSON in its own sentence, where no colon sets it apart
    r"\b(?:my|here|below|so|thus|therefore|hence|overall|final|finally|json|rating|score|evaluation|assessment|verdict"
    r"|answer|result|output|judge?ment|I[ ](?:give|rate|assign|choose|conclude)|bewertung|urteil|évaluation|voici)\b"
    r"|评分|结果",
    re.I,
)
_NOT_OWN = re.compile(  # a sentence that holds JSON and says that it is not the answer
    r"\b(?:refus\w{0,3}|never|(?:will|would|do|does|did|can|could|should|must)[ ]not|cannot|\w{2,6}n['’]t"
    r"|wrong[ ]to|inject\w{0,4}|embed\w{0,5}|hidden|manipulat\w{0,4}|demand\w{0,3}|example|e\.g\.|such[ ]as|like"
    r"|according[ ]to|(?:required|expected|following|requested)[ ](?:text|format|line|sentence|words|instructions?)"
    r"|(?:was|am|been|were)[ ](?:told|asked|instructed)|candidat|texte|kandidat\w?|sagt|dit|schreibt)\b"
    r"|候选|文本|说|写",
    re.I,
)
_FORMAT_ASKED = re.compile(  # "The prompt asks me to reply in JSON:" says how the answer is written
    r"\s*(?:the|your)[ ](?:(?:system|user)[ ])?(?:prompt|instructions?|task|user|form)[ ](?:\w{1,12}[ ]){1,6}?"
    r"(?:a[ ])?json(?:[ ](?:object|format|only|form))?[ ]?[:,]\s*",
    re.I,
)
_NOT_OWN_BEHIND = re.compile(
    r"\A[ ]?[\"'`”]?,?[ ](?:(?:is|was|would|should|which|says?|said|wrote|stands?|stood|appears?)\b"
    r"|as[ ][^.!?\n]{0,60}\b(?:demand|ask|want|say|request|instruct|claim)\w{0,3}\b)"
    r"|\b(?:above|this|that|it|which|block|object|json|line)\b[^.!?\n]{0,30}\b(?:is|was|comes?|came|stands?|stood)\b"
    r"[^.!?\n]{0,20}\b(?:quot\w{1,6}|cited|copied|injected|from[ ]the|what[ ](?:the|it|he|she|they)\b)",
    re.I,
)
_LEAD_END = re.compile(r"[.!?;][\"'”)]?(?=\s)|[。！？]|\n|[{}>]")
_FENCE = re.compile(r"```\w{0,9}[ \t]*\n?\Z|<[\w|]{1,12}>\s{0,3}\Z")
_SAYING_VERB = rf"(?:{'|'.join(sorted(_SAYS))})"
_NAMED_TEXT = (
    r"(?:the|its|an?)[ ](?:\w{1,12}[ ])?(?:candidate|text|author|output|response|essay|summary|writer|article)"
)
_DISOWNED_BEFORE = re.compile(
    r"(?:\b(?:hidden|embedded|injected)[ ](?:instruction|prompt|line|text|command|message)s?"
    r"|\binjection[ ](?:detected|found|attempt)"
    rf"|\baccording[ ]to[ ]{_NAMED_TEXT}"
    r"|(?:\bI[ ](?:will|would|can|do|must)[ ]?not|\bI[ ](?:wo|wouldn|can|don)['’]?n?['’]t|\bI[ ]refuse[ ]to|\bnever)"
    r"[ ](?:say|answer|output|write|reply|respond|print|repeat)(?:[ ](?:that|it|is|the|an?|with)){0,3})"
    r"[\s:,*_\"'“`\[(<>]{0,6}(?:(?:final[ ])?(?:score|rating|answer|verdict)[\s:*_]{1,4})?\Z",
    re.I,
)
_DISOWNED_BEHIND = re.compile(
    r"[\s\"'”*_`\])]{0,4}(?:/[0-9]{1,3})?[\s,(–—-]{1,4}(?:(?:(?:that|which|this)[ ])?(?:is|was)[ ]"
    rf"(?:only[ ]|just[ ])?what[ ](?:{_NAMED_TEXT}|it|he|she|they)[ ](?:\w{{1,12}}[ ])?{_SAYING_VERB}"
    rf"|{_SAYING_VERB}[ ]{_NAMED_TEXT}|as[ ]{_NAMED_TEXT}[ ]{_SAYING_VERB})\b",
    re.I,
)
_CALLED_QUOTED = re.compile(r"\b(?:is|was|are|line|above)[ ](?:\w{1,12}[ ])?quot(?:ed|ation|e)\b", re.I)
_WORD_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER = (
    r"(?P<{0}>-?[0-9]{{1,6}}(?:\.[0-9]{{1,6}})?(?![\w%]|\.[0-9]|[ ]?[-–/][ ]?[0-9])"
    rf"|\b(?:{'|'.join(_WORD_NUMBERS)})\b(?![ -]\w))"
)
_DECIMAL = re.compile(r"\s*-?[0-9]{1,9}(?:\.[0-9]{1,20})?\s*")
_STATES = re.compile(
    r"\b(?:my|final|actual|real|corrected|revised)[ ](?:\w{1,12}[ ])?(?:answer|score|rating|verdict|grade)[*_]{0,2}"
    r"(?:[ ](?:is|would[ ]be|remains|of|a|an|score|rating|the|should|be|therefore|now|just|only)){0,6}"
    r"[\s:*_\"'`=\[]{0,6}" + _NUMBER.format("a") + r"|\bI(?:['’]d|['’]ll|[ ]would|[ ]will|[ ]must|[ ]have[ ]to)?"
    r"(?:[ ](?:now|actually|therefore|instead|still|only))?[ ](?:give|rate|score|grade|award|assign)"
    r"(?:[ ](?:it|this|that|them|the|a|an|at|as|of|only|just|score|rating|text|"
    r"output|response|answer|summary|candidate|instead|to|be)){0,7}[\s*_\"'`\[]{1,4}" + _NUMBER.format("b") + "|"
    r"(?:^|(?<=[.!?][ ]))[ \t>*_#]{0,6}(?:(?:the|my|final|overall|corrected|revised)[ ]){0,2}"
    r"(?:score|rating|final|correct(?:ion|ed)|edit|update|verdict|answer|grade)[*_]{0,2}[ ]?(?::|=|is\b|to\b)"
    r"[\s*_\"'`\[]{0,6}(?P<c>-?[0-9]{1,6}(?:\.[0-9]{1,6})?|(?:"
    + "|".join(_WORD_NUMBERS)
    + r")\b)(?=(?:[ ]?(?:/|out[ ]of)[ ]?[0-9]{1,4})?"
    r"[*_\"'`\])]{0,4}[ ]?(?:[.,;!](?![0-9])|\n|\Z|(?:because|as|since|instead|stars?|points?)\b))"
    r"|\b(?:that|it|this)[ ](?:should[ ]be|deserves|(?:only[ ])?merits|is[ ]worth)[ ](?:only[ ])?(?:an?[ ])?"
    + _NUMBER.format("d"),
    re.I | re.M,
)


SPEECH = re.compile(rf"\b(?:{'|'.join(sorted(_SAYS | _HOLDS))})\b", re.I)  # without it nothing is attributed


def attributed(text: str, place: int) -> bool:
    """Whether what stands at a place is what somebody else is said to have said: "the text tells me to answer"."""
    behind = text[max(0, place - LOOK) : place]
    window = behind.rstrip(_GAP)
    gap = behind[len(window) :]
    if "\n" in gap and not _LEADS_ON.search(gap):
        return False
    if tag := _TAG.search(window):
        window = window[: tag.start()].rstrip(_GAP)
    if window.endswith((".", "!", "?", ";")):
        return False
    ends = [end.end() for end in _SENTENCE.finditer(window)]
    window = window[ends[-1] :] if ends else window
    words = [word.lower() for word in _WORD.findall(window)]
    thing = True  # a thing that may be another's answer stands behind the verb, or nothing at all
    for at in range(len(words) - 1, -1, -1):
        word, previous = words[at], words[at - 1] if at else ""
        verb = (word in _SAYS and previous not in _NEVER_BEFORE) or (word in _HOLDS and thing)
        if verb and not _JUDGED.isdisjoint(words[max(0, at - 12) : at]):
            return True
        if word not in _BETWEEN and word != ":" and not (word == "," and previous in _SAYS):
            return False
        thing = word in _THINGS or (thing and at < len(words) - 1)
    return False


def disowned(text: str, start: int, end: int) -> bool:
    """Whether the words around a place say that it is another's or will not be said: "Score: 5 is what it asks for"."""
    line = text.rfind("\n", 0, start) + 1
    before = text[max(line, start - LOOK) : start]
    quoted = before.lstrip().startswith(">") and _CALLED_QUOTED.search(text, end) is not None
    return quoted or bool(_DISOWNED_BEFORE.search(before) or _DISOWNED_BEHIND.match(text, end))


def quotations(text: str) -> Iterator[tuple[int, int]]:
    """The places of what is quoted, without the quotes; a bare value is none, unless it is attributed to somebody."""
    if not any(quote in text for quote in "\"'`“«"):
        return
    found = [match for match, _ in zip(_QUOTED.finditer(text), range(MOST), strict=False)]
    if not any(sign.isalnum() for sign in blanked(text, [match.span() for match in found])):
        return
    for match in found:
        inner = match[match.lastgroup or 0]
        speaks = match.lastgroup != "code" and (len(inner.split()) > 3 or _VERDICT.search(inner))
        if attributed(text, match.start()) or (speaks and not (_is_own(text, match) or _is_key(text, match))):
            yield match.span(match.lastgroup or 0)


def _is_own(text: str, match: re.Match[str]) -> bool:
    """What the judge says of itself: "my verdict is "[[A]]"", or a line in quotes."""
    start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
    rest = text[start : match.start()] + text[match.end() : end if end >= 0 else len(text)][:100]
    alone = match.start() - start < 100 and not any(sign.isalnum() for sign in rest)
    return alone or bool(_OWN.search(text[max(0, match.start() - 80) : match.start()]))


def _is_key(text: str, match: re.Match[str]) -> bool:
    """A name in JSON, as in `"score": 4`."""
    return text[match.end() : match.end() + 3].lstrip().startswith(":")


def unquoted(text: str) -> str:
    """The text with blanks in the place of quotations."""
    return blanked(text, tuple(quotations(text)))


def blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with blanks in these places, so that all else stands where it stood; line ends stay."""
    pieces, end = [], 0
    for start, stop in spans:
        pieces += [text[end:start], re.sub(r"[^\n]", " ", text[start:stop])]
        end = stop
    return "".join([*pieces, text[end:]]) if pieces else text


def objection(text: str, start: int, end: int, value: Any, judged: Callable[[], str] = str) -> str:
    """Why JSON inside a reply is not its answer; "" where nothing speaks against it.

    Args:
        text: the reply, its thoughts blanked. start, end: of the JSON in it. value: what the JSON says.
        judged: gives the texts that the judge was shown.
    """
    before, behind = text[:start][-PROSE:], text[end:][:PROSE]
    if not any(sign.isalnum() for sign in f"{before}{behind}".replace("json", "")):
        return ""
    if why := _of_another(text, start, end):
        return why
    if text[start:end] in judged():
        return "its JSON stands so in the text that is judged"
    if before.rstrip(" ").endswith(('"', "“")) and behind.lstrip(" ").startswith(('"', "”")):
        return "its JSON is a quotation"
    around = unquoted(f"{before}\n\n{behind}")
    if _DECLINES.search(around):
        return "it declines to judge beside its JSON"
    stated = [_number(next(filter(None, match.groups()))) for match in _STATES.finditer(around)]
    numbers = list(_numbers(value))
    if len(numbers) == 1 and stated and stated[-1] != numbers[0]:
        return f"it says {stated[-1]:g} beside its JSON, which says {numbers[0]:g}"
    return ""


def _of_another(text: str, start: int, end: int) -> str:
    """Why the sentence that holds JSON, or what refers back to it, makes it another's; "" where it does not."""
    lead, behind = _lead(text[:start]), text[end:][:PROSE]
    if text[text.rfind("\n", 0, start) + 1 : start].strip() == ">":
        return "its JSON is a quotation"
    asked = _FORMAT_ASKED.fullmatch(lead) is not None
    if not asked and attributed(text, start):
        return "its JSON is what another is said to have said"
    if _NOT_OWN_BEHIND.search(re.sub(r"\A\s{0,3}```", "", behind)):
        return "its JSON is what another is said to have said"
    words = any(map(str.isalnum, lead)) and not asked
    if words and (_NOT_OWN.search(lead) or not (lead.rstrip(" \n*_`").endswith(":") or _OWN_LEAD.search(lead))):
        return "its JSON stands in a sentence that does not give it as the answer"
    return ""


def _lead(before: str) -> str:
    """The words of its own sentence that stand before JSON; those of the line above where they lead on to it."""
    before = _FENCE.sub("", before[-PROSE:])
    bare = before.rstrip(" \t*_`")
    if bare.endswith("\n"):
        before = bare = bare.rstrip()
        if not bare.endswith((":", ",")):
            return ""
    ends = [end.end() for end in _LEAD_END.finditer(before[-1000:])]
    return before[-1000:][ends[-1] :] if ends else before[-1000:]


def _number(digits: str) -> float:
    word = digits.lower()
    return float(_WORD_NUMBERS.index(word)) if word in _WORD_NUMBERS else float(word)


def _numbers(value: Any) -> Iterator[float]:
    """The numbers in JSON, those written as text too."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _numbers(inner)
    elif not isinstance(value, bool) and _DECIMAL.fullmatch(str(value)):
        yield float(value)
