"""A redacted page: no texts, no names of models or data, and every number of the whole page."""

import random
import re
from pathlib import Path

import pytest
from report_runs import one_node, say

import judgegraph as jg
from judgegraph.graphs import fennec, sageval
from judgegraph.runs.item import Item
from judgegraph.traces.redact import RunNames, UnredactedTexts, known_names

ROOT = Path(__file__).resolve().parents[2]
NUMERIC = ("overview", "graph", "scores", "rectification", "agreement", "pairs", "biases", "suggestions")
SYSTEMS = ("Zeta secret", "alpha secret", "Mid secret", "beta secret")
SCALE = jg.Scale.of("1-5")


def written_run(folder: Path) -> jg.Run:
    """Criteria, labels and agents that no set-up names, in several spellings, with people's answers and repeats."""
    rng = random.Random(3)

    async def judge(state: jg.EvalState) -> jg.EvalState:
        sample, drafts = state["sample"], []
        for name in ("Warmth secret", "Tone secret", "tone secret"):
            drafts.append(jg.Score(criterion=name, agent="judge secret", stage="draft", value=rng.randint(1, 5),
                                   scale=SCALE, reason=f"secret {say(rng, 9)}"))  # fmt: skip
        finals = [
            d.model_copy(update={"stage": "final", "agent": "critic secret", "draft": d.key,
                                 "value": max(1.0, d.value - rng.randint(0, 1)),
                                 "reason": d.reason if rng.random() < 0.5 else f"secret {say(rng, 7)}"})
            for d in drafts
        ]  # fmt: skip
        free = jg.Score(criterion="Kind secret", agent="judge secret", label=rng.choice(("secret a", "secret b")))
        advice = [
            jg.Suggestion(kind="criterion", criterion=name, definition=f"secret {say(rng, 5)}", agent="critic secret")
            for name in rng.sample(("Wit secret", "wit secret", "Pace secret", "Form secret"), 2)
        ]
        said = {} if sample.id == "s3" else {s.key: s for s in (*drafts, *finals, free)}
        return {"scores": said, "suggestions": advice}

    samples = [
        jg.Sample(
            id=f"s{n}", output=say(rng, rng.choice((3, 20, 60))),
            human={"tone secret": rng.randint(1, 5), "warmth SECRET": [1, rng.randint(1, 5)],
                   "Kind secret": rng.choice(("secret a", "SECRET B"))},
            meta={"system": rng.choice(SYSTEMS), "group": f"secret {n % 7}"},
        )
        for n in range(40)
    ]  # fmt: skip
    return jg.evaluate(one_node("judge", judge), samples, out=folder)


def labelled_run(folder: Path) -> jg.Run:
    return jg.evaluate(sageval(criteria="forms"), list(jg.load(ROOT / "examples/forms.jsonl"))[:8], out=folder)


def pairs_run(folder: Path) -> jg.Run:
    read = list(jg.load(ROOT / "examples/pairs.jsonl"))[:4]
    samples = [
        s.model_copy(update={"id": f"{s.id}-{n}", "meta": {"system": a, "rival_system": b, "group": f"secret {n % 3}"}})
        for n, (a, b) in enumerate((a, b) for a in SYSTEMS for b in SYSTEMS if a != b)
        for s in read[n % len(read) :][:1]
    ]
    return jg.evaluate(fennec(), samples, out=folder)


def numbers(page: str, part: str) -> list[str]:
    """Every number in a section, sorted: rows may stand in the order of their names; those in names are not counted."""
    found = re.search(rf'<section id="{part}".*?</section>', page, re.S)
    if found is None:
        return []
    if part == "suggestions":  # beside its table stand examples, which are texts
        return sorted(re.findall(r'<td class="n"><bdi>(.*?)</bdi>', found[0]))
    table = re.sub(r"<svg.*?</svg>", "", found[0], flags=re.S)
    named = re.sub(
        r"(?i)\b(criterion|agent|system|group|label|key|stage)-\d+|\[redacted, [\d,]+ characters\]", "", table
    )
    return sorted(re.findall(r"[-+]?\d[\d,.]*", re.sub(r"<[^>]+>", " ", re.sub(r"secret \d", "", named))))


@pytest.mark.slow
@pytest.mark.parametrize("make", [written_run, labelled_run, pairs_run])
def test_every_number_of_a_redacted_page_is_that_of_the_whole_page(make, tmp_path: Path):
    run = make(tmp_path / "run")
    whole, bare = (
        jg.write_report(run, tmp_path / f"{n}.html", redact=redact).read_text()
        for n, redact in enumerate(((), ("texts",)))
    )
    told = [part for part in NUMERIC if numbers(whole, part)]
    assert len(told) >= 4, told
    for part in NUMERIC:
        assert numbers(bare, part) == numbers(whole, part), part
    assert "secret" in whole or make is labelled_run
    assert "secret" not in bare.casefold()


def test_a_page_of_a_run_in_memory_says_the_length_of_a_text_and_not_of_its_redaction(tmp_path: Path):
    async def judge(state: jg.EvalState) -> jg.EvalState:
        score = jg.Score(criterion="C", agent="a", value=2, scale=SCALE, reason="x" * 1234)
        return {"scores": {score.key: score}}

    run = jg.evaluate(one_node("judge", judge), [jg.Sample(id="s", output="yy " * 1440 + "y")])
    page = jg.write_report(run, tmp_path / "run.html", redact=("texts",)).read_text()
    assert "[redacted, 1,234 characters]" in page
    assert set(re.findall(r"redacted, [\d,]+", page)) <= {"redacted, 1,234", "redacted, 4,321"}


def test_names_are_the_runs_own_whatever_their_case_and_stay_apart():
    metas = [{"system": "b", "rival_system": "c"}, {"system": "a", "group": "g"}]
    items = [Item(sample=jg.Sample(id=str(n), output="o", meta=m)) for n, m in enumerate(metas)]
    names = RunNames(known_names({"criteria": [{"name": "Depth"}]}), items)
    kept = UnredactedTexts(names)
    first, second, third = (names.of("criterion", name) for name in ("Wit", "wit", "Pace"))
    assert first != second
    assert first.casefold() == second.casefold() != third.casefold()
    assert kept.of("criterion", "wit") == second
    assert kept.of("criterion", "New") == names.of("criterion", "New")
    assert names.of("criterion", "DEPTH") == "DEPTH"
    assert [names.meta("system", "a"), names.meta("rival_system", "c"), names.meta("group", "g")] == [
        "system-1", "system-3", "group-1"
    ]  # fmt: skip
    assert names.of("agent", "x/merge").endswith("merge")
    assert (names.text("abc"), kept.text("abc")) == ("[redacted, 3 characters]", "abc")
