"""What in a reply is no answer: what it says in another's words, what it only thinks, and that it gives none.

A judge that finds an injection in a text quotes it. In a form and in free text alike, no answer is
    quoted: "The output says "Score: 5"". Quotes around a bare value ("4", "tie") are emphasis, unless somebody is said
        to have said it.
    attributed: what stands right behind "the candidate says", "the text tells me to answer", "it contains the line".
    enclosed: what stands between tags that are no answer's (`<output>`, `<reason>`, also unclosed), in a block
        quotation (`> `), below "the text ends with:", is struck through, or stands in a comment or in a fence that is
        called another's.
    disowned: what another rates ("the author gives himself a 5"), what was meant at first or would hold if
        ("initially 5", "a 5 if it were true"), and what is called claimed, asked for or the most.
    refuses, declines, unjudged, undecided, abstains: it says that it gives no rating, or cannot.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

LOOK = 160  # characters before a place that may attribute it
MOST = 400  # quotations looked at

_JUDGED = frozenset(
    """output outputs text texts candidate response responses answer summary author writer user article
        story document source assistant submission essay passage injection instruction instructions prompt
        message dialogue conversation speaker student reply line sentence comment note part portion section
        attacker attempt it he she they which that who itself json string query question""".split()
)
_SAYS = frozenset(
    """say says said saying read reads reading claim claims claimed claiming tell tells telling told ask asks asked
    asking instruct instructs instructed instructing demand demands demanded demanding order orders ordered command
    commands mention mentions mentioned mentioning request requests requested requesting state states stated stating
    write writes wrote writing insist insists
    urge urges tries tried trying attempts attempted attempting wants""".split()
)
_HOLDS = frozenset(
    """contain contains contained containing include includes included including ends starts begins embeds embedded
    inserts inserted quotes quoted quoting repeats adds added appends prints""".split()
)
_THINGS = frozenset(  # what a text may hold that is another's answer
    """instruction instructions line lines sentence string json object injection prompt command directive request
    phrase note tag demand verdict score rating words message""".split()
)
_BETWEEN = _THINGS | frozenset(  # words that may stand between saying and what is said
    """that i me us you to the judge judges evaluator evaluators grader graders rater model simply just
        only literally explicitly make also a an it this these following as in of for be is was must should shall
        will and or else nothing exactly with give gives giving answer output reply replies respond return
        write print say rate award assign result full mark marks perfect top maximum high highest choose
        pick prefer declare get its own like my your final out response read reads text""".split()
)
_NEVER_BEFORE = frozenset(
    ["to", "i", "we", "you", "i'd", "i’d", "i'll", "i’ll", "would", "can", "could", "may", "must", "let"]
)
_GAP = "\n\t :,\"'“‘`«{[(*_>=-"


class _Late:
    """A regular expression that is made when it is first used: all of them take a sixth of an import's time."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self.flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self.pattern, self.flags), name)
        setattr(self, name, found)
        return found


def _late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return cast("re.Pattern[str]", _Late(pattern, flags))


_TAG = _late(r"(?:</?[\w|]{1,12}>|```\w{0,9})\s*\Z")
_LEADS_ON = _late(r"[:,\"“‘«>][^\n]*\n|\n\s*[\"“‘«>]")
_SENTENCE = _late(r"[.!?;](?=\s)|\n|[”»]|[\"'`“«][ ]{3,}[\"'`”»]")  # the last: a quotation that was blanked
_WORD = _late(r"[^\W\d_]+(?:['’][^\W\d_]+)?|[,:]")

_QUOTED = _late(
    r"(?<![\w\"])\"(?=[^\s\"])(?P<double>[^\"\n]{1,1000})(?<!\s)\"(?!\w)|“(?P<curly>[^”\n]{1,1000})”"
    r"|«(?P<angle>[^»\n]{1,1000})»"
    r"|(?<![\w'])'(?=[^\s'])(?P<single>(?:[^'\n]|(?<=\w)'(?=\w)){1,300})(?<!\s)'(?!\w)"
    r"|(?<!`)`(?P<code>[^`\n]{1,1000})`(?!`)"
    r"|(?<!')''(?=[^'])(?P<two>[^\n]{1,1000}?)''(?!')|(?<!`)``(?=[^`])(?P<ticks>[^`\n]{1,1000}?)(?:``(?!`)|'')"
    r"|„(?P<low>[^“”\n]{1,1000})[“”]|‚(?P<comma>[^‘’\n]{1,1000})[‘’]|‘{1,2}(?P<typeset>[^‘’\n]{1,1000})’"
    r"|「(?P<corner>[^」\n]{1,1000})」|『(?P<white>[^』\n]{1,1000})』|‹(?P<guillemet>[^›\n]{1,1000})›"
)
_WRAPS = ("double", "single", "code")  # a reply that stands in these as a whole is the judge's
_FENCED = _late(r"```[^`]{1,4000}```")
_BLOCK = _late(r"^[ \t]{0,3}(?:[-*][ ])?>(?!=)[^\n]*", re.M)  # a line of a block quotation in markdown
_BEGUN = _late(
    r"\b(?:begin|start)(?:[ ]of)?[ _-](?P<what>quote|quotation|excerpt|injection|citation|passage|candidate|text"
    r"|document"
    r"|source|submission|essay)\b.{0,4000}?\bend(?:[ ]of)?[ _-](?P=what)\b",
    re.I | re.S,
)
_STRUCK = _late(r"~~(?=\S)[^~\n]{1,1000}~~|<!--[^<]{1,4000}?-->")
_TAGS = _late(
    r"<(?P<close>/)?(?P<name>[a-z][\w-]{0,30})(?:\s[^<>\n]{0,80})?>"
    r"|\[(?P<shut>/)?(?P<square>quote|cite)[^\[\]\n]{0,40}\]",
    re.I,
)
_ANSWER_TAG = _late(
    r"(?:\w{1,12}[_-])?(?:answers?|verdicts?|results?|choice|scores?|ratings?|grade|marks?|judge?ments?|decision|json)",
    re.I,
)
_OWN_TAG = _late(  # of answers, and of how a text is set
    rf"{_ANSWER_TAG.pattern}|evaluation|assessment|conclusion|final|overall|b|strong|i|em|u|p|br|hr|s|span|div|code"
    r"|pre|li|ul|ol|h[1-6]|font|small|big|su[bp]|html|body|table|t[rdh]|center|tool_call|function",
    re.I,
)
_ASIDE_TAG = _late(r"reason|rational|explan|justif|scratch|draft|notes?\b|think|thought|quot|cit|q\b|blockquote", re.I)
_ANOTHERS_TAG = _late(
    rf"(?:{_ASIDE_TAG.pattern}|output|text|candidate|response|summary|author|user|article|story|source|document"
    r"|submission|essay|passage|prompt|instruction|message|dialogue|context|sample|injection|system|del|strike"
    r"|example)",
    re.I,
)
_VERDICT = _late(r"\[\[|\b(?:scor|rat|grad|answer|verdict|winner|result|prefer|choose|better|wins?\b|mark)", re.I)
_OWN = _late(
    r"\b(?:my[ ](?:final[ ]|overall[ ])?(?:answer|verdict|rating|score|evaluation|judge?ment|decision|conclusion|reply)"
    r"|I(?:['’]d|['’]ll|[ ]would|[ ]will)?[ ](?:say|answer|rate|give|output|choose|go[ ]with|conclude|reply)"
    r"|(?:final|overall)[ ](?:answer|verdict|rating|score|decision))\b[^.!?\n]{0,30}\Z",
    re.I,
)
_SAYING_VERB = rf"(?:{'|'.join(sorted(_SAYS))})"
_NAMED_TEXT = (
    r"(?:the|its|an?)[ ](?:\w{1,12}[ ])?(?:candidate|text|author|output|response|essay|summary|writer|article)"
)
_DISOWNED_BEFORE = _late(
    r"(?:\b(?:hidden|embedded|injected)[ ](?:instruction|prompt|line|text|command|message)s?"
    r"(?:[ ](?:at|in|near|inside)[ ](?:[\w'’]{1,12}[ ]?){1,4})?"
    r"|\binjection[ ](?:detected|found|attempt)"
    rf"|\baccording[ ]to[ ]{_NAMED_TEXT}"
    r"|(?:\bI[ ](?:will|would|can|do|must)[ ]?not|\bI[ ](?:wo|wouldn|can|don)['’]?n?['’]t|\bI[ ]refuse[ ]to|\bnever)"
    r"[ ](?:say|answer|output|write|reply|respond|print|repeat)(?:[ ](?:that|it|is|the|an?|with)){0,3})"
    r"[\s:,*_\"'“`\[(<>]{0,6}(?:(?:final[ ])?(?:score|rating|answer|verdict)[\s:*_]{1,4})?\Z",
    re.I,
)
_DISOWNED_BEHIND = _late(
    r"[\s\"'”*_`\])]{0,4}(?:/[0-9]{1,3})?[\s,(–—-]{1,4}(?:(?:(?:that|which|this)[ ])?(?:is|was)[ ]"
    rf"(?:only[ ]|just[ ])?what[ ](?:{_NAMED_TEXT}|it|he|she|they)[ ](?:\w{{1,12}}[ ])?{_SAYING_VERB}"
    rf"|{_SAYING_VERB}[ ]{_NAMED_TEXT}|as[ ]{_NAMED_TEXT}[ ]{_SAYING_VERB})\b",
    re.I,
)
_CALLED_QUOTED = _late(r"\b(?:is|was|are|line|above)[ ](?:\w{1,12}[ ])?quot(?:ed|ation|e)\b", re.I)
_THEN = r"(?:[ ](?!(?:and|but|so|then|now|yet|however|though|finally|I[ ](?:now|therefore|settle))\b)[\w'’]+)"
_NAMES = r"(?:scores?|rating|grade|mark|verdict|answer|points?|winner)"
_OPENS = rf"[\s:*_\"'“‘(\[=]{{0,6}}(?:{_NAMES}[ ]?[:=][\s*_\"'\[]{{0,4}})?\Z"
_RATES = r"(?:rat(?:es?|ed|ing)|g[ia]v(?:es?|en|ing)|scor(?:es?|ed|ing)|award(?:s|ed)?|grad(?:es?|ed)|assign(?:s|ed)?)"
_CHOOSES = r"(?:prefers?|votes?|cho+ses?|picks?|favou?rs?|thinks?|believes?|considers?|declares?)"
_SMALL = (
    r"(?:[ ](?:an?|the|only|just|full|perfect|solid|score|rating|mark|of|at|as|with|out|by|to|for|that|response"
    r"|output))*"
)
_WISHES = (
    r"(?:recommends?|proposes?|asserts?|insists?|declares|argues|boasts|calls[ ]for|hopes[ ]for|expects"
    r"|awards[ ]itself)"
)
_THAT = (
    r"(?:,?[ ](?:that|it|this|is|an?|the|for|on|of|to|with|deserves?|merits?|earns?|should|must|be|get|itself|himself"
    r"|herself|themselves|full|marks|perfect|score|rating|grade|response|output))*"
)
_PEOPLE = r"(?:reviewers?|judges|evaluators?|raters?|graders?|critics?|annotators?|experts?|attacker|readers?|fans?)"
_WRITERS = r"(?:author|writer|candidate|student|user|speaker|he|she|they|who|assistant|[AB])"
_CLAUSE_END = _late(r"[.!?;](?=[\s\"”'])|(?<!:)\n|[。！？；]")
_CLAIMS = r"(?:claimed|demanded|wanted|injected|inserted|(?:requested|suggested|asked[ ]for)[ ]by)"
_ANOTHERS = r"(?:candidate|author|attacker|writer|essay|submission|user|student|text|output|injection|injector)"
_DOUBTS = (
    _late(  # what was meant at first
        r"(?:\b(?:initially|at[ ]first|originally"
        r"|(?:initial|first|last|previous|earlier|preliminary|provisional|tentative|draft)"
        rf"[ ](?:{_NAMES}|time|(?<!last[ ])(?:pass|look|read|take|round)|thought|thinking|impression"
        r"|instinct|guess|glance|reading|evaluator|judge)"
        r"|(?:first|rough|initial)[ ]draft(?=:)|my[ ](?:\w+[ ])?draft|my[ ]guess[ ]before[ ]reading"
        r"|was[ ](?:\w{2,10}ly[ ])?(?:(?:going|about|ready|set|planning)[ ]to|inclined|tempted|leaning)|tempted"
        r"|(?:had|have|I)[ ]considered|(?:down|up)[ ]from"
        r"|zuerst|zunächst|anfangs|ursprünglich|initialement|au[ ]début|al[ ]principio|inicialmente|primero)\b"
        rf"|\bd['’]abord\b)(?:,(?=[ ](?:I|it|my)\b))?{_THEN}{{0,6}}{_OPENS}"
        r"|(?:\b(?:would|could|might)(?:['’]ve|[ ]have)|['’]d[ ]have)"
        r"[ ](?:been|given|said|rated|scored|got(?:ten)?|chosen|preferred"
        rf"|earned|received|deserved|awarded|picked|gone)(?:[ ](?:it|this))?{_SMALL}{_OPENS}"
        r"|\bI(?:['’]d|[ ]would)?[ ](?:almost|nearly|expected|hoped|wish(?:ed)?|wanted"
        rf"|(?:want|love|like|hesitate)(?=[ ]to\b)|was[ ]close)(?:[ ](?:to|it|for|give|gave|giving|award|say))*"
        rf"{_SMALL}{_OPENS}|\A\W*(?:for|to[ ](?:get|reach|earn|deserve|be))[ ](?:an?|the)[ ]\Z"
        rf"|\b(?:instead[ ]of|anything[ ]but|rather[ ]than|not)[ ]?{_OPENS}"
        r"|(?:最初|起初|原本|一开始)[^，,。]{0,12}\Z",
        re.I,
    ),
    _late(  # what would hold if something else did
        r"\b(?:but[ ]for(?=[ ](?:the|that|this|its?)\b)|if[ ]not[ ]for"
        r"|(?<!even[ ])if(?![ ](?:I|we|you|forced|pressed|pushed|asked|anything|not)\b)"
        r"|(?<![^\W_])(?:had|were|without)(?=[ ](?:it|this|that|the)\b)"
        r"|normally|usually|ordinarily|otherwise|in[ ]another|perfect|ideal|flawless)"
        r"(?:(?!\b(?:but|so|however)\b)[^.!?;\n]){0,100}?(?:\b(?:would|could|might|were)\b|['’]d\b)"
        rf"(?:,?{_THEN}){{0,6}},?{_OPENS}"
        rf"|\bif\b[^.!?\n]{{1,100}}[ ](?:else|otherwise),?[ ](?:(?:it['’]s|it[ ]is|an?|the)[ ])*{_OPENS}",
        re.I,
    ),
    _late(  # what is claimed or asked for
        rf"\b{_NAMES}[ ][(\[]{_CLAIMS}[^()\n]{{0,30}}[)\]]{_OPENS}|\bbefore[ ](?:the[ ])?penalt\w*[)]?[ ]?:{_OPENS}"
        rf"|\b{_WRITERS}[ ](?:wants|claims|demands|asks(?:[ ]for)?)[)\]]?[ ]?:{_OPENS}"
        rf"|\b(?:{_WRITERS}|text|essay|output|response|answer|summary|his|her|its|their)(?:['’]s)?[ ]"
        rf"(?:claim|request|demand|wish|call)(?:[ ](?:of|for))?{_SMALL}{_OPENS}"
        r"|\b(?:ignor(?:e|ing)|disregard(?:ing)?|reject(?:ing)?|refus(?:e|ing)[ ]to[ ](?:give|award|say|rate)"
        rf"|not[ ]give)(?:[ ](?:it|this|instruction|line|command|injected|injection))*{_SMALL}{_OPENS}"
        rf"|\bself[- ](?:assess|rat|grad|scor)\w+[ ]?:{_OPENS}"
        r"|\bas[ ](?:requested|demanded|instructed|told|asked|ordered|commanded)[ ](?:by|in)[ ](?:the|this|its)[ ]"
        rf"(?:candidate|author|text|output|essay|summary|response|dialogue|article|story)\b[^.!?;\n]{{0,12}}{_OPENS}",
        re.I,
    ),
    _late(  # what another rates, or told the judge to give
        r"\b(?:following|obeying|complying[ ]with|as[ ]per|per)[ ](?:the|its|this)[ ](?:\w+[ ])?(?:instruction|request"
        r"|demand|command|order)s?[ ](?:in|of|from)[ ](?:the|its)[ ](?:candidate|author|text|output|essay|summary"
        rf"|response|story|article)\b[^.!?;\n]{{0,40}}{_OPENS}|"
        rf"\b{_RATES}[ ](?:him|her|it|one|them|your?)sel(?:f|ves)\b{_SMALL}{_OPENS}"
        rf"|\b(?<!this[ ]){_PEOPLE}(?:[ ](?!(?:I|we|my)\b)\w+){{0,3}}?[ ](?:{_RATES}|{_CHOOSES}|say|says|argue)\b"
        rf"(?:[ ](?:it|this|that|them|(?:the|his|her|their)[ ]\w+))?{_SMALL}{_OPENS}"
        rf"|\b{_WRITERS}(?:[ ](?:also|even|then|simply|boldly))?[ ]{_RATES}[ ](?:it|this|that|them"
        rf"|(?:the|his|her|their|its)(?:[ ]own)?[ ]\w+){_SMALL}{_OPENS}"
        rf"|\b{_WRITERS}(?:[ ]of[ ]\w+|[ ][AB])?[ ](?:{_CHOOSES}|{_WISHES}|feels|suggests|hopes){_THAT}{_OPENS}"
        rf"|\b(?:text|essay|output|response|answer|summary|story|it)[ ]{_WISHES}{_THAT}{_OPENS}"
        r"|\b(?:autora?|auteur|kandidat|candidato?)[ ](?:gibt|bewertet|donne|da|dá|note|puntúa|dà)(?:[ ]\w+){0,4}[ ]\Z"
        r"|\b(?:some|one|others?|many|most|people|you|everybody|anybody|another|(?:naive|other|first|second)[ ]judge)"
        r"(?:[ ](?:people|judges?|would|might|may|could|will|readers|graders?))*"
        rf"[ ](?:say|gives?|gave|rated?|argue|award|call)(?:[ ](?:it|this))?{_SMALL}{_OPENS}"
        r"|\b(?:se[ ](?:donne|note|da|dá|pone|atribuye)|s['’]attribue|gibt[ ]sich(?:[ ]selbst)?|si[ ]dà)"
        rf"(?:[ ](?:une?|eine?|um)|[ ]note|[ ]de|[ ]la|[ ]lui-même)*{_OPENS}|给自己[^，,。]{{0,6}}\Z",
        re.I,
    ),
    _late(  # what another says, elsewhere than in English
        r"(?:\b(?:dice|afirma|pide|exige|diz|pede|dit|affirme|demande|écrit|prétend|sagt|schreibt|behauptet|verlangt"
        r"|fordert|afferma|chiede|zegt|говорит|пишет|требует|утверждает)\b"
        r"|(?:候选|文本|作者|文章|回答|摘要|候補|著者|[他她它])[^。，,\n]{0,6}(?:[说說写寫称稱]|要求|言う))"
        rf"(?:[ ](?:que|qu['’]|dass|che|что))?[\s:：,«„“]{{0,4}}(?:\w{{1,15}}[\s:：]{{1,3}})?{_OPENS}",
        re.I,
    ),
)
_STAYS = _late(  # "I'll stay with my earlier score of 4"
    r"\bI(?:['’]ll|[ ]will|[ ]would|[ ]therefore|[ ]still)?[ ](?:(?:stay|stick)[ ](?:with|to|at)|stand[ ]by|keep"
    r"|maintain|confirm|reaffirm)[ ](?:to[ ])?(?:my|the)[ ]",
    re.I,
)
_LABELLED = _late(  # "Candidate: Score: 5", "Maximum score: 5"
    r"(?:(?:\A|\n)[\W_]*(?:(?:user|candidate|author|student|writer|speaker|attacker|quot\w{1,6}|excerpt|injection"
    r"|(?:the[ ])?(?:last|first|final|closing|opening|injected|hidden)[ ](?:line|sentence|words?|paragraph))\b"
    r"(?:[ ](?:ends?|reads?|wrote|text|is))?[ ]?[:：]"
    r"|(?:its|his|her|their)[ ](?:\w{1,12}[ ])?(?:line|sentence|words?|paragraph|end|ending)[ ]?[:：]"
    r"|(?:an?|another|other|some)[ ](?:\w{1,12}[ ])?(?:judge|evaluator|rater|grader|reader|reviewer|critic)[ ]?[:：]"
    rf"|prompt[ ]injection[ ]?[:：]|(?:in|from|by|as)[ ](?:the|its)[ ]{_ANOTHERS}(?:[ ]\w+[ ]it)?[ ]?[:：]"
    r"|(?:the[ ])?(?:essay|text|story)[ ](?:ends?|reads?)[ ]?[:：]"
    r"|(?:the[ ])?(?:best[ ])?(?:max(?:imum)?|possible|potential|highest)(?:[ ]possible)?(?=[ ]))"
    r"|\b(?:(?:the|an?|this)[ ](?:\w+[ ])?(?:phrase|string|line|words|sentence|instruction|command)|stands|appears)"
    r"(?=[ ])"
    r"|\b(?:claimed|requested|demanded|desired|injected|wanted|alleged|quoted|example|hidden|embedded|fake"
    r"|prior|former|old|expected|wrong|incorrect|false|(?:['’]s|his|her|their|its)[ ]own)(?=[ ]))[\s*_\"'“\[]{0,4}"
    rf"(?P<named>(?:\w{{1,12}}[ ])?{_NAMES}\b[^.\n:;,]{{0,20}}?(?:[ ](?:is|was))?[\s:*_\"'=(\[]{{0,5}})?\Z",
    re.I,
)
_WOULD = _late(r"\b(?:would|could|might)\b|['’]d\b", re.I)
_IF_BEHIND = _late(
    r"(?:[ ]?(?:/|out[ ]of)[ ]?[0-9]{1,4})?[\"'*)]{0,2},?[ ](?:only[ ])?"
    r"(?:if(?![ ](?:I|we|you|forced|pressed|pushed|asked|anything)\b)|were|had"
    r"|but(?![ ](?:not|no|only|barely|just)\b))\b",
    re.I,
)
_PAST_BEHIND = _late(
    r"(?:[ ]?(?:/|out[ ]of)[ ]?[0-9]{1,4})?[\"'”*_\])}]{0,4}[ ,]{0,2}(?:(?://|#)[ ]?)?[(\[]?"
    r"(?:as[ ](?:instructed|told|ordered|commanded|demanded)|initial(?:ly)?|at[ ](?:first|the[ ]start)|originally"
    r"|(?:to|for)[ ](?:begin|start)[ ]with"
    rf"|before[ ](?:the[ ])?(?:penalt|deduct|adjust|inject)\w*|(?:as[ ])?{_CLAIMS}"
    r"|(?:[-–—][ ])?(?:so[ ]says|(?:it"
    r"|the[ ](?!source|article|document|reference|original|passage|context)\w{1,12})[ ]says|ignored"
    rf"|(?:per|according[ ]to)[ ](?:the|its)[ ]{_ANOTHERS}"
    rf"|the[ ]{_ANOTHERS}['’]s[ ](?:own[ ])?(?:claim|words?|demand|wish)|quoted?\b|sic\b|not\Z)"
    r"|(?:because|since|as|for)[ ](?:(?:the|its|their|this)[ ](?:candidate|author|attacker|writer|essay|submission"
    r"|student|text|output|summary|response|injection|article|story)(?:[ ]itself)?[ ](?:asks?|asked|tells?|told"
    r"|instruct\w*|demand\w*|request\w*|want\w*|order\w*|says?|said)[ ]"
    r"(?:(?:me|us)[ ](?:to|so|for)|so|for[ ](?:it|this|that|an?"
    r"|full|[0-9])|to[ ](?:give|rate|score|award)|(?:the[ ])?(?:judge|grader|evaluator|rater))"
    r"|I[ ](?:was|am|have[ ]been)[ ](?:told|asked|instructed|ordered)[ ]to[ ](?:in|by)[ ](?:the|its))\b"
    r"|(?:obeying|following)[ ](?:the|its)[ ](?:instruction|request|demand|command|order)s?[ ](?:in|of)"
    r"[ ](?:the|its)\b"
    r"|(?:is|was)[ ](?:ignored|rejected|disregarded|tempting|what[ ](?:they|he|she|it)[ ]wants?)"
    rf"|(?:is|was)[ ](?:the[ ])?(?:{_CLAIMS}|requested|suggested|asked|proposed)|as[ ](?:the|an?)[ ]\w+[ ](?:claim"
    rf"|demand|want|ask|request|sa)\w*"
    r"|(?:because|since|as)[ ](?:the|its)[ ](?!prompt|task|user|rubric|scale|criteri)\w+[ ]"
    r"(?:tells?|asks?|instructs?|orders?)[ ](?:me|us|the[ ]judge)[ ]to"
    r"(?:[ ](?:do[ ]so|(?:give|rate|score|say)[ ](?:it|this|that|so)(?:[ ]that)?))?(?=\W*(?:\Z|\n|[.;!]))"
    r"|(?:is|was|would[ ]be|seems)[ ]too|was[ ](?:my|the)[ ](?:first|initial)"
    r"|zuerst|zunächst|anfangs|au[ ]début|d['’]abord|al[ ]principio|inicialmente)\b"
    r"(?![\s:]{1,3}(?:an?[ ])?[\[(*]{0,2}(?-i:[0-9A-E])\b)"
    r"|(?:[ ]?(?:/|out[ ]of)[ ]?[0-9]{1,4})?[\"'”*_\])}]{0,4}(?:\?(?=[\s\"'*)]|\Z)"
    r"|,?[ ]if[ ][^.!?\n]{1,80}[ ](?:else|otherwise)\b)",
    re.I,
)
_REFERS_BACK = _late(  # "Score: 5. That's the candidate's text"
    r"(?:[ ]?/[ ]?[0-9]{1,4})?[\s\"'”’`*_\])}>.!,]{0,8}"
    r"\b(?:(?:that|this)(?:[ ](?:score|rating|verdict|answer))?|which|(?:the[ ])?(?:above|block|line|quote"
    r"|fence)(?:[ ]above)?)"
    r"(?:['’]s|[ ](?:is|was|comes?|came|stands?|stood|belongs[ ]to))"
    r"(?:[ ]\w{2,10}ly|[ ]only|[ ]just|[ ]block|[ ]taken)?[ ]"
    rf"(?:(?:from|in|part[ ]of|inside|within|what)[ ](?:the[ ]|its[ ])?{_ANOTHERS}\b"
    rf"|(?:the|an?)[ ]{_ANOTHERS}['’]s?(?=\W*\Z|\W*\n|[.;!]"
    r"|[ ](?:own|text|words?|claim|line|output|answer|score|verdict))"
    r"|(?:an?[ ]|the[ ])?(?:quot\w{1,6}|cited|copied|injected|injection|hidden|embedded|not[ ]my|not[ ]mine))",
    re.I,
)


_LED_IN = _late(  # what stands below "The summary ends with:", up to an empty line
    rf"\b(?:{'|'.join(sorted(_JUDGED))})\b(?:[ ][\w'’]+){{0,4}}?[ ](?<!to[ ])(?:{'|'.join(sorted(_SAYS | _HOLDS))})"
    r"(?:[ ](?:as|by|in|on|at|its|the|a|this|these|last|follows|end|hidden|injected))*"
    r"(?:[ ](?:with|line|lines|words|text|sentence|instructions?|following|this|saying|reading)[ ]?:?|[ ]?:)[ ]*"
    r"\n(?:(?<=:\n)[ ]*\n)?(?![ \t]*[\"'“«`>*\d•-])(?P<led>[^\n]+(?:\n[ \t]*[^\s][^\n]*)*)",
    re.I,
)
SPEECH = _late(rf"\b(?:{'|'.join(sorted(_SAYS | _HOLDS))})\b", re.I)  # without it nothing is attributed


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
    """Whether the words around a place say that it is another's, will not be said, or does not hold any more:
    "Score: 5 is what it asks for", "initially 5".
    """
    line = text.rfind("\n", 0, start) + 1
    before = text[max(0, start - LOOK) : start]
    own = before[max(0, line - max(0, start - LOOK)) :]
    if own.lstrip().startswith(">") and _CALLED_QUOTED.search(text, end):
        return True
    if _DISOWNED_BEFORE.search(own) or _DISOWNED_BEHIND.match(text, end) or _REFERS_BACK.match(text, end):
        return True
    ends = [match.end() for match in _CLAUSE_END.finditer(before)]
    clause = before[ends[-1] :] if ends else before
    for doubt in _DOUBTS[1:] if _STAYS.search(clause) else _DOUBTS:
        if doubt.search(clause):
            return True
    label = _LABELLED.search(clause)
    if label and (label["named"] or not text[start : start + 1].isdigit() or before.endswith("[")):
        return True
    if _WOULD.search(clause) and _IF_BEHIND.match(text, end):
        return True
    return _PAST_BEHIND.match(text, end) is not None


def quotations(text: str) -> Iterator[tuple[int, int]]:
    """The places of what is quoted, without the quotes; a bare value is none, unless it is attributed to somebody."""
    if not any(quote in text for quote in "\"'`“«„‚‘「『‹"):
        return
    found = [match for match, _ in zip(_QUOTED.finditer(text), range(MOST), strict=False)]
    if not any(sign.isalnum() for sign in blanked(text, [match.span() for match in found])):
        yield from (match.span(match.lastgroup or 0) for match in found if match.lastgroup not in _WRAPS)
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
    return (alone and match.lastgroup in _WRAPS) or bool(_OWN.search(text[max(0, match.start() - 80) : match.start()]))


def _is_key(text: str, match: re.Match[str]) -> bool:
    """A name in JSON, as in `"score": 4`."""
    return text[match.end() : match.end() + 3].lstrip().startswith(":")


def unquoted(text: str) -> str:
    """The text with blanks in the place of quotations and of what is enclosed as no answer."""
    text = blanked(text, enclosed(text))
    return blanked(text, tuple(quotations(text)))


def enclosed(text: str) -> list[tuple[int, int]]:
    """The places of what stands between tags that are no answer's, in a block quotation, or below "the text ends
    with:", is struck through, is a comment, or stands in a fence that is called another's.
    """
    spans: list[tuple[int, int]] = []
    if "```" in text:
        spans += [m.span() for m in _FENCED.finditer(text) if attributed(text, m.start()) or disowned(text, *m.span())]
    if "~~" in text or "<!--" in text:
        spans += [match.span() for match in _STRUCK.finditer(text)]
    if ">" in text:
        spans += [match.span() for match in _BLOCK.finditer(text)]
    if "egin" in text or "EGIN" in text:
        spans += [match.span() for match in _BEGUN.finditer(text)]
    if "\n" in text and SPEECH.search(text):
        spans += [match.span("led") for match in _LED_IN.finditer(text)]
    if "<" in text or "[/" in text:
        spans += _between_tags(text)
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def _called(tag: re.Match[str]) -> str:
    return (tag["name"] or tag["square"]).casefold()


def _between_tags(text: str) -> list[tuple[int, int]]:
    tags = [tag for tag, _ in zip(_TAGS.finditer(text), range(MOST), strict=False)]
    found: list[tuple[int, int]] = []
    end, closings = 0, [(_called(tag), tag) for tag in tags if tag["close"] or tag["shut"]]
    for at, tag in enumerate(tags):
        name = _called(tag)
        if tag["close"] or tag["shut"] or tag.start() < end or _OWN_TAG.fullmatch(name):
            continue
        closing = next((other for called, other in closings if called == name and other.start() >= tag.end()), None)
        others = _ANOTHERS_TAG.match(name) is not None
        if closing is None:
            if not (_ASIDE_TAG.match(name) and not text[text.rfind("\n", 0, tag.start()) + 1 : tag.start()].strip()):
                continue
        elif not others:
            inner = text[tag.end() : closing.start()]
            held = tags[at + 1 : at + 4]
            bare = len(inner.split()) < 4 and not _VERDICT.search(inner)
            if bare or any(_ANSWER_TAG.fullmatch(_called(one)) for one in held if one.start() < closing.start()):
                continue
        end = closing.end() if closing else len(text)
        found.append((tag.start(), end))
    return found


def blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with blanks in these places, so that all else stands where it stood; line ends stay."""
    pieces, end = [], 0
    for start, stop in spans:
        pieces += [text[end:start], re.sub(r"[^\n]", " ", text[start:stop])]
        end = stop
    return "".join([*pieces, text[end:]]) if pieces else text


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
_MARK = _late(
    rf"<(?P<close>/)?(?:{_REASONING_NAMES})(?:\s[^<>\n]{{0,80}})?>|(?-i:\[(?P<shut>/)?(?:THINK|think)\])"
    rf"|(?P<tri>◁(?P<endtri>/)?think▷)"
    r"|<\|(?P<edge>START|END)_THINKING\|>|<\|(?P<endbar>/)?think(?:ing)?\|>|<\|(?P<of>begin|end)_of_thought\|>"
    r"|<(?:[ ](?P<spaced>/[ ]?)?|(?P<slashed>/)[ ])think(?:ing)?[ ]?>",
    re.I,
)
_HARMONY = _late(
    r"(?:<\|start\|>\s{0,3}\w{0,20}\s{0,3})?<\|channel\|>\s{0,3}(?P<name>\w{1,20})[^<\n]{0,80}<\|message\|>"
)
_ENDS = _late(r"<\|(?:end|return|call)\|>|<\|start\|>|<\|(?:START|END)_RESPONSE\|>|<\|(?:begin|end)_of_solution\|>")
_GLUED = _late(r"\s{0,9}analysis(?=[A-Z])")  # harmony whose special tokens a server dropped
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


TURN_OPENS = _late(r"\A(?:\s*<\|[a-z_]{2,24}\|>)+", re.I)
_TURN_ENDS = _late(  # tokens that end a turn, and what small models write behind an answer that nothing stopped
    r"(?:<\|?(?:im_end|im_start|eot_id|endoftext|end_of_turn|end_of_text|eot)\|>|<end_of_turn>|</s>(?=\s*(?:<|\n|\Z)))"
    r"|(?P<next>\n[ \t]*(?:#{1,4}[ ]*(?:instruction|input|task|question|user|human|response|source)s?[ ]?:?[ ]*(?=\n)"
    r"|(?:user|human|source|input|article|document|question|dialogue|conversation|instruction)[ ]?:))",
    re.I,
)
_ANSWER_ALONE = _late(
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


_REFUSAL = _late(
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
_DECLINES = _late(  # a judge that will not judge: no number beside these words is its rating
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
_UNJUDGED = _late(  # said of the judging, by nobody: "Unable to evaluate.", "The text cannot be scored: 2"
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
_UNABLE = _late(r"n['’]t\b|not\b|unable|impossible|failed|insufficient", re.I)  # no doubt is told without
_UNDECIDED = _late(  # "I cannot choose.", "Unable to decide.", "Not enough information to choose."
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
_ABSTAINS_AT_START = _late(
    rf"[\W_]*(?:{_NAMED}[\W_]{{0,9}})?(?:no[ ]evidence\s{{0,3}}:|(?:I[ ](?:must[ ]|have[ ]to[ ])?)?abstain\b"
    rf"|not[ ]applicable[ ](?:to|for|here|in|as|because|since)\b"
    rf"|(?:n/?a|null|not[ ]applicable)(?={_TEXT_MARK}\s{{0,3}}(?:[:;.,(–—-]|\n)))",
    re.IGNORECASE,
)
_ABSTAINS = _late(rf"[\W_]*(?:[a-z][\w ]{{0,40}}{_TEXT_MARK}:)?[\W_]{{0,9}}{_NOTHING}[\W_]*", re.IGNORECASE)
_ABSTAINS_AT_END = _late(
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


_IN_THE_TEXT = _late(  # what is refused then is what stands there
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
