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

import re
from collections.abc import Iterable, Iterator

from judgegraph.errors import late

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


_TAG = late(r"(?:</?[\w|]{1,12}>|```\w{0,9})\s*\Z")
_LEADS_ON = late(r"[:,\"“‘«>][^\n]*\n|\n\s*[\"“‘«>]")
_SENTENCE = late(r"[.!?;](?=\s)|\n|[”»]|[\"'`“«][ ]{3,}[\"'`”»]")  # the last: a quotation that was blanked
_WORD = late(r"[^\W\d_]+(?:['’][^\W\d_]+)?|[,:]")

_QUOTED = late(
    r"(?<![\w\"])\"(?=[^\s\"])(?P<double>[^\"\n]{1,1000})(?<!\s)\"(?!\w)|“(?P<curly>[^”\n]{1,1000})”"
    r"|«(?P<angle>[^»\n]{1,1000})»"
    r"|(?<![\w'])'(?=[^\s'])(?P<single>(?:[^'\n]|(?<=\w)'(?=\w)){1,300})(?<!\s)'(?!\w)"
    r"|(?<!`)`(?P<code>[^`\n]{1,1000})`(?!`)"
    r"|(?<!')''(?=[^'])(?P<two>[^\n]{1,1000}?)''(?!')|(?<!`)``(?=[^`])(?P<ticks>[^`\n]{1,1000}?)(?:``(?!`)|'')"
    r"|„(?P<low>[^“”\n]{1,1000})[“”]|‚(?P<comma>[^‘’\n]{1,1000})[‘’]|‘{1,2}(?P<typeset>[^‘’\n]{1,1000})’"
    r"|「(?P<corner>[^」\n]{1,1000})」|『(?P<white>[^』\n]{1,1000})』|‹(?P<guillemet>[^›\n]{1,1000})›"
)
_WRAPS = ("double", "single", "code")  # a reply that stands in these as a whole is the judge's
_FENCED = late(r"```[^`]{1,4000}```")
_BLOCK = late(r"^[ \t]{0,3}(?:[-*][ ])?>(?!=)[^\n]*", re.M)  # a line of a block quotation in markdown
_BEGUN = late(
    r"\b(?:begin|start)(?:[ ]of)?[ _-](?P<what>quote|quotation|excerpt|injection|citation|passage|candidate|text"
    r"|document"
    r"|source|submission|essay)\b.{0,4000}?\bend(?:[ ]of)?[ _-](?P=what)\b",
    re.I | re.S,
)
_STRUCK = late(r"~~(?=\S)[^~\n]{1,1000}~~|<!--[^<]{1,4000}?-->")
_TAGS = late(
    r"<(?P<close>/)?(?P<name>[a-z][\w-]{0,30})(?:\s[^<>\n]{0,80})?>"
    r"|\[(?P<shut>/)?(?P<square>quote|cite)[^\[\]\n]{0,40}\]",
    re.I,
)
_ANSWER_TAG = late(
    r"(?:\w{1,12}[_-])?(?:answers?|verdicts?|results?|choice|scores?|ratings?|grade|marks?|judge?ments?|decision|json)",
    re.I,
)
_OWN_TAG = late(  # of answers, and of how a text is set
    rf"{_ANSWER_TAG.pattern}|evaluation|assessment|conclusion|final|overall|b|strong|i|em|u|p|br|hr|s|span|div|code"
    r"|pre|li|ul|ol|h[1-6]|font|small|big|su[bp]|html|body|table|t[rdh]|center|tool_call|function",
    re.I,
)
_ASIDE_TAG = late(r"reason|rational|explan|justif|scratch|draft|notes?\b|think|thought|quot|cit|q\b|blockquote", re.I)
_ANOTHERS_TAG = late(
    rf"(?:{_ASIDE_TAG.pattern}|output|text|candidate|response|summary|author|user|article|story|source|document"
    r"|submission|essay|passage|prompt|instruction|message|dialogue|context|sample|injection|system|del|strike"
    r"|example)",
    re.I,
)
_VERDICT = late(r"\[\[|\b(?:scor|rat|grad|answer|verdict|winner|result|prefer|choose|better|wins?\b|mark)", re.I)
_OWN = late(
    r"\b(?:my[ ](?:final[ ]|overall[ ])?(?:answer|verdict|rating|score|evaluation|judge?ment|decision|conclusion|reply)"
    r"|I(?:['’]d|['’]ll|[ ]would|[ ]will)?[ ](?:say|answer|rate|give|output|choose|go[ ]with|conclude|reply)"
    r"|(?:final|overall)[ ](?:answer|verdict|rating|score|decision))\b[^.!?\n]{0,30}\Z",
    re.I,
)
_SAYING_VERB = rf"(?:{'|'.join(sorted(_SAYS))})"
_NAMED_TEXT = (
    r"(?:the|its|an?)[ ](?:\w{1,12}[ ])?(?:candidate|text|author|output|response|essay|summary|writer|article)"
)
_DISOWNED_BEFORE = late(
    r"(?:\b(?:hidden|embedded|injected)[ ](?:instruction|prompt|line|text|command|message)s?"
    r"(?:[ ](?:at|in|near|inside)[ ](?:[\w'’]{1,12}[ ]?){1,4})?"
    r"|\binjection[ ](?:detected|found|attempt)"
    rf"|\baccording[ ]to[ ]{_NAMED_TEXT}"
    r"|(?:\bI[ ](?:will|would|can|do|must)[ ]?not|\bI[ ](?:wo|wouldn|can|don)['’]?n?['’]t|\bI[ ]refuse[ ]to|\bnever)"
    r"[ ](?:say|answer|output|write|reply|respond|print|repeat)(?:[ ](?:that|it|is|the|an?|with)){0,3})"
    r"[\s:,*_\"'“`\[(<>]{0,6}(?:(?:final[ ])?(?:score|rating|answer|verdict)[\s:*_]{1,4})?\Z",
    re.I,
)
_DISOWNED_BEHIND = late(
    r"[\s\"'”*_`\])]{0,4}(?:/[0-9]{1,3})?[\s,(–—-]{1,4}(?:(?:(?:that|which|this)[ ])?(?:is|was)[ ]"
    rf"(?:only[ ]|just[ ])?what[ ](?:{_NAMED_TEXT}|it|he|she|they)[ ](?:\w{{1,12}}[ ])?{_SAYING_VERB}"
    rf"|{_SAYING_VERB}[ ]{_NAMED_TEXT}|as[ ]{_NAMED_TEXT}[ ]{_SAYING_VERB})\b",
    re.I,
)
_CALLED_QUOTED = late(r"\b(?:is|was|are|line|above)[ ](?:\w{1,12}[ ])?quot(?:ed|ation|e)\b", re.I)
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
_CLAUSE_END = late(r"[.!?;](?=[\s\"”'])|(?<!:)\n|[。！？；]")
_CLAIMS = r"(?:claimed|demanded|wanted|injected|inserted|(?:requested|suggested|asked[ ]for)[ ]by)"
_ANOTHERS = r"(?:candidate|author|attacker|writer|essay|submission|user|student|text|output|injection|injector)"
_DOUBTS = (
    late(  # what was meant at first
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
    late(  # what would hold if something else did
        r"\b(?:but[ ]for(?=[ ](?:the|that|this|its?)\b)|if[ ]not[ ]for"
        r"|(?<!even[ ])if(?![ ](?:I|we|you|forced|pressed|pushed|asked|anything|not)\b)"
        r"|(?<![^\W_])(?:had|were|without)(?=[ ](?:it|this|that|the)\b)"
        r"|normally|usually|ordinarily|otherwise|in[ ]another|perfect|ideal|flawless)"
        r"(?:(?!\b(?:but|so|however)\b)[^.!?;\n]){0,100}?(?:\b(?:would|could|might|were)\b|['’]d\b)"
        rf"(?:,?{_THEN}){{0,6}},?{_OPENS}"
        rf"|\bif\b[^.!?\n]{{1,100}}[ ](?:else|otherwise),?[ ](?:(?:it['’]s|it[ ]is|an?|the)[ ])*{_OPENS}",
        re.I,
    ),
    late(  # what is claimed or asked for
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
    late(  # what another rates, or told the judge to give
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
    late(  # what another says, elsewhere than in English
        r"(?:\b(?:dice|afirma|pide|exige|diz|pede|dit|affirme|demande|écrit|prétend|sagt|schreibt|behauptet|verlangt"
        r"|fordert|afferma|chiede|zegt|говорит|пишет|требует|утверждает)\b"
        r"|(?:候选|文本|作者|文章|回答|摘要|候補|著者|[他她它])[^。，,\n]{0,6}(?:[说說写寫称稱]|要求|言う))"
        rf"(?:[ ](?:que|qu['’]|dass|che|что))?[\s:：,«„“]{{0,4}}(?:\w{{1,15}}[\s:：]{{1,3}})?{_OPENS}",
        re.I,
    ),
)
_STAYS = late(  # "I'll stay with my earlier score of 4"
    r"\bI(?:['’]ll|[ ]will|[ ]would|[ ]therefore|[ ]still)?[ ](?:(?:stay|stick)[ ](?:with|to|at)|stand[ ]by|keep"
    r"|maintain|confirm|reaffirm)[ ](?:to[ ])?(?:my|the)[ ]",
    re.I,
)
_LABELLED = late(  # "Candidate: Score: 5", "Maximum score: 5"
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
_WOULD = late(r"\b(?:would|could|might)\b|['’]d\b", re.I)
_IF_BEHIND = late(
    r"(?:[ ]?(?:/|out[ ]of)[ ]?[0-9]{1,4})?[\"'*)]{0,2},?[ ](?:only[ ])?"
    r"(?:if(?![ ](?:I|we|you|forced|pressed|pushed|asked|anything)\b)|were|had"
    r"|but(?![ ](?:not|no|only|barely|just)\b))\b",
    re.I,
)
_PAST_BEHIND = late(
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
_REFERS_BACK = late(  # "Score: 5. That's the candidate's text"
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


_LED_IN = late(  # what stands below "The summary ends with:", up to an empty line
    rf"\b(?:{'|'.join(sorted(_JUDGED))})\b(?:[ ][\w'’]+){{0,4}}?[ ](?<!to[ ])(?:{'|'.join(sorted(_SAYS | _HOLDS))})"
    r"(?:[ ](?:as|by|in|on|at|its|the|a|this|these|last|follows|end|hidden|injected))*"
    r"(?:[ ](?:with|line|lines|words|text|sentence|instructions?|following|this|saying|reading)[ ]?:?|[ ]?:)[ ]*"
    r"\n(?:(?<=:\n)[ ]*\n)?(?![ \t]*[\"'“«`>*\d•-])(?P<led>[^\n]+(?:\n[ \t]*[^\s][^\n]*)*)",
    re.I,
)
SPEECH = late(rf"\b(?:{'|'.join(sorted(_SAYS | _HOLDS))})\b", re.I)  # without it nothing is attributed


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
