"""What the sentence around a number makes of it: the judge's own rating, or a count, a wish, another's rating.

A number in free text is a rating where its sentence rates: a verb of rating whose subject is the judge, the text or one
of its qualities, or the number stands apart ("So 4.", "Well, 4"). Where the sentence says something else of it
("It misses 4.", "A 5 is not warranted.", "Nobody would give this a 5.", "Give me a 5!"), it is none.
An answer may be taken back behind it ("Actually, wait: 2.", "That is wrong."), and a different rating in a later
sentence takes the place of the one before ("A 2 is more appropriate."), or leaves none.
"""

from __future__ import annotations

import re
from dataclasses import replace

from judgegraph.replies.reply import CRITERIA, same_name
from judgegraph.replies.text import (
    CHANGES,
    NAME,
    NUMBER,
    OUT_OF,
    REACHED,
    RETAKES,
    REVISED,
    VALUE,
    Reading,
    number,
    valued,
)
from judgegraph.types import Scale

LOOK = 160  # characters before a number that are looked at
WISHED = re.compile(  # "With those fixes I would raise the score to 4"
    r"(?:\b(?:would|could|might)\b|['’]d\b)[^.!?\n]{0,40}\b(?:rais|increas|bump|lift|bring|up)\w*"
    r"|\b(?:with|if|had|were|once|unless|after|adding|fixing|any|one[ ]more)\b[^.!?\n]*(?:\b(?:would|could|might)\b"
    r"|['’]d\b)"
    r"|(?:\b(?:would|could|might)\b|['’]d\b)[^.!?\n]*\b(?:if|with|once|unless|only|after|were)\b",
    re.I,
)
_STARTS = re.compile(r"[.!?;…](?=[\s\"”'*])|\n|[。！？；]")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")

# A number that stands apart from the words before it.

_LEADING = (  # words between a break and a number that make nothing else of it
    r"(?:an?|the|so|but|then|thus|hence|therefore|overall|and|yet|finally|now|just|only|about|around|roughly|maybe"
    r"|solid|somewhere"
    r"|strong|weak|clear|low|high|full|perfect|good|generous|respectable|decent|bare|firm|borderline|middling"
    r"|mediocre|lukewarm|probably|likely|arguably|glatte|knappe|solide|gute|klare|schwache|het|een|texten|en|nota"
    r"|alltså|dus"
    r"|comfortable|fair|tentative|charitable|cautious|mere|passing|flat|straight|hard|easy|reluctant|grudging|roughly"
    r"|rather|well|hmm|no|yes|mine|final|level|category|grade|class|stars?"
    r"|it['’]s|it|is|i['’]d|i|really|actually|more|like|rather|honestly|still|would|say|be|go|with|at|of|as|score"
    r"|rating"
    r"|consistency|coherence|fluency|relevance|eine?|un|une|uma?|sondern|sino|aber|dann|mais|finalement|pero|donc|also)"
)
_VERBS = (  # of giving a number, where no other rule knows them
    r"(?:choose|chose|choosing|pick(?:ed|ing)?|mean|meant|settled?[ ](?:on|for|at)|settling[ ](?:on|for)"
    r"|go(?:ing)?[ ]with"
    r"|went[ ]with|land(?:ed)?[ ](?:on|at)|arrived?[ ]at|stay[ ](?:at|with)|end(?:ed)?[ ](?:up[ ])?(?:at|with|on)"
    r"|make[ ]that|mak(?:es?|ing)[ ](?:it|this|that)|(?:earn|receiv|deserv|merit|scor)ing|or[ ]rather|ou[ ]plut[ôo]t"
    r"|oder[ ]besser|down[ ]to"
    r"|(?:score|rating)[ ]out[ ]of[ ]\w+[ ]is|my[ ](?:\w+[ ]){1,2}is|classif\w{1,3}[ ](?:it|this)[ ]as|meets|reaches"
    r"|(?:calificación|puntuación|valoración|evaluación|nota|note|bewertung|punktzahl|wertung|punteggio|voto"
    r"|avaliação)[ ]"
    r"(?:final[e]?[ ])?(?:es|est|ist|é|è|de|lautet|sería|wäre|fue|war)|had[ ]to[ ](?:choose|pick"
    r"|say)(?:[ ]a[ ]number)?)"
)
_APART = re.compile(
    rf"(?:\A|[:：,，、;()\[\n|>–—…/{{]|[.!?。]\s|\.{{3}}|\s-\s|[\u3000-\u9fff\uac00-\ud7ff]|[-=]>|[→⇒⟶➜]|\b{_VERBS}"
    r"|\b(?=(?:but|so|then|hence|thus|therefore|overall|sondern|sino|aber|dann|mais|pero|alltså|dus|donc|daher"
    r"|quindi|(?:das|dies)[ ]ist)[ ])"
    r"|\b(?P<change>(?:lower|reduc|drop|chang|adjust|revis|correct|(?:down|up)grad|(?:in|de)creas|rais|cut|settl"
    r"|amend|bump|mov|becom|bring)"
    r"\w{0,5}(?:[ ]\w+){0,3}?[ ](?:to|at|on|into)))[\s*_\"'“(\[~≈]{0,6}"
    rf"(?:(?:{_LEADING}|ich|lui|le|dem[ ]text|das[ ]ist|dies[ ]ist|ihm|ei|es|ihn|sie|das|mit|einer|eine[nmr]|con|à|avec"
    rf"|de)[\s,:*_]{{1,4}}){{0,5}}[\s*_\"'“(\[#~≈]{{0,6}}\Z",
    re.I,
)
_FAIR = (
    r"(?:\w+ly[ ])?(?:fair\w*|right|appropriate|justified|warranted|adequate|reasonable|accurate|fitting|deserved|best"
    r"|better|closer|more[ ](?:appropriate|accurate|fitting|realistic|reasonable|honest|apt)|suitable|correct)\b"
)
_HEADED = re.compile(r"(?:\A|[\n.;,|])[\s*_#>•-]{0,6}(?P<name>[^\W\d][^.:：;|\n\d]{0,60})[:：][\s*_\"'“(\[~≈]{0,6}\Z")
_JUDGED_SO = re.compile(  # "A 5 is not warranted", "a score of 5 cannot be justified"
    rf"[*_\"'”)\]]{{0,4}}(?:[ ]?(?:/|out[ ]of)[ ]?[0-9]{{1,4}})?[ ](?:(?:(?:is|was|seems|feels|looks)(?:n['’]t)?"
    rf"|(?:can|could|would|should|does|might|may)(?:not|n['’]t)?)\b(?![ ](?:{_FAIR}|my\b|given\b|assigned|awarded|based"
    r"|due\b|because|for\b|the\b|what[ ]I\b|where\b|only\b|therefore|mainly|primarily|lower|be[ ](?:fair|right)))"
    r"|(?:at|as)[ ](?:best|most|least)\b)",
    re.I,
)
_DENIED_BEHIND = re.compile(r"\s?(?:で|じゃ)(?:は)?(?:ない|ありません)|[ ]?(?:이|가)?[ ]?아니")

# Whose rating it is.

_OWN_NOUNS = frozenset(
    """summary response answer output text article story essay passage dialogue conversation reply comment
        candidate assistant author writer speaker student submission message sentence paragraph title headline
        translation poem letter email code program model system bot agent chatbot draft piece work part plot
        style ending opening tone content structure argument explanation reasoning review report version option
        instruction completion generation caption description query question solution score rating grade mark
        verdict evaluation assessment rater judge evaluator rest whole result quality grammar language flow""".split()
)
_SUBJECT = re.compile(
    r"(?:\A|[,:(]\s|\b(?:and|but|that|as|while|when|because|since|where|says|said|although)[ ])\W{0,4}"
    r"(?:the|an?|his|her|their|our|my|one|another|every|each)[ ](?:[\w'’-]+[ ]){0,2}?(?P<noun>[\w-]+)"
    r"(?P<of>['’]s?)?[ ](?:(?:\w+ly|would|will|should|could|also|still|only|just|therefore|thus|then|has|have|had"
    r"|was|is"
    r"|been|be|itself|itself,|overall)[ ]){0,3}\Z",
    re.I,
)
_PROPER = re.compile(
    r"(?:[a-z,][ ](?:the[ ])?(?!I\b|It\b|Response|Summary|Output|Assistant|Option)[A-Z]|\w-?\d)[\w-]*[ ]\Z"
)
_NOBODY = re.compile(  # right before the verb, or asked: "Nobody would give this a 5", "Who would give it a 5?"
    r"(?:\bnot[ ](?:every|all|any|each)\b[^.,;!?\n]{0,60}|\b(?:nobody|no[ ](?:one|\w+)|few|none"
    r"|hardly[ ]any\w*)(?:[ ](?:would|could|will|can|should|ever|really|people"
    r"|judges|readers|graders|of[ ](?:us|them))){0,3}[ ]|\A\W{0,4}(?:who|why)[ ][^,]*)\Z",
    re.I,
)
_ASKED = re.compile(  # "Give it a 5.", "It would need to be longer to deserve 5"
    r"(?:\A\W{0,4}(?:(?:please|kindly|just|do|so|and|now|always|you[ ](?:must|should|have[ ]to|need[ ]to)),?[ ]){0,2}"
    r"(?:give|rate|award|assign|score|grade)|\bto[ ](?:deserve|get|earn|merit|receive|warrant)"
    r"|\b(?:please|kindly)[ ]\w+)[ ]",
    re.I,
)
_ANOTHERS = re.compile(r"(?P<noun>[\w-]+)['’]s[ ](?:\w+[ ])?\Z")
_SHARES = re.compile(
    r"\b(?:concur|agree|accept|endors|shar|adopt)\w*(?:[ ]with)?[ ]\Z", re.I
)  # "I concur with Mike's score"
_BY_OTHERS = re.compile(
    r"[ ]as[ ](?:the|its|an?|his|her|their)[ ](?:\w+[ ])?(?:answer|result|solution|value|output|total|sum|number)\b|"
    r"[^.!?\n]{0,12}\b(?:by|from)[ ](?:(?:the|its|most|many|all|some|professional|film|other|system|user)[ ]){0,2}"
    r"(?:critics?|prompts?|users?|readers?|viewers?|audiences?|reviewers?|customers?|fans|guests|people|others|judges"
    r"|teachers?)\b"
    r"|[ ](?:in|on)[ ](?:the[ ](?:guardian|times|second|first)|maths?|this[ ](?:test|exam)|imdb|amazon|yelp)\b",
    re.I,
)


def sentence_before(text: str, place: int) -> str:
    """The words of its own sentence before a place."""
    before = text[max(0, place - LOOK) : place]
    ends = [end.end() for end in _STARTS.finditer(before)]
    return (before[ends[-1] :] if ends else before).lstrip()


def is_alone(text: str, place: int, end: int, criterion: str) -> bool:
    """Whether a number is no part of what the words before it say: "So 4.", "Well, 4", "(4)", "I settled on 4"."""
    if _JUDGED_SO.match(text, end) or _DENIED_BEHIND.match(text, end):
        return False
    before = text[max(0, place - 60) : place]
    if re.search(r"[\w\])][(\[][^()\[\]\n]{0,20}\Z", before) and re.match(r"[^()\[\]\n]{0,20}[)\]]", text[end:]):
        return False  # of code, or of a formula: "O(2)", "5(x - 2)", "dp[0][1]"
    headed = _HEADED.search(before)
    if headed and len(_WORD.findall(headed["name"])) < 4 and not heads_a_rating(headed["name"], criterion):
        return bool(_REASONS.search(headed["name"]))
    if apart := _APART.search(before):
        clause = re.split(r"[,;]|\bbut\b", sentence_before(text, place))[-1]
        return not (apart["change"] and _TERMS.search(clause))
    word = re.search(r"(?:\A|[\n.,;:|]\s{0,3})[*_#>-]{0,4}\s?(?P<name>[^\W\d_]+)[*_]{0,2}\s\Z", before)
    return word is not None and (
        word["name"].lower() in CRITERIA or bool(criterion and same_name(word["name"], criterion))
    )


def rates(text: str, start: int, end: int) -> bool:
    """Whether a phrase that gives a number ("receives a 4") is a rating of the judged text, which the judge gives.

    Args:
        start: where its verb begins. end: where its number ends.
    """
    before = sentence_before(text, start)
    if _JUDGED_SO.match(text, end) or _BY_OTHERS.match(text, end):
        return False
    if _NOBODY.search(before) or _PROPER.search(before) or _ASKED.search(f"{before}{text[start:end]}"):
        return False
    if (whose := _ANOTHERS.search(before)) and whose["noun"].lower() not in _OWN_NOUNS | {"it", "that", "here", "let"}:
        return _SHARES.search(before[: whose.start()]) is not None
    subject = _SUBJECT.search(before)
    if subject is None or subject["noun"].lower() in CRITERIA:
        return True
    noun = subject["noun"].lower()
    return noun in _OWN_NOUNS or noun.removesuffix("s") in _OWN_NOUNS or _QUALITY.search(noun) is not None


_SAYS_ELSEWHERE = re.compile(
    r"\b(?:dice|afirma|pide|exige|diz|pede|dit|affirme|demande|prétend|sagt|schreibt|behauptet|verlangt|fordert|afferma"
    r"|chiede|zegt|говорит|пишет|требует|nadie|niemand|personne|nessuno|ninguém)\b",
    re.I,
)
_NO_ELSEWHERE = re.compile(r"\b(?:nicht|nie|ne|n['’]\w+|jamais|no|nunca|non|mai|não|nem|niet|не)\b", re.I)
_IF_ELSEWHERE = re.compile(
    r"(?:\A|[,;:][ ])\W{0,3}(?:geben,?[ ])?(?:si|wenn|falls|se|als|hätte|wäre|mit|avec|con|com)[ ]"
    r"(?!(?:ich|je|yo|eu|io|ik|tuviera|tivesse|dovessi)\b)",
    re.I,
)
_WOULD_ELSEWHERE = re.compile(r"(?:r[íi]a|rais?|rei|würde)\Z", re.I)
_GETS_ELSEWHERE = re.compile(
    r"erhält|bekommt|verdient|m[eé]rit|obt|reçoit|reci?eb|merec|ottiene|riceve|krijgt|получ|заслуж", re.I
)
_JUDGED_ELSEWHERE = re.compile(
    r"te[xs]t[eo]?|antwort|r[ée]ponse|r[ei]spuesta|r[ei]sposta|zusammenfassung|résumé|resum|riassunto|geschichte|histoire"
    r"|hist[óo]ria|storia|dialog|essa[iy]|ensa[iy]o|aufsatz|saggio|übersetzung|tradu|traduzione|samenvatting|antwoord"
    r"|ответ|текст|это|\b(?:er|sie|es|das|il|elle|cela|esto|isto|lo|ela|ele|het|dit|это|он)\b",
    re.I,
)


def given_elsewhere(text: str, start: int, end: int, verb: str) -> bool:
    """Whether a phrase of another language that gives a number is the judge's rating: "Je lui donne 4", not "Si citara
    fuentes, le daría 5".

    Args:
        start: where its verb begins. end: where its number ends.
    """
    before, behind = sentence_before(text, start), re.split(r"[.!?\n]", text[end : end + 80])[0]
    clause = re.split(r"[,;:]", before)[-1]
    if _SAYS_ELSEWHERE.search(f"{before}|{behind}") or _NO_ELSEWHERE.search(clause):
        return False
    if _WOULD_ELSEWHERE.search(verb) and (_IF_ELSEWHERE.search(before) or _IF_ELSEWHERE.search(f", {behind}")):
        return False
    whose = (
        not _GETS_ELSEWHERE.match(verb) or not clause.strip() or _JUDGED_ELSEWHERE.search(f"{clause}{text[start:end]}")
    )
    return bool(whose)


# What may head a number: "Coherence: 4", and not "Typos: 3".

_QUALITY = re.compile(
    r"(?:ness|[aei]lity|sity|racy|ency|ancy|ance|ence|[hk]eit|[éä]t?|ità|[aei]dad|[aei]dade|ência|ncia|[ae]nza|ezza"
    r"|ость|性|度|质量|品質|質)\Z",
    re.I,
)
_NO_QUALITY = re.compile(
    r"sentence|evidence|occurrence|difference|reference|distance|audience|instance|frequency|\bage\b"
    r"|difficulty|severity|priority|complexity|intensity|quantity|\blength\b|\btime\b|\byear\b"
    r"|häufigkeit|schwierigkeit|quanti|cantidad|\bedad|età\b|velocidad|difi[ck]|长度|難度|难度|速度|温度|程度|(?<![分点點])[数數]|错误|間違い|anzahl"
    r"|wörter|fehler|número|nombre",
    re.I,
)
_REASONS = re.compile(
    r"\b(?:is|are|was|it|so|conclusion|sum|total|all|forced|consider\w*|say|verdict|short|no|nein|non|wait)\b", re.I
)
_HEADS = frozenset(
    """response answer overall final total average mean weighted sum points quality style plot flow depth
        structure content language grammar humor humour engagement engaging empathy appeal organization
        organisation novelty validity utility safety logic format formatting spelling evaluation assessment
        level stars value label score rating grade after now mine korrigiert korrektur deduction
        deductions note nota voto
        nilai betyg punktzahl punkte calificación valoración avaliação valutazione karakter cijfer waardering
        arvosana évaluation pontuação punteggio classificação""".split()
)


_NAMES_ALL = re.compile(NAME, re.I)
_MISSPELT = ("score", "rating", "grade", "overall")


def _spelled(word: str) -> str:
    """A name of a rating as it was meant, where two letters are exchanged, or one too many or too few: "socre"."""
    for name in _MISSPELT if word[0] in "srgo" else ():
        long, short = (word, name) if len(word) > len(name) else (name, word)
        if word[0] == name[0] and (
            sorted(word) == sorted(name) or any(long[:at] + long[at + 1 :] == short for at in range(1, len(long)))
        ):
            return name
    return word


def heads_a_rating(name: str, criterion: str) -> bool:
    """Whether a name before a number is that of a rating or of a quality, and not of a count or another measure."""
    if criterion and same_name(name, criterion):
        return True
    if not name.isascii():
        return not _NO_QUALITY.search(name)
    words = [_spelled(word.lower()) for word in _WORD.findall(name)]
    if re.fullmatch(
        r"\W*(?:this|second|final|last|closer)[ ](?:time|pass|look|read(?:ing)?|take|round)\W*", name, re.I
    ):
        return True
    if _NO_QUALITY.search(name):
        return False
    return any(word in _HEADS or word in CRITERIA or _QUALITY.search(word) for word in words) and not re.search(
        r"\b(?:number|count|errors?|missing|checked|covered|found|lost|taken|off|max\w*|possible)\b", name, re.I
    )


def names_a_quality(name: str, criterion: str) -> bool:
    """The same, of a name in another script by its ending or a known word alone: "流畅性", not "字数"."""
    if name.isascii() or (criterion and same_name(name, criterion)):
        return heads_a_rating(name, criterion)
    words = [word.lower() for word in _WORD.findall(name)]
    known = any(word in _HEADS or _QUALITY.search(word) or _NAMES_ALL.fullmatch(word) for word in words)
    return known and heads_a_rating(name, criterion)


# Where a judge takes back what it said, with another answer or without one.


MOST_TURNS = 4  # looked at, from the end
MOST_WORDS = 4  # of what takes an answer back and says another without a word for it: "make it a 2"

_THAT = (
    r"(?:that|this|it|which|the[ ](?:above|score|rating|verdict|answer)|(?:that|this)[ ](?:score|rating|verdict"
    r"|answer))"
)
_FALSE = (
    r"(?:wrong|incorrect|false|mistaken|not[ ](?:right|correct|true|so|mine|my)|an?[ ](?:mistake|error|joke|typo)"
    r"|too[ ](?:high|low|generous|harsh|lenient))"
)
_CLOSES = r"(?=[*_\"'”)]{0,3}[ ]{0,3}(?:[.,:;!–—-]|\n|\Z|(?:because|as|since|so)\b))"
_DROPS = r"(?:scratch|strike|ignore|disregard|forget|drop|delete)[ ](?:that|it|this)\b"
_THEM = (  # what a judge mixes up: the answers, not what it weighs in them
    r"(?:them|it|this|that|these|both|\w[ ]and[ ]\w\b|(?:the|these|my|its)[ ](?:two\b|(?:two[ ])?(?:labels?|letters"
    r"|sides|names|responses?|outputs?|answers?|assistants?|options?|candidates?|summar(?:y|ies)|scores?|ratings?"
    r"|scale|rubric|criteri(?:a|on)|question|task|instructions?)\b))"
)
_MIXED = (  # "I mixed them up", "I had the two reversed"
    r"\bI(?:['’]ve|[ ]have)?[ ](?:(?:\w+ly|just)[ ])?"
    rf"(?:(?:mis(?:read|judged|labell?ed|took|understood)|confused|swapped|reversed|mixed[ ]up)(?:[ ]{_THEM})?"
    rf"|mixed[ ]{_THEM}[ ]up|scored[ ]the[ ]wrong(?:[ ]\w+)?"
    rf"|(?:had|got|have)[ ]{_THEM}[ ](?:reversed|swapped|backwards|wrong|mixed[ ]up|the[ ]wrong[ ]way(?:[ ]round)?))"
    r"(?=(?:[ ](?:in[ ]my[ ]head|somehow|by[ ]mistake))?[*_\"'”)]{0,3}[ ]?(?:[.,:;!?…–—-]|\n|\Z))"
)
_WITHDRAWN = re.compile(
    r"(?:^|[.!?…][ ]|\][ ])[ ]{0,3}"
    r"(?:(?:(?:oh|no|h+m+|well|wait|sorry|actually|ok(?:ay)?)[,.!…]{0,3}[ ]){1,2}|but[ ]|--?[ ]no,[ ])?"
    rf"(?:I[ ](?:retract|withdraw)[ ](?:that|it|this)|{_MIXED}"
    r"|or[ ]so[ ](?:the|it|he|she|they|its)\b(?![ ](?:source|article|document|passage|reference|original)\b)"
    r"[^.!?\n]{0,20}[ ](?:says?|claims?)"
    rf"|I[ ]take[ ](?:that|it)[ ]back|{_DROPS}|never[ ]?mind|my[ ](?:mistake|error|bad)|I[ ]was[ ](?:wrong"
    rf"|mistaken)|just[ ]kidding|that[ ](?:was|is)[ ]a[ ]joke)\b",
    re.I | re.M,
)
_BEHIND = (
    r"(?:[ ]?(?:/|out[ ]of)[ ]?[0-9]{1,4})?[\s\"'”’`*_\])}>.!,;:–—/#(-]{0,12}"
    r"(?:(?:or|but|well|h+m+|oops|oh|sorry|actually|wait)[ ,.!]{1,3}){0,2}"
)
_IS = r"(?:['’]s|[ ](?:is|was))(?:[ ](?:\w{2,10}ly|just|far))?[ ]"
_UNDONE = re.compile(  # right behind an answer: "Score: 5. That is wrong."
    rf"{_BEHIND}(?:{_THAT}{_IS}{_FALSE}{_CLOSES}"
    rf"|not[ ](?:(?:following|obeying|my)\b|(?:really|true|right|correct|mine|so){_CLOSES})"
    rf"|(?:wrong|kidding){_CLOSES}|{_DROPS})",
    re.I,
)
_UNDONE_POOR = re.compile(  # "Score: 1. That score is wrong.", not "Score: 1. The answer is wrong."
    rf"{_BEHIND}(?:(?:the|that|this|my)[ ](?:above[ ])?(?:score|rating|verdict|grade){_IS}{_FALSE}{_CLOSES}"
    rf"|(?:that|this|it|which){_IS}too[ ](?:low|harsh){_CLOSES}|kidding{_CLOSES}|{_DROPS})",
    re.I,
)
_TURN = re.compile(  # where a judge takes back what it said
    r"(?:^|[.!?…;:)\]—–`]|--|[ ]-(?=[ ])|\n|[ ](?=but[ ]I(?:['’]ve|[ ]have)?[ ]changed))[ \t*_>/#(-]{0,4}(?:(?:but"
    r"|oh|hm+|no|ok(?:ay)?|well|and)[,.…]{0,3}[ ])?"
    rf"(?:{REVISED}(?=[*_]{{0,2}}[ ]?:)|actually|wait(?![ ](?:for|until|times?)\b)|hold[ ]on|correction|{_DROPS}"
    r"|(?:make|swap|reverse|change)[ ](?:that|it)"
    rf"|(?:h+m+|oops|sorry|no)[ ]?[,.:;!…—–](?:[ ]{_THAT}[ ](?:is|was)[ ]{_FALSE})?"
    r"|(?:on|after|upon)[ ](?:\w{1,12}[ ]){0,2}(?:reflection|second[ ](?:thought|look|reading)|double[- ]?check\w*"
    r"|re-?(?:read|view|check|consider|think|assess|evaluat|look)\w*|(?:closer|further)[ ]\w+)"
    rf"|erratum|second[ ]thoughts?|my[ ](?:mistake|error|bad)|I[ ](?:was|am)[ ](?:wrong|mistaken)|please[ ]use"
    r"|I(?:['’]d|[ ]would)?[ ]now|I(?:['’]ve|[ ]have)?[ ]changed[ ]my"
    rf"|(?:{CHANGES})\w{{0,5}}[ ](?:(?:that|it|this)[ ])?to"
    r"|let[ ]me[ ](?:re\w{3,9}|correct)|I[ ](?:take[ ](?:that|it)[ ]back|retract|revise|change[ ]my|correct[ ]my"
    r"|(?:need|want|have)[ ]to[ ](?:correct|revise))"
    rf"|(?:the[ ]|my[ ])?(?:score|rating|verdict)[ ](?:(?:is|was|now)[ ]){{0,2}}(?:{CHANGES})\w{{0,5}}[ ](?:to"
    rf"|down|up))"
    r"(?!\w)",
    re.I,
)
_FEWER = r"(?:one|two|half|a|1|2)(?:[ ]an?)?(?:[ ]points?)?[ ](?:less|lower|higher|more|off)"
_UNSAID = re.compile(  # what a turn says instead of another answer: "Wait, I meant the other one"
    r"\A(?![^.!?\n]{0,60}(?:\bnot|n['’]t)[ ](?:say|think|believe|find|feel)\b)"
    rf"[^.!?\n]{{0,80}}?(?:{_MIXED}|\b(?:(?:that|this|it)(?:[ ]is|[ ]was|['’]s)[ ]backwards"
    r"|(?:mean(?:t)?|is|was|['’]s|it|that|correction:|no,|actually,?|rather,?|h+m+,|wait,|sorry,)[ ]"
    r"the[ ](?:other|opposite|first|second|former|latter)(?:[ ](?:one|way|response|output|answer|option))?"
    r"(?=\W*(?:\Z|[.!\n]))"
    r"|(?:it|this|that|score|rating|grade|mark)[ ]should[ ]be[ ](?:\w{2,10}[ ])?(?:lower|higher))\b"
    r"|(?:"
    r"\bI(?:['’]m|[ ]am)[ ](?:\w{2,10}ly[ ]|just[ ])?(?:not[ ](?:so[ ])?sure|unsure)(?:[ ]any[ ]?more)?"
    r"|\bI[ ](?:\w{2,10}ly[ ])?(?:cannot|can['’]t|can[ ]not)[ ](?:decide|tell|say|judge)"
    rf"|(?:[,.:;…–—-][ ]|\b(?:make|it|that|be|give|say|is)[ ]){_FEWER}"
    r"|[,.:;…–—-][ ](?:not[ ](?:so[ ])?sure|unsure|too[ ](?:high|low|generous|harsh|lenient))"
    rf"|(?<!if[ ])\b(?:{_THAT}|[0-9]|I)(?:['’]s|[ ](?:is|was|seems|may[ ]be|might[ ]be|am))"
    rf"(?:[ ](?:\w{{2,10}}ly|just|far))?[ ]too[ ](?:high|low|generous|harsh|lenient)){_CLOSES}(?!-\w)"
    rf"|(?:[,.:;…–—-][ ]|\b(?:please|just|so)[ ]){_DROPS})",
    re.I,
)
_DEDUCTED = re.compile(  # right behind the best score there is: "Score: 5. Deduct 2 for the errors."
    r"(?:[ ]?(?:/|out[ ]of)[ ]?[0-9]{1,4})?[*_\"'”)\]}]{0,4}[.,;:]?\s{1,3}[(]?(?:deduct|subtract|minus)[ ]"
    r"(?:an?|half|[1-9]|one|two|three|four)\b(?![^.!?\n]{0,60}\b(?:would|could|might|if|unless)\b)",
    re.I,
)


def retractions_of(text: str) -> list[int]:
    """Where words begin that take back what was said before, the last ones first."""
    return [match.start() for match in _TURN.finditer(text) if match.start()][::-1][:MOST_TURNS]


def withdrawn(text: str, since: int, poor: bool = False) -> bool:
    """Whether what stands before a place is taken back behind it: "Score: 5. I retract that.", "5. That is wrong.".

    Args:
        poor: it says that something is bad: then "1. The answer is wrong." gives its reason.
    """
    if _WITHDRAWN.search(text, since) or (_UNDONE_POOR if poor else _UNDONE).match(text, since):
        return True
    return any(_UNSAID.match(text[turn.start() + 1 : turn.start() + 200]) for turn in _TURN.finditer(text, since))


def lowered(text: str, since: int) -> bool:
    """Whether the words right behind a score deduct points from it."""
    return _DEDUCTED.match(text, since) is not None


def taken_back(text: str, since: int, poor: bool = False) -> bool:
    """Whether words behind a place take back what stands before it, or begin to: for answers that stand alone."""
    return withdrawn(text, since, poor) or any(pattern.search(text, since) for pattern in (_TURN, RETAKES))


def only_answers(later: str) -> bool:
    """Words that take an answer back and say hardly more than another: "On second thought, 2."."""
    turn = _TURN.match(later)
    return turn is not None and len(re.findall(r"[^\W\d_]+", later[turn.end() :])) <= MOST_WORDS


def taking_back(earlier: Reading, later: Reading, turn: int) -> Reading:
    """The later reading, of what stands from a turn on, as one of the whole text, which said something else before."""
    span = (later.span[0] + turn, later.span[1] + turn) if later.span else None
    taken = earlier.value if earlier.value != later.value else later.earlier
    return replace(later, span=span, earlier=None if later.value is None else taken)


# A different rating in the words behind one.

_TERMS = re.compile(
    r"\b(?:would|could|might|may|if|unless|had|were|without|only[ ]with|not|never|rather[ ]than|instead[ ]of|than"
    r"|initial\w*"
    r"|first|scale|max\w*|from|others?|some|typical|reference|perfect)\b|n['’]t\b|['’]d\b",
    re.I,
)
_IN_PART = re.compile(r"\b(?:on|for|in|as[ ]to|alone|part|style|regarding)\b", re.I)
_REVISED_BEHIND = re.compile(  # "5 (revised to 3 after checking)", "5 (actually 3)", "5 -> revised: 3"
    rf"{OUT_OF}[ ]?(?:[(\[,;–—-]|[-=]>|→)[ ]?(?:(?:now[ ])?(?:{REVISED}|chang\w+|lower\w*|reduced|dropped"
    rf"|down(?:graded)?"
    rf"|up(?:graded)?|raised|cut|actually|really|correction|p\.?s\.?)(?:[ ]to|[ ]?[:=])?|now)[ ](?:an?[ ])?{VALUE}"
    r"(?P<rest>[^()\n.]{0,80})",
    re.I,
)
_SECOND = re.compile(
    rf"(?:\b(?:an?|the|I[ ](?:think|believe|feel|say))[ ]|(?:^|[.!?;,][ ]))(?P<a>{NUMBER}){OUT_OF}[ ](?:(?:is|was"
    rf"|seems|feels|would[ ]be)[ ]{_FAIR}"
    r"|(?:fits|suits|matches)\b)"
    rf"|(?<![-\w])(?P<b>{NUMBER}){OUT_OF}[ ]it[ ](?:is|shall[ ]be)\b"
    rf"|\b(?:makes?|making)[ ](?:this|it|that)[ ](?:only[ ])?(?:an?[ ])?[*\[]{{0,2}}(?P<c>{NUMBER}){REACHED}"
    rf"|[,;:–—.!?][ ](?:and[ ])?(?:so|thus|hence|therefore|then|make[ ](?:that|it)|real(?:ly)?)[, ]{{1,2}}(?:an?[ ])?"
    rf"[*\[]{{0,2}}(?P<d>{NUMBER}){OUT_OF}(?=[.!*\])]{{0,4}}\s*(?:\n|\Z))"
    rf"|(?:\b(?:it['’]s|(?:it|this|that)[ ]is)(?:[ ]\w+ly|[ ]only|[ ]just|[ ]now)?[ ]an?"
    rf"|\bI[ ](?:should|must|will|have[ ]to)[ ](?:give|rate|say)(?:[ ](?:it|this|that|an?|only|now))*"
    rf"|\b(?:en[ ]realidad[ ]es|korrektur:|corrección:|correction[ ]:)|应该|\bI[ ]mean(?:t)?)[ 是]?[*\[]{{0,2}}"
    rf"(?P<e>{NUMBER})(?:{REACHED}|(?=[。！，]))"
    rf"|(?<=[^\W\d][.!?][ ])(?P<f>{NUMBER})[.!]?\s*\Z",
    re.I | re.M,
)


_MOVES = (
    r"(?:lower|reduc|drop|downgrad|upgrad|rais|bump|cut|adjust|revis|amend|mov|chang|increas|decreas|correct|tak|bring"
    r"|brought|push|pull|knock|mark|dock|switch|updat|scal|settl|shift)(?:e|es|ed|ing|s|t|ting|ping|ped|ding|ging)?"
)
_RATING = r"(?:(?:the|my|this|that|its|overall|final)[ ]){0,3}(?:score|rating|grade|mark|verdict)"
_OBJECT = rf"(?:it|this|that|{_RATING})"
_JUDGE = (
    r"\bI(?:['’](?:m|d|ll)|[ ](?:am|would|will|must|should|shall|need[ ]to|have[ ]to|want[ ]to))?"
    r"(?:[ ](?:now|therefore|thus|then|also|hence|only|going[ ]to|still))*[ ]|\blet[ ]me[ ]"
)
_CAUSE = (
    r"\b(?:this|that|which|it|(?:error|omission|mistake|flaw|problem|issue|fact)s?)(?:[ ](?:alone|also|then|only))?[ ]"
)
_TO = r"(?:[ ](?:down|up|back|all[ ]the[ ]way))?[ ](?:to|at|on|into)[ ](?:(?:an?|just|only|about)[ ])*[\[*_\"']{0,3}"
_PASSIVE = r"(?:(?:should|must|will|would|needs?[ ]to|has[ ]to|ought[ ]to|can[ ]only)[ ])?"
_PASSIVE += r"(?:be[ ]|is[ ](?:now[ ])?|was[ ]|now[ ])?"
_MOVED = re.compile(  # "I'm lowering this to 4", "which drops it to a 2", "the score becomes 3", "Upgrading to 4"
    rf"(?:(?P<sure>(?:{_JUDGE})(?:{_MOVES})(?:[ ]{_OBJECT})?|(?:{_CAUSE})(?:{_MOVES})[ ]{_OBJECT}"
    rf"|(?:^|[.!?;][ ])[ \t>*_-]{{0,4}}(?:(?:so|thus|therefore|hence|then|but),?[ ])?(?:{_MOVES})(?:[ ]{_OBJECT})?)"
    rf"|\b{_RATING}[ ]{_PASSIVE}(?:{_MOVES}|(?:goes|go|went|come|comes|came|drops?|falls?|fell|rises?|rose)\b)"
    rf"|\b(?:{_MOVES})[ ]{_RATING}|(?P<any>\b(?:{_MOVES})[ ](?:it|this|that)))(?:{_TO})(?P<n>{NUMBER}){REACHED}"
    rf"|(?:\b{_RATING}[ ](?:(?:then|thus|therefore|now)[ ])?(?:becomes|is[ ]now|turns[ ]into|changes[ ]to)"
    r"|(?:^|[.!?;,:][ ])[ ]{0,2}(?:(?:so|thus|hence|but|then)[ ])?I(?:['’](?:m|d|ll)|[ ](?:should|would|will|must"
    r"|am)){1,2}"
    r"[ ](?:now[ ]|rather[ ])?(?:go(?:ing)?[ ](?:with|for|down[ ]to|up[ ]to)|settle[ ](?:on|for)"
    r"|switch(?:ing)?[ ]to))[ ]"
    rf"(?:(?:an?|only|just)[ ])*[\[*_\"']{{0,3}}(?P<m>{NUMBER}){REACHED}"
    r"|\b(?:korrektur|corrección|correction|correzione|correção|更正|修正|订正)\b[^.!?\n0-9:：]{0,40}[:：][ *_]{0,4}"
    rf"(?P<k>{NUMBER})",
    re.I | re.M,
)
_MOVED_TO_NOTHING = re.compile(  # "I'm lowering the score.", "I should take a point off."
    rf"(?:\bI(?:['’](?:m|ll)|[ ](?:am|will|must|should|need[ ]to|have[ ]to))[ ](?:now[ ]|therefore[ ]|going[ ]to[ ])?"
    rf"|\blet[ ]me[ ])(?:(?:lower|reduc|drop|downgrad|upgrad|rais|bump|cut|adjust|revis|amend|chang|increas"
    rf"|decreas|correct)"
    rf"(?:e|ing|ping|ting)?[ ]{_OBJECT}\b(?![ ](?:to|from|at|on)\b)"
    r"|(?:deduct|subtract|tak|knock|dock)(?:e|ing)?[ ](?:an?|one|two|half|[0-9])(?:[ ]an?)?[ ]?(?:points?|off"
    r"|marks?|stars?)\b)"
    r"(?![^.!?\n]*\b(?:if|could|would|might)\b)"
    rf"|\b(?:it|this|that|{_RATING})[ ]should[ ](?:\w+[ ])?be[ ](?:\w+[ ])?(?:lower|higher)(?=[.!\n]|\s*\Z)",
    re.I,
)
_MOVES_AT_ALL = re.compile(
    r"\b(?:lower|higher|reduc|drop|grad|downgrad|upgrad|rais|bump|cut|adjust|revis|amend|mov|chang|increas|decreas"
    r"|correct|tak|bring"
    r"|brought|push|pull|knock|mark|dock|switch|updat|scal|settl|shift|becom|is[ ]now|go|turn|deduct|subtract"
    r"|fall|fell|ris"
    r"|rose|came|come|korrek|went)|更正|修正|订正",
    re.I,
)


def _moved(text: str, since: int, value: float, scale: Scale) -> tuple[float | None, int, int] | None:
    """The last different rating that words behind one change it to, with its place; a value of None where they change
    it to none that is read.
    """
    if not _MOVES_AT_ALL.search(text, since):
        return None
    found: tuple[float | None, int, int] | None = None
    for match in _MOVED.finditer(text, since):
        group = match.lastgroup if match.lastgroup in ("n", "m", "k") else "n"
        behind = re.compile(r"[^.!?\n]{0,80}").match(text, match.end())
        before = sentence_before(text, match.start())
        if WISHED.search(f"{before}{match[0]}{behind[0] if behind else ''}") or _NOT_MOVED.search(before):
            continue
        rating = _value(match[group], scale)
        if rating == value:
            found = None
            continue
        found = (None if match["any"] else rating, match.start(group), match.end(group))
    if found is None and (less := _MOVED_TO_NOTHING.search(text, since)):
        return (None, *less.span())
    return found


_NOT_MOVED = re.compile(
    r"\b(?:not|never|no|don['’]t|initially|first|other|another|some|from|how)\b|n['’]t\b|\bto[ ]\Z", re.I
)


def later_rating(text: str, since: int, value: float, scale: Scale) -> tuple[float | None, int, int] | None:
    """A rating behind another that says something else, with its place; its value is None where it only may take the
    other's place. None where there is none.
    """
    if (match := _REVISED_BEHIND.match(text, since)) and (revised := valued(match, scale)) not in (None, value):
        sure = not _TERMS.search(match["rest"]) and not re.match(r"\W*(?:from|points?|of|errors?)\b", match["rest"])
        return (revised if sure else None, match.start("n"), match.end("n"))
    if moved := _moved(text, since, value, scale):
        return moved
    for match in _SECOND.finditer(text, since):
        group = match.lastgroup or "a"
        digits = match[group]
        rating = _value(digits, scale)
        before = sentence_before(text, match.start(group))
        if rating is None or rating == value or _TERMS.search(before):
            continue
        sure = group in "abcd" and not _IN_PART.search(before)
        return (rating if sure else None, match.start(group), match.end(group))
    return None


def _value(digits: str, scale: Scale) -> float | None:
    found = re.fullmatch(VALUE, digits, re.I)
    return valued(found, scale) if found else None


_ASKED_ITSELF = re.compile(  # "A 5? No. A 4? Yes.", "Is it a 4? Yes."
    r"(?:\A|[.!?\n][ ]{0,2})[*_]{0,2}(?:(?:(?:is|would|could)[ ](?:it|this|that|the[ ](?:score|rating))(?:[ ]be)?"
    rf"|what[ ]about|maybe|perhaps|so)[ ])?(?:an?[ ])?(?P<n>{NUMBER}){OUT_OF}(?:[ ](?:stars?|points?))?\?[ ]{{1,2}}"
    r"[*_]{0,2}(?P<yes>(?:yes|yep|yeah|indeed|exactly|ja|oui|sí|sim|sì)\b(?!,?[ ](?:but|if|aber|mais|pero)))?",
    re.I,
)


def affirmed(text: str, scale: Scale) -> tuple[float, int, int] | None:
    """The one rating that a judge asks itself about and says yes to, with its place; None where there is none."""
    found = [match for match in _ASKED_ITSELF.finditer(text) if match["yes"]] if "?" in text else []
    value = _value(found[0]["n"], scale) if len(found) == 1 else None
    return None if value is None else (value, *found[0].span("n"))


# Ratings of several texts, side by side.

_TEXTS = r"(?:answer|response|summary|output|text|sample|reply|version|candidate|assistant|essay|translation|one)"
_SIDE = rf"(?:(?:first|second|third|1st|2nd|3rd|other)[ ]{_TEXTS}|{_TEXTS}[ ]#?(?:[1-9]|[a-d]))\b"
_SIDE_AT_ALL = re.compile(_SIDE, re.I)
_OF_A_SIDE = re.compile(
    rf"\b(?P<one>{_SIDE})(?:['’]s)?(?:[ ](?:score|rating|grade))?[*_]{{0,2}}[ ]?(?::|="
    rf"|[-–—][ ]|(?=\n))[ *_\[]{{0,4}}(?:\n{{1,2}}[ *_#-]{{0,5}}(?:score|rating"
    rf"|grade)[*_]{{0,2}}[ ]?[:=][ *_\[]{{0,4}})?"
    rf"(?P<n>{NUMBER})"
    rf"|\b(?P<four>{_SIDE})[ ](?:as|at|an?|with|to|gets|deserves|scores|earns)[ ](?:an?[ ])?(?P<p>{NUMBER})"
    rf"|\b(?:scores?|rating|grade)[ ](?:of|for)[ ](?:the[ ])?(?P<two>{_SIDE})[*_]{{0,2}}[ ]?(?::|=|is\b)[ *_\[]{{0,4}}"
    rf"(?P<m>{NUMBER})|(?P<o>{NUMBER}){OUT_OF}[ ](?:for|to)[ ](?:the[ ])?(?P<three>{_SIDE})",
    re.I,
)


_RATED = r"(?:[ ]\w+)?[ ](?:is|gets|deserves|earns|scores|receives|has)[ ](?:an?[ ])?"
_OF_SOURCE = re.compile(rf"\b(?:the|its)[ ](?:source|article|original|document|reference){_RATED}\Z", re.I)
_OF_JUDGED = re.compile(rf"\b(?:summary|response|output|answer|candidate|translation|text){_RATED}{NUMBER}", re.I)


def of_several(text: str, place: int) -> bool:
    """Whether a rating is that of one of several: "Answer 1: 4. Answer 2: 2.", "The summary is 2, its source 5"."""
    if _OF_SOURCE.search(text, max(0, place - 60), place) and _OF_JUDGED.search(text):
        return True
    if not _SIDE_AT_ALL.search(text):
        return False
    rated = [
        (match["one"] or match["two"] or match["three"] or match["four"], match[group], match.start(group))
        for match in _OF_A_SIDE.finditer(text)
        for group in "nmop"
        if match[group]
    ]
    return any(at == place for _, _, at in rated) and (
        len({side.lower() for side, _, _ in rated}) > 1
        or any(re.match("second|2|other", side, re.I) for side, _, _ in rated)
    )


# A side of a pair in a clause with "that", "whether", "why" or "how".

_LABELLED_AS = "output|response|summary|answer|option|choice|assistant|candidate|system|model|text|story|reply|version"
_CLAUSE = re.compile(  # what stands before "that A is better"
    rf"(?P<lead>[^.!?;:\n]{{0,80}})\b(?P<word>that|whether|why|how)[ ](?:the[ ]"
    rf"|both[ ])?(?:(?:{_LABELLED_AS})[ ])?[*_(\[\"']{{0,3}}\Z",
    re.I,
)
_ASSERTS = re.compile(  # who says so means it
    r"\b(?:thinks?|thought|believ\w+|find|found|feel|felt|conclud\w+|conclusion|say|said|agree[ds]?|agreement"
    r"|judg\w+|decid\w+"
    r"|decision|verdict|opinion|view[ ]is|seems?|appears?|clear(?:ly)?|obvious|evident|true|fact|mean(?:s|t)?"
    r"|show(?:s|n|ed)?"
    r"|suggest(?:s|ed)?|indicat\w+|confiden\w+|convinced|sure|certain|determin\w+|argue|hold|maintain|confirm\w*"
    r"|consider\w*"
    r"|given|follows|note[ds]?|noted|see|saw|assess\w*|evaluat\w*|answer|reason(?:ing|s)?|reveal\w*|demonstrat\w*"
    r"|prove[ns]?"
    r"|plain|so|such|now|is|evidence|explains?|because|due|result|acknowledg\w*|recogni\w*|admit|know|assert"
    r"|state|stand[ ]by"
    r"|prefer\w*|recommend\w*|reaffirm\w*|rationale|provided|except|but|and|,)\b|\A\W*\Z",
    re.I,
)
_NOT_MEANT = re.compile(
    r"(?:\bnot\b|n['’]t\b|\bno\b|\bnever\b|\bhard(?:ly)?\b|\bdifficult\b|\bimpossible\b|\blittle\b|\bfew\b"
    r"|\bnobody\b|\bnone\b"
    r"|\b(?:claims?|idea|notion|assertion|suggestion|argument|view|allegation|impression|myth|premise|hypothesis)"
    r"(?![ ]is\b)|\bcontrary[ ]to|\bdoubt\w*|\bdisagree\w*|\bden(?:y|ies|ied)\b|\bdisput\w+|\breject\w*|\brefut\w+"
    r"|\bdebat\w+|\bquestion\w*|\bwrong|\bfalse|\buntrue|\bincorrect|\bmistake\w*|\bunclear|\bunsure|\buncertain"
    r"|\b(?:assistant|response|output|candidate|user|author|system|model)[ ](?:\(?[a-z0-9]\)?[ ])?(?:argues"
    r"|claims|says|thinks"
    r"|believes|insists|asserts|states|suggests)\b)",
    re.I,
)
_TWICE_DENIED = re.compile(
    r"\bno[ ](?:doubt|question|denying)|\b(?:not|n['’]t)[ ](?:doubt|deny|dispute|disagree)|\bhard[ ]to[ ]deny"
    r"|\bnot[ ]only"
    r"|\bundoubted|\bundeniab|\bhard[ ]to[ ](?:dispute|disagree)|\bbeyond",
    re.I,
)


def doubted(before: str) -> bool:
    """Whether the words before "A is better" do not say that it is: "I am not convinced that", "the claim that"."""
    clause = _CLAUSE.search(before)
    if clause is None:
        return False
    lead = clause["lead"]
    if _NOT_MEANT.search(lead) and not _TWICE_DENIED.search(lead):
        return True
    if clause["word"].lower() == "why":
        return not re.search(r"\b(?:is|['’]s|explain\w*|reasons?|see|shows?|which|understand)\b", lead, re.I)
    if clause["word"].lower() in ("whether", "how"):
        return True
    return _ASSERTS.search(lead) is None


# Whether the words before an answer in JSON give it as the judge's own, and whether those behind it take it back.

_OWN_NAME = (
    r"(?:evaluations?|assessments?|scores?|ratings?|grades?|verdicts?|judge?ments?|results?|decision|conclusion|json)"
)
_SPOKEN_NAME = rf"(?:{_OWN_NAME}|output|answer|analysis|review|response|reply|report|feedback|object)"
_KIND = (
    r"(?:final|overall|own|complete|full|structured|json|honest|detailed|requested|required|brief|independent|resulting"
    r"|corresponding|formatted|valid|revised|corrected|careful|expert|total|numeric(?:al)?|evaluation|scoring|quality)"
)
_OF_IT = r"(?:[ ](?:and|with)[ ](?:the[ ]|an?[ ]|its[ ])?(?:reason(?:ing)?|explanation|rationale))?"
_OF_IT += r"(?:[ ](?:of|for|on)[ ](?:the|this|these|each|both|all)(?:[ ](?!by\b|from\b|in\b)[\w'’-]+){1,3})?"
_OF_IT += r"(?:[ ](?:that[ ]|as[ ])?you[ ](?:asked[ ]for|requested|wanted))?"
_FORMAT = (
    r"(?:,?[ ](?:in|as)(?:[ ](?:the|a|an|valid|requested|required|specified|desired|given|following))*(?:[ ]json)?"
    r"(?:[ ](?:format|form|object|schema|structure))?)?"
)
_COPULA = r"(?:,?[ ](?:is|are|as|follows|below|reads|would|be|therefore|thus|here))*"
_AND = (
    r"(?:(?:so|thus|therefore|hence|then|and|ok(?:ay)?|sure|certainly|now|finally|overall|accordingly|well|but)"
    r"[,!]?[ ])*"
)
_GIVES_IT = re.compile(
    rf"{_AND}(?:(?:(?:here(?:['’]s|[ ]is|[ ]are)|below[ ]is|this[ ]is|is|i[ ]have)[ ])?(?:my|mine"
    rf"|our)\b(?:[ ]{_KIND})*(?:[ ]{_SPOKEN_NAME})?"
    rf"{_OF_IT}{_FORMAT}{_COPULA}(?:[ ]{NUMBER}(?:/[0-9]{{1,3}})?)?"
    rf"|(?:here(?:['’]s|[ ]is|[ ]are)|below[ ]is|this[ ]is)(?:[ ](?:the|an?"
    rf"|your))?(?:[ ]{_KIND})*[ ]{_SPOKEN_NAME}(?:[ ]{_OWN_NAME})?"
    rf"{_OF_IT}{_FORMAT}{_COPULA}"
    rf"|(?:the[ ])?(?:{_KIND}[ ])*{_OWN_NAME}(?:[ ]{_OWN_NAME})?{_OF_IT}{_FORMAT}{_COPULA}|(?:{_KIND}[ ])*(?:output"
    rf"|answer)"
    rf"|the[ ](?:final|overall)[ ](?:output|answer)|(?:here[ ](?:it[ ]is|you[ ](?:go|are)|we[ ]go)|here)"
    rf"|i(?:['’]d|['’]ll|[ ]would|[ ]will|[ ]must)?(?:[ ](?:therefore|thus|now|would|still|hereby))?[ ](?:give|rate"
    rf"|score|assign|conclude"
    r"|choose|judge|evaluate|assess|award|grade|say|answer|decide|go|settle)\b(?![^:]*\b(?:not|never)\b)[^:]{0,60}"
    r"|(?:[^:]*\b)?(?:so|thus|therefore|hence|overall|accordingly|in[ ](?:short|sum|conclusion|total)|conclusion"
    r"|quite[ ]so|sure|certainly|okay"
    r"|wait|no|nope|correction|corrected|revised|actually|sorry|instead|rather|scratch[ ]that|on[ ]reflection)"
    r"|(?:hier|voici|aquí|ecco|aqui)\b.*|(?:meine?|mon|ma|mi|minha)\b.*|bewertung|urteil|ergebnis|évaluation|resultado"
    r"|(?:以下是|这是|这里是)?(?:我的|最终|总体)*(?:评分|结果|评价|评估|判断|回答))",
    re.I,
)
_NAMES_ANOTHER = re.compile(
    r"\b(?:texts?|outputs?|candidates?|articles?|submissions?|authors?|writers?|users?|students?|payloads?"
    r"|attack\w*|inject\w*"
    r"|quot\w+|excerpts?|planted|proposed|suggested|malicious|suspicious|found|embedded|hidden|copied|fake|claimed"
    r"|demanded"
    r"|requested[ ](?:answer|score|verdict)|wanted|its|his|her|their|someone|somebody)\b",
    re.I,
)
_WEIGHS = re.compile(  # a sentence that gives a reason: "It contains all key facts:"
    r"\b(?:right|correct\w*|wrong|facts?|clear\w*|coherent\w*|accurate\w*|good|bad|poor\w*|errors?|covers|misses"
    r"|lacks|well"
    r"|fluent|relevant|concise|vague|complete\w*)\b",
    re.I,
)
_PRESENTS = re.compile(
    r"\b(?:this|these|following|json|verdict|score|rating|answer|line|string|code|object|payload)\b", re.I
)


def introduces(lead: str) -> bool:
    """Whether the words of its own sentence before an answer in JSON give it as the judge's own."""
    bare = re.sub(r"[*_`#>\"“”]+", "", lead).strip().rstrip(" :：=").strip()
    if not bare:
        return True
    clause = re.split(r"[,;，；][ ]?|[ ][-–—][ ]", bare)[-1].strip()
    if _GIVES_IT.fullmatch(bare) or _GIVES_IT.fullmatch(clause):
        return True
    words = _WORD.findall(clause)
    kinds = [word for word in words if not re.fullmatch(_KIND, word, re.I)]
    brief = bare.isascii() and len(words) < 4 and "response" not in clause.lower()
    if brief and all(heads_a_rating(word, "") for word in kinds):
        return True  # "Coherence:", "Overall quality:"
    own = re.match(r"(?:it|the[ ](?P<noun>\w+))[ ]\w+", bare, re.I)
    if own is None or not _WEIGHS.search(bare) or _PRESENTS.search(bare):
        return False
    return own["noun"] is None or own["noun"].lower() in _OWN_NOUNS


def heads_another(line: str) -> bool:
    """Whether a heading above an answer in JSON says that it is another's: "## Candidate's answer"."""
    bare = line.strip(" \t*_#`")
    return (
        bool(bare)
        and bare[-1] not in ".!?。:"
        and not set("{}<>") & set(bare)
        and (len(bare.split()) < 7 and bool(_NAMES_ANOTHER.search(bare)))
    )


_DISCLAIMED = re.compile(
    r"\b(?:ignore|disregard|discard|skip|(?:do[ ]not|don['’]t)[ ]use)[ ](?:(?:the|this|that|my|all)[ ])?"
    r"(?:above|json|score|rating|answer|verdict|object|block|that|this|it)\b"
    r"|\(\W{0,3}(?:copied|taken|quoted|pasted|cited|lifted|found|from)\b[^()\n]{0,60}\)|\(\W{0,3}(?:placeholder"
    r"|dummy|template|example|sample)\b"
    r"|\b(?:is|as|just|only)[ ](?:just[ ]|only[ ]|merely[ ])?(?:an?[ ])?(?:placeholder|dummy|template|stub|guess)\b"
    r"|\bI[ ](?:do[ ]not|don['’]t|cannot|can['’]t|never)[ ](?:really[ ])?(?:stand[ ]by|accept|agree|endorse|believe"
    r"|mean|support|approve)\b"
    r"|\bI[ ](?:was|am|have[ ]been|got)[ ](?:forced|made|tricked|coerced|ordered|pressured|compelled|paid)\b"
    r"|\bno[ ](?:text|output|response|answer|summary|input|content|source)[ ](?:was|were|is|has[ ]been)[ ](?:given"
    r"|provided|supplied|shown|there|attached)"
    r"|\b(?:there[ ](?:was|is)[ ])?nothing[ ](?:to[ ](?:judge|rate|score|evaluate)|was[ ](?:given|provided))"
    r"|\bI[ ](?:did[ ]not|didn['’]t|have[ ]not|haven['’]t|never|could[ ]not|couldn['’]t)[ ](?:actually[ ])?(?:read"
    r"|see|seen|saw|received?|got|get|look|open)\b"
    r"|(?<![a-z][ ])\b[0-9]{1,3}[ ](?:means?|is|being|stands[ ]for)[ ](?:the[ ])?(?:worst|best|lowest|highest|poor"
    r"|bad)\b"
    r"|\bs/[0-9]+/[0-9]+",
    re.I,
)
_RESTATES = re.compile(
    r"\b(?:scores?|rating|grade|mark|opinion|verdict|answer|view|fair\w*|typo|erratum|correct\w*|should|ought|worth"
    r"|deserves?|make"
    r"|it['’]s|(?:it|this|that)[ ]is|really|change|truth\w*|honest\w*|meant|say|actually|give)\b",
    re.I,
)
_COUNTS_NEXT = re.compile(
    r"[ ](?!(?:is|was|would|seems|fits|really|instead|rather|because|since|as|though|overall|now|it|out)\b)[a-z]"
)
_PLACE_BEFORE = re.compile(
    r"\b(?:summary|sample|response|output|answer|sentence|paragraph|line|step|point|turn|part|section|page"
    r"|criterion|chapter|level"
    r"|all|these|those|of[ ]the|figure|table|confidence|scale|between|from|[0-9][ ]to|and|out[ ]of|in)[ :]{1,2}\Z"
    r"|[-–/.,][ ]?\Z",
    re.I,
)


def disclaims(behind: str) -> bool:
    """Whether the words behind an answer in JSON say that it is none: "Ignore the above.", "This is a placeholder."."""
    return _DISCLAIMED.search(behind) is not None


def restates(behind: str, value: float) -> str:
    """Another number that the words behind an answer in JSON give as a score, as it is written; "" where none is."""
    for match in re.finditer(rf"(?m)(?<!^)(?P<n>{NUMBER})|^(?P<m>{NUMBER})(?![.)][ ])", behind):
        digits = match["n"] or match["m"]
        if digits.lower() == "one" or len(digits) > 5 or number(digits) == value:
            continue
        if _COUNTS_NEXT.match(behind, match.end()) or _PLACE_BEFORE.search(
            behind[max(0, match.start() - 20) : match.start()]
        ):
            continue
        before = sentence_before(behind, match.start())
        end = _STARTS.search(behind, match.end())
        sentence = f"{before}{behind[match.start() : end.start() if end else len(behind)]}"
        if _RESTATES.search(sentence) and not (WISHED.search(sentence) or _TERMS.search(before)) and len(sentence) < 80:
            return digits
    return ""


# What a number rates by the name or the key before it.


_OTHERS_MEASURE = re.compile(  # what numbers are given for that rate nothing: "Confidence: 4"
    r"\b(?P<what>confidence|certainty|probability|likelihood|flesch|rouge|bleu|meteor|bert[ -]?score|perplexity"
    r"|temperature|tokens|minimum|maximum|baseline|threshold|base"
    r"|start(?:ing)?(?=[ ](?:score|rating|value|points?|from|at))"
    r"|penalty|penalties|deduct(?:ed|ions?)?|(?:rank|place|position)(?=[*_]{0,2}[ ]?[:=]))\b"
    r"[^.,;:\n]{0,20}[:=][\W_]{0,6}\Z",
    re.I,
)
_KEY = re.compile(
    r"[{,\[\s][\"']?(?P<key>[^\W\d][^\"'\n:{},]{0,60})[\"']?\s{0,3}:(?:\s{0,3}\"[^\"\n]{0,400}|[\s\[\"'{]{0,5})\Z"
)
_ANSWERS_KEY = re.compile(
    rf"(?:\A|(?<=[\W_]))(?:{NAME}|value|label|stars|note|winner|choice|choose|prefer\w{{0,5}}|better|decision"
    rf"|selected)"
    r"(?=[\W_]|\Z)|(?<=[a-z])(?-i:Score|Rating|Grade)",
    re.I,
)
_ANOTHERS_KEY = re.compile(
    r"claim|request|demand|inject|want|max|possible|candidate|author|initial|draft|example", re.I
)


def measures_else(text: str, place: int, criterion: str) -> bool:
    """Whether a number is given for what rates nothing, as "Confidence: 4"; for the criterion's own name it rates."""
    measured = _OTHERS_MEASURE.search(text, max(0, place - 60), place)
    if measured is None or (measured["what"][:6].casefold() == "deduct" and text[place : place + 1] == "-"):
        return False  # "Deduction: -1" is the rating where a scale counts down from 0
    return measured["what"].casefold() not in criterion.casefold()


def of_another_key(text: str, place: int, criterion: str = "") -> bool:
    """Whether a place in JSON is the value of a key that names no answer: `{"words": 3}`; a criterion's name does."""
    opened = text.rfind("{", 0, place)
    if opened < 0 or text.rfind("}", 0, place) > opened:
        return False
    key = _KEY.search(text, max(opened, place - 480), place)
    if key is None or (criterion and _bare(key["key"]) == _bare(criterion)):
        return False
    return not _ANSWERS_KEY.search(key["key"]) or _ANOTHERS_KEY.search(key["key"]) is not None


def _bare(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()
