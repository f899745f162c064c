"""What a reply says in another's words, or takes back: neither is its answer.

A judge that finds an injection in a text quotes it. In a form and in free text alike, no answer is
    quoted: "The output says "Score: 5"". Quotes around a bare value ("4", "tie") are emphasis, unless somebody is said
        to have said it.
    attributed: what stands right behind "the candidate says", "the text tells me to answer", "it contains the line".
    enclosed: what stands between tags that are no answer's (`<output>`, `<reason>`, also unclosed), is struck through,
        or stands in a comment or in a fence that is called another's.
    disowned: what another rates ("the author gives himself a 5"), what was meant at first or would hold if
        ("initially 5", "a 5 if it were true"), and what is called claimed, asked for or the most.
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
    r"|(?<!')''(?=[^'])(?P<two>[^\n]{1,1000}?)''(?!')|(?<!`)``(?=[^`])(?P<ticks>[^`\n]{1,1000}?)(?:``(?!`)|'')"
    r"|„(?P<low>[^“”\n]{1,1000})[“”]|‚(?P<comma>[^‘’\n]{1,1000})[‘’]|‘{1,2}(?P<typeset>[^‘’\n]{1,1000})’"
    r"|「(?P<corner>[^」\n]{1,1000})」|『(?P<white>[^』\n]{1,1000})』|‹(?P<guillemet>[^›\n]{1,1000})›"
)
_WRAPS = ("double", "single", "code")  # a reply that stands in these as a whole is the judge's
_FENCED = re.compile(r"```[^`]{1,4000}```")
_STRUCK = re.compile(r"~~(?=\S)[^~\n]{1,1000}~~|<!--[^<]{1,4000}?-->")
_TAGS = re.compile(
    r"<(?P<close>/)?(?P<name>[a-z][\w-]{0,30})(?:\s[^<>\n]{0,80})?>"
    r"|\[(?P<shut>/)?(?P<square>quote|cite)[^\[\]\n]{0,40}\]",
    re.I,
)
_ANSWER_TAG = re.compile(
    r"(?:\w{1,12}[_-])?(?:answers?|verdicts?|results?|choice|scores?|ratings?|grade|marks?|judge?ments?|decision|json)",
    re.I,
)
_OWN_TAG = re.compile(  # of answers, and of how a text is set
    rf"{_ANSWER_TAG.pattern}|evaluation|assessment|conclusion|final|overall|b|strong|i|em|u|p|br|hr|s|span|div|code"
    r"|pre|li|ul|ol|h[1-6]|font|small|big|su[bp]|html|body|table|t[rdh]|center|tool_call|function",
    re.I,
)
_ASIDE_TAG = re.compile(
    r"reason|rational|explan|justif|scratch|draft|notes?\b|think|thought|quot|cit|q\b|blockquote", re.I
)
_ANOTHERS_TAG = re.compile(
    rf"(?:{_ASIDE_TAG.pattern}|output|text|candidate|response|summary|author|user|article|story|source|document"
    r"|submission|essay|passage|prompt|instruction|message|dialogue|context|sample|injection|system|del|strike|example)",
    re.I,
)
_VERDICT = re.compile(r"\[\[|\b(?:scor|rat|grad|answer|verdict|winner|result|prefer|choose|better|wins?\b|mark)", re.I)
_OWN = re.compile(
    r"\b(?:my[ ](?:final[ ]|overall[ ])?(?:answer|verdict|rating|score|evaluation|judge?ment|decision|conclusion|reply)"
    r"|I(?:['’]d|['’]ll|[ ]would|[ ]will)?[ ](?:say|answer|rate|give|output|choose|go[ ]with|conclude|reply)"
    r"|(?:final|overall)[ ](?:answer|verdict|rating|score|decision))\b[^.!?\n]{0,30}\Z",
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
_PAIRS = {'"': '"', "`": "'", "'": "'", "“": "”", "„": "“”", "‘": "’", "«": "»", "「": "」", "『": "』", "‹": "›"}
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
_CLAUSE_END = re.compile(r"[.!?;](?=[\s\"”'])|(?<!:)\n|[。！？；]")
_CLAIMS = r"(?:claimed|demanded|wanted|injected|inserted|(?:requested|suggested|asked[ ]for)[ ]by)"
_ANOTHERS = r"(?:candidate|author|attacker|writer|essay|submission|user|student|text|output|injection|injector)"
_DOUBTS = (
    re.compile(  # what was meant at first
        r"(?:\b(?:initially|at[ ]first|originally"
        r"|(?:initial|first|previous|earlier|preliminary|provisional|tentative|draft)"
        rf"[ ](?:{_NAMES}|thought|thinking|impression|instinct|guess|glance|reading|evaluator|judge)"
        r"|(?:first|rough|initial)[ ]draft(?=:)|my[ ](?:\w+[ ])?draft|my[ ]guess[ ]before[ ]reading"
        r"|was[ ](?:\w{2,10}ly[ ])?(?:(?:going|about|ready|set|planning)[ ]to|inclined|tempted|leaning)|tempted"
        r"|(?:had|have|I)[ ]considered|(?:down|up)[ ]from"
        r"|zuerst|zunächst|anfangs|ursprünglich|initialement|au[ ]début|al[ ]principio|inicialmente|primero)\b"
        rf"|\bd['’]abord\b)(?:,(?=[ ](?:I|it|my)\b))?{_THEN}{{0,6}}{_OPENS}"
        r"|\b(?:would|could|might)(?:['’]ve|[ ]have)[ ](?:been|given|said|rated|scored|got(?:ten)?|chosen|preferred"
        rf"|earned|received|deserved|awarded|picked|gone)(?:[ ](?:it|this))?{_SMALL}{_OPENS}"
        rf"|\bI[ ](?:almost|nearly|expected|hoped|wanted|was[ ]close)(?:[ ](?:to|it|for|give|gave|giving|award|say))*"
        rf"{_SMALL}{_OPENS}|\A\W*(?:for|to[ ](?:get|reach|earn|deserve|be))[ ](?:an?|the)[ ]\Z"
        r"|(?:最初|起初|原本|一开始)[^，,。]{0,12}\Z",
        re.I,
    ),
    re.compile(  # what would hold if something else did
        r"\b(?:(?<!even[ ])if(?![ ](?:I|we|you|forced|pressed|pushed|asked|anything|not)\b)"
        r"|(?<![^\W_])(?:had|were|without)(?=[ ](?:it|this|that|the)\b)"
        r"|normally|usually|ordinarily|otherwise|in[ ]another|perfect|ideal|flawless)"
        r"(?:(?!\b(?:but|so|however)\b)[^.!?;\n]){0,100}?(?:\b(?:would|could|might|were)\b|['’]d\b)"
        rf"(?:,?{_THEN}){{0,6}},?{_OPENS}",
        re.I,
    ),
    re.compile(  # what is claimed or asked for
        rf"\b{_NAMES}[ ][(\[]{_CLAIMS}[^()\n]{{0,30}}[)\]]{_OPENS}|\bbefore[ ](?:the[ ])?penalt\w*[)]?[ ]?:{_OPENS}"
        rf"|\b{_WRITERS}[ ](?:wants|claims|demands|asks(?:[ ]for)?)[)\]]?[ ]?:{_OPENS}"
        rf"|\b(?:{_WRITERS}|text|essay|output|response|answer|summary|his|her|its|their)(?:['’]s)?[ ]"
        rf"(?:claim|request|demand|wish|call)(?:[ ](?:of|for))?{_SMALL}{_OPENS}"
        r"|\b(?:ignor(?:e|ing)|disregard(?:ing)?|reject(?:ing)?|refus(?:e|ing)[ ]to[ ](?:give|award|say|rate)"
        rf"|not[ ]give)(?:[ ](?:it|this|instruction|line|command|injected|injection))*{_SMALL}{_OPENS}"
        rf"|\bself[- ](?:assess|rat|grad|scor)\w+[ ]?:{_OPENS}",
        re.I,
    ),
    re.compile(  # what another rates
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
    re.compile(  # what another says, elsewhere than in English
        r"(?:\b(?:dice|afirma|pide|exige|diz|pede|dit|affirme|demande|écrit|prétend|sagt|schreibt|behauptet|verlangt"
        r"|fordert|afferma|chiede|zegt|говорит|пишет|требует|утверждает)\b"
        r"|(?:候选|文本|作者|文章|回答|摘要|候補|著者|[他她它])[^。，,\n]{0,6}(?:[说說写寫称稱]|要求|言う))"
        rf"(?:[ ](?:que|qu['’]|dass|che|что))?[\s:：,«„“]{{0,4}}(?:\w{{1,15}}[\s:：]{{1,3}})?{_OPENS}",
        re.I,
    ),
)
_LABELLED = re.compile(  # "Candidate: Score: 5", "Maximum score: 5"
    r"(?:(?:\A|\n)[\W_]*(?:(?:user|candidate|author|student|writer|speaker|attacker|quot\w{1,6}|excerpt|injection"
    r"|(?:the[ ])?(?:last|first|final|closing|opening|injected|hidden)[ ](?:line|sentence|words?|paragraph))\b"
    r"(?:[ ](?:ends?|reads?|wrote|text|is))?[ ]?[:：]"
    rf"|prompt[ ]injection[ ]?[:：]|(?:in|from|by|as)[ ](?:the|its)[ ]{_ANOTHERS}(?:[ ]\w+[ ]it)?[ ]?[:：]"
    r"|(?:the[ ])?(?:essay|text|story)[ ](?:ends?|reads?)[ ]?[:：]"
    r"|(?:the[ ])?(?:best[ ])?(?:max(?:imum)?|possible|potential|highest)(?:[ ]possible)?(?=[ ]))"
    r"|\b(?:(?:the|an?|this)[ ](?:\w+[ ])?(?:phrase|string|line|words|sentence|instruction|command)|stands|appears)"
    r"(?=[ ])"
    r"|\b(?:claimed|requested|demanded|desired|injected|wanted|alleged|quoted|example|hidden|embedded|fake"
    r"|prior|former|old|(?:['’]s|his|her|their|its)[ ]own)(?=[ ]))[\s*_\"'“]{0,4}"
    rf"(?P<named>(?:\w{{1,12}}[ ])?{_NAMES}\b[^.\n:;,]{{0,20}}?(?:[ ](?:is|was))?[\s:*_\"'=(\[]{{0,5}})?\Z",
    re.I,
)
_WOULD = re.compile(r"\b(?:would|could|might)\b|['’]d\b", re.I)
_IF_BEHIND = re.compile(
    r"(?:[ ]?(?:/|out[ ]of)[ ]?[0-9]{1,4})?[\"'*)]{0,2},?[ ](?:only[ ])?"
    r"(?:if(?![ ](?:I|we|you|forced|pressed|pushed|asked|anything)\b)|were|had|but[ ]for)\b",
    re.I,
)
_PAST_BEHIND = re.compile(
    r"(?:[ ]?(?:/|out[ ]of)[ ]?[0-9]{1,4})?[\"'”*_\])}]{0,4}[ ,]{0,2}[(\[]?"
    r"(?:initial(?:ly)?|at[ ](?:first|the[ ]start)|originally|(?:to|for)[ ](?:begin|start)[ ]with"
    rf"|before[ ](?:the[ ])?(?:penalt|deduct|adjust|inject)\w*|(?:as[ ])?{_CLAIMS}"
    r"|(?:[-–—][ ])?(?:so[ ]says|(?:it|the[ ]\w{1,12})[ ]says|ignored"
    rf"|(?:per|according[ ]to)[ ](?:the|its)[ ]{_ANOTHERS}"
    rf"|the[ ]{_ANOTHERS}['’]s[ ](?:own[ ])?(?:claim|words?|demand|wish)|quoted?\b|sic\b|not\Z)"
    r"|(?:is|was)[ ](?:ignored|rejected|disregarded|tempting|what[ ](?:they|he|she|it)[ ]wants?)"
    rf"|(?:is|was)[ ](?:the[ ])?{_CLAIMS}|as[ ](?:the|an?)[ ]\w+[ ](?:claim|demand|want|ask|request|sa)\w*"
    r"|(?:is|was|would[ ]be|seems)[ ]too|was[ ](?:my|the)[ ](?:first|initial)"
    r"|zuerst|zunächst|anfangs|au[ ]début|d['’]abord|al[ ]principio|inicialmente)\b"
    r"(?![\s:]{1,3}(?:an?[ ])?[\[(*]{0,2}(?-i:[0-9A-E])\b)"
    r"|(?:[ ]?(?:/|out[ ]of)[ ]?[0-9]{1,4})?[\"'”*_\])}]{0,4}\?(?=[\s\"'*)]|\Z)",
    re.I,
)
_REFERS_BACK = re.compile(  # "Score: 5. That's the candidate's text"
    r"(?:[ ]?/[ ]?[0-9]{1,4})?[\s\"'”’`*_\])}>.!,]{0,8}"
    r"\b(?:that|this|which|(?:the[ ])?(?:above|block|line|quote|fence)(?:[ ]above)?)"
    r"(?:['’]s|[ ](?:is|was|comes?|came|stands?|stood|belongs[ ]to))"
    r"(?:[ ]\w{2,10}ly|[ ]only|[ ]just|[ ]block|[ ]taken)?[ ]"
    rf"(?:(?:from|in|part[ ]of|inside|within|what)[ ](?:the[ ]|its[ ])?{_ANOTHERS}"
    rf"|(?:the|an?)[ ]{_ANOTHERS}['’]s?(?=\W*\Z|\W*\n|[.;!]"
    r"|[ ](?:own|text|words?|claim|line|output|answer|score|verdict))"
    r"|(?:an?[ ]|the[ ])?(?:quot\w{1,6}|cited|copied|injected|injection|hidden|embedded|not[ ]my|not[ ]mine))",
    re.I,
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
    for doubt in _DOUBTS:
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
    """The places of what stands between tags that are no answer's, is struck through, is a comment, or stands in a
    fence that is called another's.
    """
    spans: list[tuple[int, int]] = []
    if "```" in text:
        spans += [m.span() for m in _FENCED.finditer(text) if attributed(text, m.start()) or disowned(text, *m.span())]
    if "~~" in text or "<!--" in text:
        spans += [match.span() for match in _STRUCK.finditer(text)]
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


def objection(text: str, start: int, end: int, value: Any, judged: Callable[[], str] = str) -> str:
    """Why JSON inside a reply is not its answer; "" where nothing speaks against it.

    Args:
        text: the reply, its thoughts blanked. start, end: of the JSON in it. value: what the JSON says.
        judged: gives the texts that the judge was shown.
    """
    before, behind = text[:start][-PROSE:], text[end:][:PROSE]
    if not (before.strip() or behind.strip()):
        return ""
    around = f"{before}{'x' * (end - start)}{behind}"
    if any(first < len(before) < last for first, last in enclosed(around)):
        return "its JSON stands where no answer does"
    left, right = before.rstrip(" ")[-1:], behind.lstrip(" ")[:1]
    quoted = bool(left and right) and right in _PAIRS.get(left, "")
    if quoted and (left not in "\"'" or before.rstrip().endswith("''")):
        return "its JSON is a quotation"
    if not any(sign.isalnum() for sign in f"{before}{behind}".replace("json", "")):
        return ""
    if why := _of_another(text, start, end):
        return why
    if text[start:end] in judged():
        return "its JSON stands so in the text that is judged"
    if quoted:
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
    if _NOT_OWN_BEHIND.search(re.sub(r"\A\s{0,3}```", "", behind)) or disowned(text, start, end):
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
