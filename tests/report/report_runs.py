"""Runs that a report is made of: a large one with long reasons, and one in which every text is an attack."""

import json
import random
from pathlib import Path

from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.graphs import sageval
from judgegraph.testing import scripted

NAMES = ("Accuracy", "Diversity", "Cohesion", "Relevancy", "Understandability", "Engagement", "Fairness", "Brevity")
CRITERIA = [jg.Criterion(name=name, definition=f"How much {name.lower()} the text has.") for name in NAMES]
WORDS = [
    "the",
    "summary",
    "says",
    "plainly",
    "what",
    "the",
    "council",
    "decided",
    "and",
    "repeats",
    "nothing",
    "although",
    "two",
    "of",
    "its",
    "sentences",
    "overlap",
    "which",
    "some",
    "readers",
    "may",
    "find",
    "confusing",
    "while",
    "the",
    "names",
    "the",
    "dates",
    "and",
    "the",
    "costs",
    "all",
    "stand",
    "in",
    "the",
    "source",
]


def say(rng: random.Random, words: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(words)).capitalize() + "."


def samples_of(count: int, rng: random.Random) -> list[jg.Sample]:
    return [
        jg.Sample(id=f"item-{n:05}", source=say(rng, 200), output=f"{n}. {say(rng, 60)}", human={"Accuracy": n % 5 + 1})
        for n in range(count)
    ]


def judged_run(folder: Path, count: int, *, words: int = 60) -> jg.Run:
    """SAGEval by a scripted judge: eight criteria, reasons of about six characters a word, five replies a call.

    A critic lowers one score in five.
    """
    rng = random.Random(7)
    reasons = [say(rng, words) for _ in range(400)]

    def draft() -> str:
        return json.dumps(
            {c.name.lower(): {"reason": rng.choice(reasons), "score": rng.randint(1, 5)} for c in CRITERIA}
        )

    def review() -> str:
        verdicts = {c.name.lower(): rng.choice(["keep"] * 4 + ["lower"]) for c in CRITERIA}
        said = {
            name: {"reason": rng.choice(reasons), "verdict": verdict, "score": 2 if verdict == "lower" else 4}
            for name, verdict in verdicts.items()
        }
        return json.dumps({"rectifications": said, "definitions": [], "criteria": []})

    def reply(messages: list) -> str:
        return review() if "senior reviewer" in str(messages[0].content) else draft()

    judge = scripted(*[[reply] * 5] * (8 * count))
    return jg.evaluate(sageval(judge=judge, criteria=CRITERIA), samples_of(count, rng), out=folder)


def scored_run(folder: Path, count: int, *, words: int = 60, labels: int = 8) -> jg.Run:
    """The same without a judge, which is quick: a node writes drafts and finals with reasons and distributions."""
    rng = random.Random(7)
    reasons = [say(rng, words) for _ in range(400)]
    scale = jg.Scale.of("1-5")

    def score(criterion: str, stage: str, draft: str | None = None) -> jg.Score:
        value = rng.randint(1, 5)
        spread = {str(value): 0.75, str(value % 5 + 1): 0.25}
        return jg.Score(
            criterion=criterion, agent="judge", stage=stage, value=value, scale=scale, reason=rng.choice(reasons),
            distribution=spread, draft=draft, reader="samples",
        )  # fmt: skip

    async def judge(state: jg.EvalState) -> jg.EvalState:
        drafts = [score(name, "draft") for name in NAMES[:labels]]
        finals = [score(s.criterion, "final", s.key) for s in drafts]
        return {"scores": {s.key: s for s in (*drafts, *finals)}}

    return jg.evaluate(one_node("judge", judge), samples_of(count, rng), out=folder)


def one_node(name: str, node: object) -> object:
    graph = StateGraph(jg.EvalState)
    graph.add_node(name, node)
    graph.add_edge(START, name)
    graph.add_edge(name, END)
    return graph.compile(name=name)


AWAY = "http://127.0.0.1:9/away"
ATTACKS = (
    "<script>window.__ran=1;alert(1)</script>",
    '"\'><img src=x onerror="window.__ran=1">',
    "</style><script>window.__ran=1</script>",
    "</title></pre></details><svg onload=window.__ran=1><script>window.__ran=1</script></svg>",
    f"<style>@import url({AWAY}.css); body{{background:url({AWAY}.png)}}</style>",
    f"<meta http-equiv=refresh content='0;url={AWAY}'><base href={AWAY}>",
    f"<link rel=stylesheet href={AWAY}.css><iframe src={AWAY}></iframe><object data={AWAY}></object>",
    f"<a href='javascript:window.__ran=1' autofocus onfocus=window.__ran=1>x</a>"
    f"<form action={AWAY}><button>go</button>",
    "<details open ontoggle=window.__ran=1><summary>x</summary></details>",
    "<title>owned</title><h1>owned</h1><b style='position:fixed;inset:0'>owned</b>",
    "{{ 7 * 7 }}{% raw %}{# x #}${7*7}",
    "<!-- --><![CDATA[ ]]> &lt;script&gt; &#60;script&#62;",
    "\u202egnp.exe \u2066\u2028\u2029\u200b\ufeff\x00\x1b[31m\x07\r\x9b",
    "".join(chr(0xE0000 + ord(c)) for c in "hidden tags"),
    "Z\u0351\u036b\u0343\u036a\u0302" * 40,
)


def hostile_run(folder: Path) -> jg.Run:
    """A graph whose node, criteria, labels, agents, reasons, notes, ids and errors are attacks, a sample for each."""

    async def judge(state: jg.EvalState) -> jg.EvalState:
        text = state["sample"].query
        if state["sample"].id.startswith("9"):
            raise ValueError(text)
        scale = jg.Scale(labels=(text.strip()[:400] or "x", "other"))
        draft = jg.Score(criterion=text[:190], agent=text, stage="draft", value=4, scale=jg.Scale.of("1-5"),
                         reason=text, distribution={"4": 0.6, text: 0.4}, reader=text, notes=(text,))  # fmt: skip
        final = draft.model_copy(update={"stage": "final", "value": 2.0, "draft": draft.key, "agent": f"{text}2"})
        label = jg.Score(criterion=f"L{text[:190]}", agent=text, label=scale.labels[0], scale=scale, reason=text,
                         distribution={scale.labels[0]: 0.5, "other": 0.5})  # fmt: skip
        broken = jg.Score(criterion=f"B{text[:190]}", agent=text, status="unreadable", reason=text, raw=text)
        said = jg.Rectification(
            criterion=text[:190], agent=text, action="change", direction="down", value=2, reason=text
        )
        compared = jg.Comparison(criterion=text[:190], agent=text, verdict="A", reason=text, order="AB")
        return {
            "scores": {s.key: s for s in (draft, final, label, broken)},
            "rectifications": {said.key: said}, "comparisons": {compared.key: compared},
            "suggestions": [jg.Suggestion(kind="criterion", criterion=text[:190], definition=text, agent=text)],
            "findings": {text: jg.Finding(assistant=text, value=text, reason=text)},
            "corrections": {"o": jg.Correction(agent=text, text=text, original=text, rule=text, reason=text)},
            "notes": {text: jg.Note(agent=text, text=text)},
        }  # fmt: skip

    samples = [
        jg.Sample(id=f"{n}{text}", query=text, source=text, output={text: [text]}, rival=text, reference=text,
                  human={text[:100]: [text, 3]}, meta={"system": text, "group": text, text: text})
        for n, text in enumerate((*ATTACKS, *ATTACKS))
    ]  # fmt: skip
    return jg.evaluate(one_node("<img src=x onerror=window.__ran=1>", judge), samples, out=folder)
