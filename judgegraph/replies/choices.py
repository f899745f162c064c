"""Read a verdict or a letter from a free-text reply: by a clear rule or not at all, never a guess.

The rules, first to last; the first that finds a label decides:
    1. bare: the reply is a label ("D.", "(b)", "**Tie**")
    2. marked: "[[A]]", "[RESULT] B", "\\boxed{A}", "<answer>A</answer>"
    3. named: "Answer: B", "the final decision is Response 1"
    4. own line: the reply opens with a label ("B: it is shorter"), or a label is its last line
    5. criterion: "Fluency: good", where nothing else is rated otherwise
    6. said: "Response 2 is better", "I prefer (a)", "B wins"
    7. lone: the only label in the reply, where it is a word ("the tone is positive") or the reply is short
Of several labels by one rule the last counts, but for rules 4 and 7, where they contradict each other. A comparison is
one label: "[[A>>B]]" and "B<A" are A, "A=B" is the tie. Of a pair, "both are equally good" and MT-Bench's "[[C]]" are
the tie too. Where there is no label for a tie, a tie is unreadable, and so is any other verdict in "[[ ]]".
What was thought, what is quoted, and what another is said to have said are no answers; of an answer that is taken back
("Actually, wait: B is better") the later one stands.
Labels offered together ("A or B", "Response 1 / Response 2 / Tie") are a question, not an answer, and a "no" before a
noun ("no evidence") is no label, nor is one that heads what is said of it ("A: clear. B: vague", "A: 4"). A reply that
abstains ("N/A", "No evidence: ...") or declines ("I refuse.") is read by none of the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from judgegraph.errors import settings_checked
from judgegraph.replies.quotation import SPEECH, attributed, disowned
from judgegraph.replies.reply import abstains, declines, refuses, undecided, unjudged
from judgegraph.replies.sentences import (
    doubted,
    heads_a_rating,
    of_another_key,
    only_answers,
    retractions_of,
    taking_back,
    withdrawn,
)
from judgegraph.replies.text import RETRACTS, Excerpt, Reading, unread

# Where a reply mentions one of the labels that it was offered.


_NOUNS = (
    "output|response|summary|answer|option|choice|assistant|candidate|system|model|text|story|dialogue|reply|version"
)
_NOUN = re.compile(rf"\A(?:{_NOUNS})[ ]+(?=\S)", re.I)
_OUTER = "*_\"'`()[]{}<> \t\n"
_TOGETHER = re.compile(r"\s{0,3}(?:/|\||,?\s\(?(?:or|and|nor|vs\.?|versus)\b)\s{0,3}(?:the\s|as\s|perhaps\s)?", re.I)
_EITHER = re.compile(  # "A unless style matters, then B", not "A is better than anything else, B is weak"
    r"[^.!?\n]{0,80}\b(?:unless|otherwise|alternatively|(?<!thing )(?<!one )(?<!body )(?<!all )else)\b[^.!?\n]{0,60}",
    re.I,
)
_COMMA = re.compile(r",\s{1,2}")
_MORE = re.compile(r",\s{1,2}(?:(?:and|or)\s)?[A-Z0-9](?=,|[.]?\s*\Z)")  # "A, B, C" on a pair
_WORD_AFTER = re.compile(r"[ \t]+([^\W\d_]\w*)")
_TIES = ("tie", "tied", "draw", "equal", "even", "a tie")
_SIGNS = ">", "<", "=", "~", "∼", "≥", "≤", "≫", "≪", "≻", "≺", "≈", "≡"
_SIGN = r"(?P<sign>>=|<=|=>|=<|[≥≤]|>{1,3}|<{1,3}|={1,3}|[≫≪≻≺≈≡~∼])"
_TAG = "|".join(f"(?<=<{name}>)" for name in ("answer", "verdict", "result", "choice"))
_FIRST, _SECOND, _SAME = frozenset(">≫≻"), frozenset("<≪≺"), frozenset("=≈≡~∼")
_TIE = re.compile(r"(?<![\w-])(?P<core>tied?|draw)(?![\w-])", re.I)
_THIRD = re.compile(r"\[\[\s?(?P<core>C)\s?\]\]", re.I)
_HARDLY = (
    r"(?:basically|essentially|effectively|roughly|about|quite|pretty|practically|virtually|overall|both|all|just|"
    r"more[ ]or[ ]less)"
)
_EQUAL = re.compile(  # a tie in words
    rf"\b(?:it['’]s|is|are|were|call[ ](?:it|this)|declare[ds]?|ends?[ ]in|results?[ ]in|say|conclude|as)"
    rf"[ ](?:{_HARDLY}[ ]){{0,2}}"
    r"(?:(?:it|this|that)[ ](?:is|as)[ ])?(?:an?[ ])?(?:tie|draw|tied|on[ ]par|evenly[ ]matched|"
    r"equal(?=[ ]in[ ](?:overall[ ])?quality|"
    r"[ ]overall|[.!]|\s*\Z)|of[ ](?:equal|the[ ]same|similar)[ ]quality)(?![\w-])"
    r"|\bequally[ ](?:good|bad|strong|weak|helpful|well|valid|matched|poor|excellent|great|preferable|acceptable|"
    r"useful|wrong|incorrect|competent|flawed|unhelpful|mediocre|useless|inadequate|unsatisfactory|capable"
    r"|suitable)\b|\bties?[ ]with\b|\bboth(?:[ ]are)?[ ](?:about[ ])?the[ ]same\b"
    r"|\bneither(?:[ ](?:one|of[ ](?:them|the[ ]two)|response|answer|output|summary))?[ ](?:is"
    r"|was)[ ](?:\w+ly[ ])?better"
    r"(?:[ ]than[ ]the[ ]other(?:[ ]one)?)?(?=[*_]{0,2}\s*(?:[.!]|\Z))|\btoo[ ]close[ ]to[ ]call\b"
    r"|\bno[ ](?:preference|difference)(?=\W*\Z)|\bthey(?:['’]re|[ ]are)[ ](?:the[ ]same|identical"
    r"|equal)(?=\W*(?:\Z|\n))"
    r"|\bno[ ](?:clear[ ])?winner\b|\bcannot[ ]be[ ]told[ ]apart\b"
    r"|\A\W*(?:equal|even|the[ ]same|identical)\W*\Z|(?:\A|[.!:;][ ]|est[ ]|à[ ])[*_]{0,2}[ée]galité\b"
    r"|\bgleich[ ](?:gut|stark|schlecht|wertig)\b"
    r"|\bgleichwertig\b|\bunentschieden\b|\bse[ ]valent\b"
    r"|\baussi[ ](?:bonnes?|mauvaises?)[ ]l['’]une[ ]que[ ]l['’]autre|\bde[ ]qualité[ ]égale\b|\bigual(?:mente|es)?"
    r"(?:[ ]de)?[ ](?:buen[ao]s?|mal[ao]s?|bo[na]s|ruins|válidas)\b"
    r"|\b(?<!no[ ])(?<!não[ ])(?:es|hay|é|há)[ ](?:un[ ]|um[ ])?empate\b"
    r"|\bugualmente[ ](?:buone|valide)\b|\bsi[ ]equivalgono\b|\b(?:sono|é|è)[ ](?:in[ ])?(?:pari|parità)\b"
    r"|(?<![不没沒])(?:一样|同样|一樣|同樣)(?:的)?(?:好|差|优秀)|不相上下|不分伯仲|平手|平局|甲乙つけがたい"
    r"|(?:引き分け|同じくらい|同等)(?!\w{0,4}(?:では|じゃ)(?:な|あ))",
    re.I,
)
_BY = r"(?:worse|weaker|inferior|less[ ]\w+)[ ](?:than|to)"
_BY += r"|not[ ](?:as|so)[ ](?:good|strong|helpful|effective|convincing|useful|accurate|correct)[ ]as|no[ ]match[ ]for"
_BY += r"|(?:outperformed|beaten|outdone|surpassed|defeated)[ ]by"
_WORSE = (  # "A is worse than B", "A loses to B": the other side is better
    r"(?:(?:{nouns})[ ])?(?P<one>{sides})[*_)\]]{{0,3}}[ ](?:(?:is|was|seems)[ ](?:(?:\w+ly|much|far|a[ ]bit|also"
    r"|thus)[ ]){{0,2}}"
    r"(?:{by})|(?:\w+ly[ ])?los(?:es|t)[ ]to)[ ](?:the[ ])?(?:(?:{nouns})[ ])?[*_(\[]{{0,3}}(?P<two>{sides})\b"
    r"(?=[*_)\]]{{0,3}}\s*(?:[.!;,\n]|\Z|overall|because|since|as\b))"
)
_ORDINAL = re.compile(  # "the first response", "First response wins.", "the latter"
    rf"(?:\bthe[ ]|(?:^|[.!?:;,][ ])[ *_]{{0,4}}(?:so,?[ ])?)(?P<core>first|second)[ ](?:one|{_NOUNS})\b"
    r"|\bthe[ ](?P<turn>former|latter)\b",
    re.I | re.M,
)
_BETTER_ELSEWHERE = (  # "回答A更好", "Antwort A ist besser", "La respuesta A es mejor"
    r"(?<![A-Za-z0-9_])(?P<one>{sides})[*_)\]]{{0,3}}[ ]?(?:的?(?:回答|答案|回复|摘要)?[ ]?(?:显然|明显|稍|略|要)?"
    r"(?:更好|更优|更佳"
    r"|更胜一筹|胜出|获胜|较好"
    r"|优于|優於|更準確|更准确)|の?方が[^。、\n]{{0,6}}(?:優れ|良い|いい|良かった)"
    r"|(?:ist|war)[ ](?:(?!nicht|kaum|nie)\w+[ ])?(?:besser|überlegen)\b"
    r"|(?:es|fue)[ ](?:(?!no|apenas)\w+[ ])?(?:mejor|superior)\b"
    r"|(?:est|était)[ ](?:(?!pas|peu)\w+[ ])?(?:meilleure?|supérieure?)\b|è[ ](?:\w+[ ])?(?:migliore|superiore)\b"
    r"|é[ ](?:\w+[ ])?(?:melhor|superior)\b)"
    r"|(?:我?选择?|我?選擇?|更喜欢)(?:回答|答案)?[ ]?(?P<two>{sides})(?![A-Za-z0-9_])"
)
_ORDINAL_ELSEWHERE = re.compile(  # "Die zweite Antwort ist besser", "第一个回答更好"
    r"(?:\b(?:(?P<first>erste|premi[èe]re?|primer[ao]?|primeir[ao]|prim[ao])|zweite|deuxième|seconde?|segund[ao]"
    r"|second[ao])[ ](?:antwort|zusammenfassung|réponse|résumé|respuesta|resumen|resposta|resumo|risposta|riassunto"
    r"|text[eo]?)[ ]"
    r"(?:ist|war|es|est|é|è)[ ](?:(?!nicht|kaum|nie|no|pas|peu|non|não|ne)\w+[ ])?"
    r"(?:besser|überlegen|mejor|superior|meilleure?|supérieure?|melhor|migliore|superiore)\b"
    r"|第(?:(?P<one>一)|二)[个個篇]?(?:回答|答案|回复|摘要|文本)?(?:显然|明显|稍|略|要)?(?:更好|更优|更佳|胜出|获胜|较好|優れ))",
    re.I,
)
_ELSEWHERE_AT_ALL = re.compile(
    r"更|优|優|胜|选|選|の方|besser|überlegen|mejor|superior|meilleur|supérieur|migliore|melhor"
)
_NOT_ELSEWHERE = re.compile(
    r"(?:不|没|非|\b(?:nicht|kein\w*|no|ne|non|não|ob|si|se|wenn|falls)\b|如果|是否)[^.!?。\n]{0,12}\Z", re.I
)
_UNEQUAL = re.compile(
    r"(?:\bnot|n['’]t|\bnicht|\bpas|\bno[ ](?:es|son|hay)|\bnon|\bnão|\bkaum|\bhardly|\bnever|\bnearly|\balmost|\bif"
    r"|\bno[ ]longer|\brather[ ]than|\bwhether|\bfar[ ]from|\bclose[ ]to)"
    r"[ ](?:(?:say|claim|agree|think|believe)[ ](?:that[ ])?)?(?:\w{1,12}[ ]){0,2}\Z"
    r"|(?:不是|[并並]?不|[并並]非|没有|沒有|难以|難以|无法|無法|\bkein(?:e[rsnm]?)?[ ])\Z",
    re.I,
)
_WITHIN = re.compile(r"[^\W\d_][,'\u2019]?[ ]\Z")  # a word before it, in the same sentence
_SAYS = re.compile(
    r"(?!(?:series|species|means|news|perhaps|sports|sales|results|\w*ics)\Z)[a-z]{2,}(?<![sui])s"
)  # "covers", "edges"
_BEHIND = frozenset(  # what follows a label, and no article
    """by with for due here in to on even though although while whereas despite from at given when if unless
    thanks clearly easily narrowly slightly simply also still only did had can could will should may might must won
    lost""".split()
)
_VERBS = frozenset(
    """is was because since wins win as over has does follows would and or but than more better seems appears ties
    equals matches beats loses it""".split()
)


@dataclass(frozen=True)
class Mention:
    """A label in a reply.

    Attributes:
        label: as the caller spells it; "" for a verdict that is none of them, as a tie where no label is one.
        start, end: of the mention with its noun and brackets. span: of the label's own characters.
        plain: a lone letter or digit without noun or bracket, which may stand for something else.
        offered: named in one breath with another label ("A or B").
        kind: "label"; "comparison" of two of them ("A>B"); "other": a tie that is called by none of the labels;
            "alike": a tie in words; "article": an "A" that looks like one, and may be the label after all.
    """

    label: str
    start: int
    end: int
    span: tuple[int, int]
    plain: bool
    offered: bool = False
    kind: Literal["label", "comparison", "other", "alike", "article"] = "label"


def spoken(labels: Sequence[str] | Mapping[str, Sequence[str]]) -> dict[str, str]:
    """How a label may be met, without its noun and brackets, in lower case -> the label.

    Raises:
        ValueError: no label, an empty one, or two labels that are met alike.
    """
    aliases = dict(labels) if isinstance(labels, Mapping) else dict.fromkeys(labels, ())
    met: dict[str, str] = {}
    for label, others in aliases.items():
        for alias in others or (label,):
            core = " ".join(_NOUN.sub("", alias.strip(_OUTER)).strip(_OUTER).lower().split())
            if not core or met.get(core, label) != label:
                raise ValueError(f"label {alias!r} is empty or is met like {met.get(core)!r}")
            met[core] = label
    if not met:
        raise ValueError("no labels to read")
    return met


def _is_article(text: str, match: re.Match[str]) -> bool:
    """An "A" before a noun ("A good summary") is no label; "A is better", "Winner: A by far" have one.

    Within a sentence a capital A before a small letter is never the article.
    """
    if match["core"].lower() not in ("a", "i") or re.search(r"[(\[{<*\"'`]", match["open"]):
        return False
    after = _WORD_AFTER.match(text, match.end())
    if after is None or match["close"] or (match["noun"] and match["core"] == "A"):
        return False
    word = after[1].lower()
    if match["core"] == "A" and not match["noun"] and _A_THING.match(text, match.end()):
        return True
    if word in ("is", "was", "wins", "has", "beats"):
        return False
    if match["core"].isupper() and word in _VERBS:
        return False
    if match["core"] == "A" and (word in _BEHIND or _SAYS.fullmatch(word)):
        return False
    return (
        match["core"] != "A"
        or after[1][0].isupper()
        or not _WITHIN.search(text, max(0, match.start() - 20), match.start())
    )


def _is_another_thing(text: str, match: re.Match[str]) -> bool:
    """ "an A", "vitamin B": a grade, or a name."""
    bare = len(match["core"]) == 1 and not (match["noun"] or match["open"])
    return bare and _NO_LABEL.search(text, max(0, match.start() - 12), match.start()) is not None


def mentions(text: str, met: Mapping[str, str]) -> list[Mention]:
    """The labels in a text, in its order; a comparison of two of them ("A>B") is one mention, of what it comes to."""
    cores = _either(met)
    pattern = re.compile(
        rf"(?<![\w#$.])(?:(?P<noun>{_NOUNS})\s{{1,2}}#?)?(?P<open>[*_\"'`(\[{{<]{{0,4}})(?:(?<![\w.])"
        rf"|(?<=_))(?P<core>{cores})"
        r"(?P<close>[*_\"'`)\]}>]{0,4})(?!\w|-\w|[.,]\d|\+(?!\w))",
        re.I,
    )
    compared = [*_comparisons(text, met), *_foreign(text, met)]
    taken = {at for one in compared for at in range(*one.span)}
    found = [*compared]
    for match in pattern.finditer(text):
        if match.start("core") in taken or _is_another_thing(text, match):
            continue
        if _is_article(text, match):
            if match["core"] == "A":
                found.append(Mention(met["a"], match.start(), match.end(), match.span("core"), False, kind="article"))
            continue
        core, bracketed = match["core"], re.search(r"[(\[{<*]", match["open"])
        plain = len(core) == 1 and not match["noun"] and not bracketed and not core.isupper()
        label = met[" ".join(core.lower().split())]
        found.append(Mention(label, match.start(), match.end(), match.span("core"), plain))
    return _marked_offers(text, sorted(found, key=lambda one: one.span))


def _either(met: Iterable[str]) -> str:
    return "|".join(re.escape(c).replace(r"\ ", r"\s{1,3}") for c in sorted(met, key=len, reverse=True))


def tie_label(met: Mapping[str, str]) -> str | None:
    """The label that says that both are alike; None where there is none."""
    return next((met[core] for core in _TIES if core in met), None)


def of_pair(met: Mapping[str, str]) -> bool:
    """Whether the labels are the two sides of a pair, with a tie or without."""
    tie = tie_label(met)
    sides = {core for core, label in met.items() if label != tie}
    return sides in ({"a", "b"}, {"1", "2"}, {"a", "b", "c"})


def _comparisons(text: str, met: Mapping[str, str]) -> Iterator[Mention]:
    """ "A>B", "[[A>>B]]", "Response A = Response B": the side that it says is ahead, or the tie."""
    if not any(sign in text for sign in _SIGNS):
        return
    tie = tie_label(met)
    sides = _either(core for core in met if met[core] != tie)
    one, two = (rf"(?:(?:{_NOUNS})\s{{1,2}})?[*(]{{0,2}}(?P<{name}>{sides})[)*]{{0,2}}" for name in ("one", "two"))
    pattern = re.compile(
        rf"(?:(?<![\w=<>.])|{_TAG})(?P<open>[*_\"'`(\[{{<]{{0,4}})(?<![\w.]){one}[ ]{{0,2}}{_SIGN}[ ]{{0,2}}{two}"
        r"(?![\w>≥≤≫≪≻≺≈≡]|<(?!/[a-z])|[ ]{0,2}=|[.,]\d)(?P<close>[*_\"'`)\]}]{0,4})",
        re.I,
    )
    for match in pattern.finditer(text):
        first, second = (met[" ".join(match[side].lower().split())] for side in ("one", "two"))
        signs = set(match["sign"])
        label = first if signs <= _FIRST else second if signs <= _SECOND else (tie or "") if signs <= _SAME else ""
        if first != second:
            span = (match.end("open"), match.end("two"))
            yield Mention(label, match.start(), match.end(), span, False, kind="comparison")


def _foreign(text: str, met: Mapping[str, str]) -> Iterator[Mention]:
    """Ties of a pair by words that are none of its labels: "tie" where there is no such label, MT-Bench's "[[C]]"."""
    if not of_pair(met):
        return
    label = tie_label(met) or ""
    for pattern in (_TIE, _THIRD):
        for match in pattern.finditer(text):
            if match["core"].lower() not in met:
                start = len(text[: match.start()].rstrip("*_\"'`([{<"))
                yield Mention(label, start, match.end(), match.span("core"), False, kind="other")


def alike(text: str, met: Mapping[str, str]) -> Iterator[Mention]:
    """Where a text says of a pair that both are alike."""
    if of_pair(met):
        for match in _EQUAL.finditer(text):
            if not (
                _UNEQUAL.search(text[max(0, match.start() - 30) : match.start()]) or _better_behind(text, match.end())
            ):
                yield Mention(tie_label(met) or "", match.start(), match.end(), match.span(), False, kind="alike")


def _better_behind(text: str, at: int) -> bool:
    """Whether a side is called the better one further on, in another language than English."""
    found = _ELSEWHERE_AT_ALL.search(text, at)
    return bool(
        found and found[0] != "superior" and not _NOT_ELSEWHERE.search(text[max(0, found.start() - 20) : found.start()])
    )


def worse(text: str, met: Mapping[str, str]) -> Iterator[Mention]:
    """Where a text says of a side of a pair that it is the worse one: a mention of the other."""
    tie = tie_label(met)
    if of_pair(met) and any(
        word in text for word in ("worse", "weaker", "inferior", "less ", "los", " by ", " not ", " match ")
    ):
        sides = _either(core for core in met if met[core] != tie)
        for match in re.finditer(_WORSE.format(nouns=_NOUNS, sides=sides, by=_BY), text, re.I):
            one, two = (met[" ".join(match[side].lower().split())] for side in ("one", "two"))
            if one != two and not _UNEQUAL.search(text[max(0, match.start() - 30) : match.start()]):
                yield Mention(two, match.start(), match.end(), match.span("two"), False, kind="alike")


def ordinals(text: str, met: Mapping[str, str]) -> Iterator[Mention]:
    """Sides of a pair that are called by their order: "the first response"."""
    sides = sorted((core, label) for core, label in met.items() if label != tie_label(met))
    if of_pair(met) and len(sides) == 2:
        for match in _ORDINAL.finditer(text):
            word, group = (match["core"] or match["turn"]).lower(), "core" if match["core"] else "turn"
            if group == "turn" and re.search(
                rf"\b{sides[1][0]}\b.{{1,80}}?\b{sides[0][0]}\b", text[: match.start()], re.I | re.S
            ):
                continue  # B was named before A
            label = sides[0 if word in ("first", "former") else 1][1]
            yield Mention(label, match.start(), match.end(), match.span(group), False)


def elsewhere(text: str, met: Mapping[str, str]) -> Iterator[Mention]:
    """Where a text says in another language than English that a side of a pair is better."""
    if not (of_pair(met) and _ELSEWHERE_AT_ALL.search(text)):
        return
    sides = _either(core for core in met if met[core] != tie_label(met))
    for match in re.finditer(_BETTER_ELSEWHERE.format(sides=sides), text, re.I):
        if not _NOT_ELSEWHERE.search(text[max(0, match.start() - 20) : match.start()]):
            group = "one" if match["one"] else "two"
            label = met[" ".join(match[group].lower().split())]
            yield Mention(label, match.start(), match.end(), match.span(group), False, kind="alike")
    pair = sorted((core, label) for core, label in met.items() if label != tie_label(met))
    for match in _ORDINAL_ELSEWHERE.finditer(text) if len(pair) == 2 else ():
        if not _NOT_ELSEWHERE.search(text[max(0, match.start() - 20) : match.start()]):
            label = pair[0 if match["first"] or match["one"] else 1][1]
            yield Mention(label, match.start(), match.end(), match.span(), False, kind="alike")


def _marked_offers(text: str, found: list[Mention]) -> list[Mention]:
    """The same mentions, knowing which are one question: "A, B, or C"."""
    offered = [False] * len(found)
    for i in range(len(found) - 2, -1, -1):
        here, after = found[i], found[i + 1]
        between = text[here.end : after.start] if after.start - here.end < 20 else " "
        more = offered[i + 1] or _MORE.match(text, after.end) or not text[after.end :].strip(_OUTER + ".")
        listed = _COMMA.fullmatch(between) and more
        either = _EITHER.fullmatch(text, here.end, after.start)
        if here.label != after.label and (_TOGETHER.fullmatch(between) or listed or either):
            offered[i] = offered[i + 1] = True
    return [replace(m, offered=flag) for m, flag in zip(found, offered, strict=True)]


SHORT = 60  # characters of a reply in which a letter or a digit alone can only be the verdict

_DECORATION = re.compile(r"[\s*_\"'`()\[\]{}.!,:;-]*")
_MARKED = re.compile(
    r"(?:\[\[\s?|\[RESULT\][ :*(\[]{0,5}|\\boxed\{\s?|<(?:answer|verdict|result|choice)>\s{0,3})\Z", re.I
)
_BRACKETED = re.compile(r"\[\[\s?(?P<core>[^\W\d][^\[\]\n]{0,40})\]\]")
_UNCLEAR = re.compile(r"[^\[\]\n]{0,40}[<>=≥≤≫≪≻≺≈≡][^\[\]\n]{0,40}\]\]")  # a comparison that could not be read
_LISTED = re.compile(r"\s?[,~&/+|]\s?|\s(?:and|und|et)\s|\]\]\s*\[\[")  # "[[A, B]]", "[[A]][[B]]" are no verdicts
_OWN_SCORE = re.compile(r"[*_\"')\]]{0,4}[ ]?[:=][ *_]{0,3}-?[0-9]")  # "A: 4"
_HEADS = re.compile(r"(?:^|[.!?;,][ ])[ \t*_>#-]{0,6}\Z", re.M)
_SPEAKS = re.compile(  # who says something is not chosen by that: "Response B contains"
    r"[ ](?:contain|say|claim|state|ask|tell|include|read|instruct|mention|demand|quote|request)s\b", re.I
)
_DECIDES = re.compile(r"[ ](?:thinks|votes|believes|prefers|argues|judges|finds|chooses|concludes)\b", re.I)
_SIDED = re.compile(
    r"\b(?:agree[ds]?[ ]with|according[ ]to|like|no[ ]better[ ]than|against|had|were|unless)[ ](?:the[ ])?\Z", re.I
)
_LIKES = re.compile(r"\bI[ ](?:also[ ])?like[ ](?:the[ ])?\Z", re.I)
_UNSURE = re.compile(r"[ ](?:could|might)\b|[ ](?:is|was)(?:[ ]no|[ ]not|n['’]t)[ ](?:any[ ])?better\b", re.I)
_PARTLY = re.compile(
    r"[ ](?:on|in|for|at|regarding)\b(?![ ](?:all|the[ ]end|my|general|sum|every|total|overall))", re.I
)
_WOULD = re.compile(r"[ ]would\b", re.I)
_ASKS = re.compile(r"[^.!?\n]{0,80}\?")
_ON_TERMS = re.compile(  # a preference that hangs on something, not "B, if slightly wordy", "A, if I had to choose"
    r",?[ ](?:unless(?![ ]I\b)|only[ ]if"
    r"|if[ ](?:the|that|this|its?|they|one|you[ ](?:value|want|need|care|prefer|like))\b"
    r"|(?:if|when)[ ](?!(?:I|we|you)\b)[^.,;!?\n]{1,40}[ ](?:matters?|counts?|mattered|is|are|was|were)\b)",
    re.I,
)
_IN_NOTHING = re.compile(  # "A is better than B in nothing", "A beats B in no respect"
    r"[^.!?;,\n]{0,40}?\b(?:in|at|on|by)[ ](?:nothing|no[ ]\w+|none)\b(?![ ](?:but|except)\b)", re.I
)
_IMPROBABLE = re.compile(  # "There's no way the answer is yes", "It'd be wrong to answer yes"
    r"(?:\bno[ ]way|(?<!\bno[ ])(?<!\ba[ ])\bdoubt\w*|\bunlikely|\bimpossible|\bwrong[ ]to|\bmistake[ ]to|\bfalse[ ]to"
    r"|\bly(?:ing|ie)[ ]if|\babsurd[ ]to|\bsurprised[ ]if|\bcannot[ ]be[ ]that"
    r"|\bin[ ]no(?:thing|[ ]\w+)[ ](?:is|was|does|did))\b[^.!?;\n]{0,40}\Z",
    re.I,
)
_PREDICATE = re.compile(
    r"(?:\b(?:is|are|was|were|seems|looks|as|call[ ]it|rate[ ]it)|['’]s)[ ](?:(?:an?|the|\w+ly|very|quite|rather"
    r"|overall|pretty)[ ])*\Z",
    re.I,
)
_MAYBE = re.compile(r"\b(?:could|might|may|should|can)[ ](?:\w+[ ])?be(?:en)?[ ](?:an?[ ])?\Z|\bfor[ ]\Z", re.I)
_GOES_ON = frozenset("""because since as and or but overall enough here it so than is was one i""".split())
_PLAIN = frozenset(["yes", "no", "true", "false", "tie", "draw", "none", "neither", "both"])
_SUPPOSES = re.compile(r"\b(?:if|had|were|unless|should|with|but)\b", re.I)
_AS_OTHER = re.compile(rf"[ ]\((?:the[ ])?(?:(?:{_NOUNS})[ ]{{1,2}}#?)?[*_\"']{{0,3}}", re.I)  # "A (Response B)"
_ASIDE_ENDS = re.compile(r"[*_\"']{0,3}\)")
_ENDS_ALL = re.compile(r"\W*\Z")
_OPENS_LAST = re.compile(  # before a label that ends a reply as its own sentence: "Overall, A."
    r"(?:\A|[.!?;:][*_]{0,2}[ ]{0,2}|\n|,[ ](?=(?:so|thus|hence|therefore)[ ]))[ \t*_>#-]{0,6}(?:(?:so|and|but"
    r"|overall|finally|therefore|thus|hence|ultimately"
    r"|in[ ](?:the[ ]end|sum|total|all)|on[ ]balance|all[ ]in[ ]all)[,:]?[ ]){0,2}(?:the[ ])?\Z",
    re.I,
)
_ENDS_SENTENCE = re.compile(  # before a last sentence that is a label: ". Tie.", "; A is right. So A."
    r"(?<![ ][A-Z])[.!][*_]{0,2}[ ]{1,2}(?:(?:so|thus|hence|therefore|overall),?[ ])?(?:the[ ])?[*_(]{0,3}\Z", re.I
)
_OVERALL = re.compile(
    r"(?:\A|[.!?;][*_]{0,2}[ ]|\n|,[ ](?:but|and|yet)[ ])[ \t*_>#-]{0,6}(?:(?:so|and|but)[ ])?(?:overall|ultimately"
    r"|in[ ](?:the[ ]end|sum|total|all)|on[ ]balance|all[ ]in[ ]all)[*_]{0,2}[,:]?[*_]{0,2}[ ](?:the[ ])?\Z",
    re.I,
)
_CONCLUDES = re.compile(
    r"\b(?:overall|final\w{0,2}|therefore|thus|hence|so|but|in[ ]the[ ]end|conclu\w{1,5}|verdict|ultimately)\b"
    r"[^.!?\n]{0,60}\Z",
    re.I,
)
_NAMED = re.compile(
    r"\b(?:answer|verdict|decision|choice|preference|winner|result|judge?ment|rating|label|category|conclusion|"
    r"selection|pick|vote|urteil|veredicto|gewinner|ganadora?|gagnant|vincitore|vencedor|结论|胜者|(?:better|best"
    r"|preferred)(?=[*_]{0,2}[ ]?:)"
    r"|(?:better|best|preferred)[ ](?:one|output|response|summary|answer))"
    r"(?:[ ]\([^()\n]{0,40}\))?[*_\"'`\])]{0,4}\s{0,3}"
    r"(?::|：|=|[-–—]|\b(?:is|was|goes[ ]to|would[ ]be|should[ ]be)\b)"
    r"[\s*_\"'`:]{0,6}(?:that[ ])?(?:the[ ]|(?-i:a)[ ])?\Z",
    re.I,
)
_CHOSEN = re.compile(
    r"\b(?:prefer|choose|chose|select(?:ed)?|pick(?:ed)?|favou?r|go(?:ing)?[ ]with|vote[ ]for"
    r"|declare|lean[ ]towards?)[ ](?:the[ ]|(?-i:a)[ ])?\Z",
    re.I,
)
_BETTER = re.compile(
    r",?\s{1,2}(?:(?:(?:is|was|would[ ]be|seems|appears)[ ](?:to[ ]be[ ])?)"
    r"(?:(?:the|a[ ](?:bit|little|tad|lot)|a|an|clearly|slightly|much|far|overall|also|still|therefore|thus"
    r"|significantly|marginally|generally|"
    r"ultimately)[ ]){0,3}(?:better|best|superior|preferred|preferable|stronger|winner)\b"
    r"|wins?\b|(?:\w{3,12}ly[ ])?(?:beats|outperforms|surpasses|outshines|outdoes|defeats|edges[ ]out)\b"
    r"|is[ ]the[ ](?:better|best|preferred)\b)(?![ ](?:than[ ])?or[ ](?:as|equal))",
    re.I,
)
_DENIED = re.compile(
    r"(?:\b(?:can)?not|n['’]t|\bob|\bneither|\bnor|\bnever|\brather[ ]than|\bthan|\bover|\bunlike|\bno|\bif|\bhardly"
    r"|\bbarely|\bscarcely|\bfar[ ]from|\banything[ ]but|\brul(?:e|ed|ing)[ ]out|\bwrong[ ]to[ ]say|(?:\bnot|n['’]t"
    r"|\bhardly)[ ](?:call|label|consider|say|rate)"
    r"[ ](?:it|this|that|the[ ]\w{1,20})(?:[ ](?:is|as|to[ ]be))?)[ ](?:that[ ]|the[ ]|an?[ ])?\Z",
    re.I,
)
_DOUBTED = re.compile(  # "I would not choose A", "It is false that A is better", "anyone but A", "If true, A wins"
    r"(?:(?:\bnot|n['’]t|\bnever)[ ](?:prefer|choose|select|pick|favou?r|go[ ]with|vote[ ]for|declare)"
    r"|(?:\bnot|n['’]t)[ ](?:think|believe|say|feel|agree)(?:[ ]that)?"
    r"|(?<!not[ ])(?<!n['’]t[ ])(?<!\bno[ ])\b(?:false|untrue|incorrect|disagree|doubt|deny)[ ]that"
    r"|\b(?:any|every)(?:one|body|thing)[ ]but"
    r"|\bif[ ](?:(?:that|this|it)(?:['’]s|[ ]is|[ ]were)[ ])?(?:true|so|right|correct),?(?:[ ]then)?)"
    r"[ ](?:the[ ]|an?[ ])?\Z",
    re.I,
)
_SHORTFALL = re.compile(
    r"\b(?:worse|worst|weaker|los(?:es?|t|ing|er)|fail\w*|lacks?|not|less|inferior|incorrect|wrong|avoid|dislikes?"
    r"|bad|poor\w*"
    r"|false|vague|unclear|inaccura\w+|contradict\w*|hallucinat\w*|ignor\w+|miss(?:es|ing)|omit\w*|errors?|errs"
    r"|mistakes?"
    r"|peor|pire|schlecht\w*|schwächer|peggio\w*|pior|moins|menos|weniger|nicht|kein\w*|pas|хуже|не|slechter"
    r"|gorsz\w+|sämre"
    r"|flaw\w*|problems?|refus\w+|mislead\w*|incomplete|irrelevant|unhelpful|off)\b|n['’]t\b",
    re.I,
)
_RETRACTED = re.compile(rf"[\W_]{{0,6}}{RETRACTS}(?:the[ ])?[\W_]{{0,4}}|\W{{0,4}}(?:[-=]+>|[→⇒])\W{{0,4}}", re.I)
_LOSES = re.compile(r"[ ](?:(?:is|was)[ ])?(?:worse|weaker|los(?:es?|t)|fails|inferior)\b[^\[\]\n]{0,40}\]\]", re.I)
_LOST = re.compile(  # "Verdict: Response A loses", "A is hardly better than B": no verdict for that label
    r"[*_\"'`)\]]{0,4}[ ](?:(?:is|was)[ ](?:the[ ])?(?:worse|worst|weaker|loser|inferior)|los(?:es|t)"
    r"|(?:is|was)[ ](?:hardly|barely|scarcely|in[ ]no[ ]\w+)[ ](?:any[ ])?(?:better|stronger))\b"
    r"|[*_\"'`)\]]{0,4}(?:[:,]|[ ][-–—])[*_]{0,2}[ ](?:(?:clearly|quite|rather|very|too)[ ])?(?:the[ ])?"
    r"(?:weak(?:er|est)?|worse|worst|poor(?:er)?|bad|wrong|incorrect|inferior|loser)(?:[ ](?:one|of[ ]the[ ]two))?"
    r"(?=[*_\"')\]]{0,4}\s{0,9}(?:\Z|[.;!]|(?<=\n)))",  # "A: weak", "Answer A: the weaker one."
    re.I,
)
_A_SIDE_SAYS = re.compile(  # "B is better. (A claims that A is better.)"
    rf"(?:\A|[(\[.!?;,\n][ ]{{0,2}}|\b(?:and|but"
    rf"|while)[ ])(?:the[ ])?(?:(?:{_NOUNS})[ ])?[(\[]?[A-Z0-9][)\]]?[ ](?:itself[ ])?(?:also[ ])?"
    r"(?:claims|says|argues|insists|asserts|states|believes|thinks|pretends|boasts)[ ](?:that[ ])?(?:the[ ])?\Z",
    re.I,
)
_A_THING = re.compile(  # "A win for B", "A better answer would ..."
    r"[ ](?:(?:clear|narrow|slight|big|small|easy)[ ])?(?:win|victory|point|preference)[ ](?:for|goes[ ]to)\b"
    r"|[ ](?:better|worse)[ ](?!than|in|on|at|for|because|as|since|and|but|overall|here|by|with|due|again|\w+s\b)[a-z]"
)
_NO_LABEL = re.compile(r"\b(?:an|vitamin|hepatitis|appendix|exhibit)[ ]\Z", re.I)  # "both get an A", "vitamin B"
_SUPPOSED = re.compile(  # "One might think A is better", "If A had cited sources A would be better"
    r"(?<!\bI[ ])\b(?:might|may|could|would)[ ](?:\w+ly[ ])?(?:think|say|believe|argue|assume|expect)[ ](?:that[ ])?"
    r"(?:the[ ])?\Z|\b(?:if|when)[ ](?!(?:I|you|we)\b)[^.!?;,\n]{1,40}[ ](?:matters?|counts?|is[ ]what[ ]\w+),[ ]\Z"
    r"|(?P<condition>\bif)[ ](?!I\b)[^.!?;\n]{1,60}[ ,]\Z",
    re.I,
)
_DETERMINES = re.compile(  # a "no" that belongs to the next word
    r"[ \t]+(?!(?:because|since|as|but|and|or|so|if|when|while|although|though|it|they|he|she|we|you|I|this|that"
    r"|there)\b)[^\W\d_]",
    re.I,
)
_OF_BOTH = re.compile(  # "Both A and B: 3", "Grade of both: B", "Grade: A"
    r"(?:\bboth|\beach|\bgrade|\bmark)\b(?:[ ](?:of|for)[ ](?:both|each|all))?(?:[ ]a\b)?[ :]{1,3}\Z"
    r"|\bof[ ](?:both|each)\b[ :]{1,3}\Z",
    re.I,
)
_INTERJECTION = re.compile(r"[.!][ ]")
_CONSENTS = re.compile(r",[ ](?:I(?:['’]ll|[ ]will)|let[ ]me|here)\b", re.I)  # "Ok, I will judge it."
_ECHO = re.compile(r"[\[(][^\[\]()\n]{1,80}[\])](?=[ ]?(?:[-=]+>|[→⇒:]))")  # "[bad, ok, good] -> ok"
_COLON = re.compile(r"[*_]{0,2}[ ]?[:：]")
_LEADS = re.compile(r"\s{0,3}(?:\Z|[\n.:,;–—-]|(?:because|since|as)\b)")


def _called(text: str, mention: Mention, after: Mention) -> bool:
    """A label that is called by another's name in brackets: "A (Response B)"."""
    between = text[mention.end : after.span[0]]
    return _AS_OTHER.fullmatch(between) is not None and _ASIDE_ENDS.match(text, after.span[1]) is not None


def _before(text: str, mention: Mention, size: int = 80) -> str:
    return text[max(0, mention.start - size) : mention.start]


_AS_SEEN_FIRST = re.compile(  # "A is better at first sight."
    r"[^.!?;,\n]{0,30}?,?[ ](?:at[ ]first(?:[ ](?:sight|glance|look))?|on[ ]the[ ]surface|superficially|initially"
    r"|in[ ]theory"
    r"|(?:only[ ])?on[ ]paper)\b",
    re.I,
)
_PRONOUNCED = re.compile(
    r"\b(?:saying|answering|calling|choosing|picking|giving)[ ](?:it[ ])?(?:an?[ ])?[*_\"'“]{0,2}\Z", re.I
)


def _denied(text: str, mention: Mention) -> bool:
    before = _before(text, mention)
    if _DENIED.search(before[-30:]) is not None or _DOUBTED.search(before) is not None:
        return True
    return doubted(before)


def _on_terms(text: str, mention: Mention) -> bool:
    """Better on a condition alone: "A wins unless the date is wrong"; or asked: "A is better than B?"."""
    won = _BETTER.match(text, mention.end)
    if won and _ASKS.match(text, won.end()):
        return True
    if won and (_IN_NOTHING.match(text, won.end()) or _AS_SEEN_FIRST.match(text, won.end())):
        return True
    return _ON_TERMS.match(text, won.end() if won else mention.end) is not None


def _is_supposed(text: str, mention: Mention) -> bool:
    """ "One might think A is better", "If A had sources A would be better": of a world that is not."""
    supposed = _SUPPOSED.search(_before(text, mention)) if mention.kind == "label" else None
    if supposed is None:
        return False
    return supposed["condition"] is None or _WOULD.match(text, mention.end) is not None


def _concluding(text: str, found: list[Mention]) -> Mention | None:
    """A label that ends the reply as a sentence of its own: "Therefore, Assistant B."."""
    last = max((m for m in found if m.kind == "label"), key=lambda m: m.span)
    ends = _ENDS_ALL.match(text, last.end) and _OPENS_LAST.search(_before(text, last))
    return last if ends and not last.offered else None


def _bare(text: str, found: list[Mention]) -> list[Mention]:
    def rest(m: Mention) -> str:
        return text[: m.start] + text[m.end :]

    return [m for m in found[:2] if len(text) < 200 and _DECORATION.fullmatch(rest(m))]


def _marked(text: str, found: list[Mention]) -> list[Mention]:
    def marks(place: int) -> bool:
        return _MARKED.search(text[max(0, place - 20) : place]) is not None

    listed = [
        one
        for m, after in pairwise(found)
        for one in (m, after)
        if m.label != after.label and _LISTED.fullmatch(text[m.span[1] : after.span[0]])
    ]
    marked = [m for m in found if (marks(m.span[0]) or marks(m.start)) and not m.offered]
    marked = [replace(m, label="") if m.kind == "label" and _UNCLEAR.match(text, m.span[1]) else m for m in marked]
    marked = [replace(m, label="") if m in listed or _LOSES.match(text, m.end) else m for m in marked]
    held = {m.span[0] for m in found}
    for other in _BRACKETED.finditer(text):  # a verdict by no label
        if held.isdisjoint(range(*other.span())) and not attributed(text, other.start()):
            marked.append(Mention("", *other.span(), other.span("core"), False))
    return sorted(marked, key=lambda m: m.span)


def _sums_up(text: str, mention: Mention) -> bool:
    """Whether a label ends the reply as what it comes to: "A is worse than B in style. Overall A."."""
    return _ENDS_ALL.match(text, mention.end) is not None and _OVERALL.search(_before(text, mention)) is not None


def _named(text: str, found: list[Mention]) -> list[Mention]:
    named = [m for m in found if (_NAMED.search(_before(text, m)) or _sums_up(text, m)) and not m.offered]
    return [m for m in named if not _IMPROBABLE.search(_before(text, m))]


def _own_line(text: str, found: list[Mention]) -> list[Mention]:
    heads = [m for m in found if _COLON.match(text, m.end) and _HEADS.search(_before(text, m))]
    if len({m.label for m in heads}) > 1:  # "A: clear\nB: vague": what is said of each
        found = [m for m in found if m not in heads]
    first, last = len(text) - len(text.lstrip(" \t\n*_#>-")), len(text.rstrip(" \t\n.*_"))
    ends = []
    for m in found:
        leads = m.start <= first and _LEADS.match(text, m.end) is not None
        if m.label.lower() in ("ok", "okay", "good", "fine", "right") and _INTERJECTION.match(text, m.end):
            leads = leads and len({one.label for one in found}) == 1  # "Ok. The tone is good."
        start = text.rfind("\n", 0, m.start) + 1
        ends_it = m.end >= last and (
            not text[start : m.start].strip(" \t*_>-") or (_ENDS_SENTENCE.search(_before(text, m)))
        )
        if (leads or ends_it) and not m.offered:
            ends.append(m)
    return ends


_HEADING = re.compile(r"(?:\A|\n|[.;][ ])[ \t>*#•_-]{0,6}(?P<name>[^\W\d][^\n:：.;]{1,40}?)[*_]{0,3}[:：][ *_]{0,4}\Z")


def _headed(text: str, found: list[Mention]) -> list[Mention]:
    """Labels behind the name of a quality, where all are the same: "Fluency: good."; one over all before others."""
    heads = [
        (head["name"], m) for m in found if (head := _HEADING.search(_before(text, m))) and _LEADS.match(text, m.end)
    ]
    heads = [(name, m) for name, m in heads if m.kind == "label" and not m.offered]
    if not any(heads_a_rating(name, "") for name, _ in heads):
        return []
    heads = [(name, m) for name, m in heads if re.search("overall|final", name, re.I)] or heads
    return [m for _, m in heads] if len({m.label for _, m in heads}) == 1 else []


_FINDS = re.compile(r"\bI[ ](?:\w+ly[ ])?(?:find|found|consider|judge|deem|rate|think)[ ](?:the[ ])?\Z", re.I)
_STRONGER = re.compile(
    r"[ ](?:(?:to[ ]be|is|as|slightly|clearly|much|the|overall)[ ]){0,3}(?:better|best|stronger|superior"
    r"|preferable)\b(?![ ]in[ ]no)",
    re.I,
)


def _found_better(text: str, mention: Mention) -> bool:
    """ "I find Response A stronger"."""
    return _FINDS.search(_before(text, mention)) is not None and _STRONGER.match(text, mention.end) is not None


_IS_SO = re.compile(r"[ ](?:is|does|it[ ]is)(?=[*_]{0,2}[ ]?(?:[.!;]|\Z))", re.I)


def _elliptic(text: str, found: list[Mention]) -> list[Mention]:
    """ "B is.", where it was denied that A is better; "B it is."."""
    doubted = {m.label for m in found if _BETTER.match(text, m.end) and (_denied(text, m) or _on_terms(text, m))}
    return [
        m
        for m in found
        if m.kind == "label"
        and (so := _IS_SO.match(text, m.end))
        and ("it" in so[0] or doubted - {m.label})
        and not (m.offered or _denied(text, m))
    ]


def _with_ties(text: str, found: list[Mention]) -> list[Mention]:
    """Also ties in words; one beside a better side counts where it is the conclusion, else neither does."""
    said = [
        m
        for m in found
        if m.kind == "label"
        and (_BETTER.match(text, m.end) or _CHOSEN.search(_before(text, m)) or _found_better(text, m))
        and not (m.offered or _denied(text, m) or _on_terms(text, m))
    ]
    said = [m for m in said if not _IMPROBABLE.search(_before(text, m))]
    if not said:
        said = _elliptic(text, found)
    last = _concluding(text, found) if said and any(m.kind == "label" for m in found) else None
    if last and last.span > said[-1].span and last.label != said[-1].label:  # "A is better on style. Overall, B."
        said = [*said, last]
    partly = [m for m in said if (won := _BETTER.match(text, m.end)) and _PARTLY.match(text, won.end())]
    if len(partly) == len(said) > 1 and len({m.label for m in said}) > 1:  # "A wins on style, B wins on facts"
        said = [_concluding(text, found) or replace(said[-1], label="")]
    ties = [m for m in found if m.kind == "alike"]
    if not ties or (said and said[-1].span > ties[-1].span):
        return said
    if said and not _CONCLUDES.search(_before(text, ties[-1])):
        return [*said, Mention("", *ties[-1].span, ties[-1].span, False)]
    return ties


def _is_list_mark(text: str, mention: Mention, found: list[Mention]) -> bool:
    """Whether a label that opens a reply as "1." or "A)" may only number its sentence: "1. Response 2 is clearer"."""
    if mention.span[1] - mention.span[0] > 1 or not re.match(r"[.)][ ]", text[mention.span[1] : mention.span[1] + 2]):
        return False
    said = [m for m in _with_ties(text, found) if m.span > mention.span]
    other = re.match(rf"[.)][ ](?:the[ ])?(?:{_NOUNS})[ ]", text[mention.span[1] :], re.I)
    return bool(said and said[-1].label != mention.label) or bool(
        other and any(m.start == mention.span[1] + 2 and m.label != mention.label for m in found)
    )


_I_SAY = re.compile(r"(?:\A|[.!?;:,\n][ ]{0,3})[*_]{0,2}I[ ](?:(?:would|also|must|therefore|\w+ly)[ ]){0,2}[*_]{0,2}\Z")


def _qualifies(text: str, mention: Mention) -> bool:
    """A label that is a word of its sentence: "I have good reasons", not "It is a good summary", "good overall"."""
    after = _WORD_AFTER.match(text, mention.end)
    if mention.span[1] - mention.span[0] < 2 or after is None or mention.label.casefold() in _PLAIN:
        return False
    word = after[1]
    if word == "that" and _I_SAY.search(_before(text, mention)):  # "I strongly agree that"
        return False
    if not word.islower() or word in _BEHIND or word in _GOES_ON or word.endswith("ly"):
        return False
    return _PREDICATE.search(_before(text, mention)) is None


def _lone(text: str, found: list[Mention]) -> list[Mention]:
    short = len(text.strip()) <= SHORT and not _SHORTFALL.search(text)
    if any(_DECIDES.match(text, m.end) for m in found):  # "A votes for A"
        return []
    affirmed = [m for m in found if not _denied(text, m)]
    affirmed = [m for m in affirmed if text[slice(*m.span)].lower() != "no" or not _DETERMINES.match(text, m.end)]
    affirmed = [m for m in affirmed if not _SPEAKS.match(text, m.end)]
    sided = [m for m in affirmed if _SIDED.search(_before(text, m, 30))]
    affirmed = [m for m in affirmed if m not in sided or _LIKES.search(_before(text, m, 30))]
    telling = [
        m
        for m in affirmed
        if not m.plain and m.kind not in ("other", "article") and (short or m.span[1] - m.span[0] > 1)
    ]
    telling = [m for m in telling if not (_MAYBE.search(_before(text, m)) or _IMPROBABLE.search(_before(text, m)))]
    telling = [m for m in telling if not (_qualifies(text, m) or re.search(r"\w-\Z", _before(text, m, 2)))]
    supposes = _SUPPOSES.search(text) is not None
    telling = [
        m
        for m in telling
        if not _on_terms(text, m) and not (_PRONOUNCED.search(_before(text, m)) and _WOULD.match(text, m.end))
    ]
    telling = [m for m in telling if not (_UNSURE.match(text, m.end) or (supposes and _WOULD.match(text, m.end)))]
    if not telling and any(m.kind == "label" for m in affirmed):
        last = _concluding(text, affirmed)
        if last and {m.label for m in affirmed} == {last.label}:
            return [last]  # "This is not a tie. B."
    return telling if len({m.label for m in affirmed if not m.plain}) == 1 else []


NEGATIVE = frozenset(  # labels whose reason may well be "The answer is wrong."
    """no false incorrect wrong fail failed fails bad poor invalid unsafe unfaithful inconsistent hallucinated
    unsupported refuted contradicted negative none""".split()
)
Rule = Callable[[str, list[Mention]], list[Mention]]
RULES: tuple[tuple[str, Rule], ...] = (
    ("bare", _bare),
    ("marked", _marked),
    ("named", _named),
    ("own line", _own_line),
    ("criterion", _headed),
    ("said", _with_ties),
    ("lone", _lone),
)


@settings_checked
def read_choice(text: str, labels: Sequence[str] | Mapping[str, Sequence[str]]) -> Reading:
    """The label that a free-text reply decides for.

    Args:
        text: the reply; of a long one, the first 2,000 and the last 4,000 characters are read.
        labels: what can be chosen, in any case; as a mapping, label -> how a reply calls it (then only so,
            or by the label where nothing is given). "Output (a)" is also met as "(a)", and "Response 1" as "1"
            where a verdict stands.

    Returns:
        The label as the caller spells it, or None and a status.

    Raises:
        ValueError: no label, an empty one, or two labels that are met alike.
    """
    met = spoken(labels)
    excerpt = Excerpt.of(text)
    reading = _read(excerpt.text, met)
    for turn in retractions_of(excerpt.text):
        later = _read(rest := excerpt.text[turn:], met)
        alone = later.rule in ("lone", "own line") and (only_answers(rest) or _concludes(rest, later))
        if later.span and (alone or later.rule in ("marked", "named", "said")):
            reading = taking_back(_read(excerpt.text[:turn], met), later, turn)
            break
    poor = isinstance(reading.value, str) and reading.value.casefold() in NEGATIVE
    if reading.span and withdrawn(excerpt.text, reading.span[1], poor):
        return unread(excerpt.text, "an answer that is taken back")
    return replace(reading, span=excerpt.span(*reading.span)) if reading.span else reading


def _concludes(text: str, reading: Reading) -> bool:
    """Whether the label that was read ends the text as a sentence of its own: "wait, the date is wrong, so no."."""
    start, end = reading.span or (0, 0)
    return (
        end > 0
        and _ENDS_ALL.match(text, end) is not None
        and _OPENS_LAST.search(text[max(0, start - 80) : start]) is not None
    )


def _read(text: str, met: Mapping[str, str]) -> Reading:
    """The label in the words of an answer, by the first rule that finds one."""
    if abstains(text) and not any(map(abstains, met)):  # unless "n/a" is one of the labels
        return Reading(None, "abstained", rule="abstained")
    if declines(text):
        return Reading(None, "refused", rule="declined")
    if unjudged(text):
        return unread(text, "it says that it cannot be judged")
    mentioned = mentions(text, met)
    found = [m for m in mentioned if m.kind != "article"]
    articles = [m for m in mentioned if m.kind == "article"]
    if SPEECH.search(text):
        found = [m for m in found if not attributed(text, m.start)]
    found = [m for m in found if not (disowned(text, m.start, m.end) or of_another_key(text, m.span[0]))]
    if len(found) > 1:  # "A, no, B"
        pairs = [*pairwise(found)]
        found = [m for m, after in pairs if not _RETRACTED.fullmatch(text, m.end, after.start)] + found[-1:]
    called = {m for m, after in pairwise(found) if m.label != after.label and _called(text, m, after)}
    found = [replace(m, label="") if m in called else m for m in found]
    found = [m for m in found if m.kind != "label" or not _OWN_SCORE.match(text, m.end)]
    found = [replace(m, label="") if m.kind == "label" and _LOST.match(text, m.end) else m for m in found]
    found = [m for m in found if not (_is_supposed(text, m) or _A_SIDE_SAYS.search(_before(text, m)))]
    found = [replace(m, label="") if m.kind == "label" and _OF_BOTH.search(_before(text, m)) else m for m in found]
    found = [m for m in found if not (m.start == 0 and _CONSENTS.match(text, m.end))]
    echoed = {at for match in _ECHO.finditer(text) for at in range(*match.span())}
    if len({m.label for m in found if m.span[0] in echoed}) > 1:  # the labels that could be chosen
        found = [m for m in found if m.span[0] not in echoed]
    declined = refuses(text)
    for name, rule in RULES:
        if declined and name in ("said", "lone"):
            ties = [m for m in alike(text, met) if m.label]
            if ties and not any(_BETTER.match(text, m.end) for m in found):  # "I can't decide: both are equally good."
                return Reading(ties[-1].label, span=ties[-1].span, rule="said")
            last = _concluding(text, found) if any(m.kind == "label" for m in found) else None
            if last is not None and last.label == tie_label(met):  # "I cannot decide between the two. Tie."
                return Reading(last.label, span=last.span, rule="said")
            break
        more = (
            [*alike(text, met), *worse(text, met), *ordinals(text, met), *elsewhere(text, met)]
            if name == "said"
            else articles
            if name == "lone"
            else []
        )
        verdicts = rule(text, [*found, *more])
        if not verdicts:
            continue
        if name in ("bare", "own line", "lone") and len({m.label for m in verdicts}) > 1:
            return unread(text, f"{name}: {' and '.join(sorted({m.label or 'neither' for m in verdicts}))}")
        if name == "own line" and _is_list_mark(text, verdicts[-1], [*found, *alike(text, met), *worse(text, met)]):
            return unread(text, f"{name}: {verdicts[-1].label} heads a sentence that says otherwise")
        if not verdicts[-1].label:
            return unread(text, f"{name}: a verdict that is none of the labels")
        if verdicts[-1].label != tie_label(met) and undecided(text):
            return unread(text, f"{name}: a verdict of a judge that says it cannot choose")
        before = [one.label for one in verdicts if one.label and one.label != verdicts[-1].label]
        return Reading(verdicts[-1].label, "ok", verdicts[-1].span, name, other=before[-1] if before else None)
    return unread(text, "no label that is a verdict")
