"""What stands at the top of a page: each sentence on a run where it must appear, and on one where it must not."""

import json
import random
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.cli.main import main
from judgegraph.cli.run import run as run_command
from judgegraph.errors import status_text
from judgegraph.report.findings import BEYOND, followed
from judgegraph.report.page import written_report
from judgegraph.report.samples import cause
from judgegraph.runs.item import Item, ending
from judgegraph.views.blocks import Para
from judgegraph.views.run import mean_text, over_budget, run_blocks
from judgegraph.views.trace import head_of, telling

FIVE = jg.Scale.of("1-5")
MANY = 30


def score(criterion: str, value: float | None, stage: str = "final", draft: jg.Score | None = None) -> jg.Score:
    known = {
        "agent": "critic" if draft else "judge",
        "stage": stage,
        "scale": FIVE,
        "draft": draft.key if draft else None,
    }
    if value is None:
        return jg.Score(criterion=criterion, status="unreadable", reason="no JSON in the reply", **known)
    return jg.Score(criterion=criterion, value=value, **known)


def item(at: int, *scores: jg.Score, words: int = 20, **human: float) -> Item:
    sample = jg.Sample(id=f"s{at}", output="word " * words, human=human)
    return Item(sample=sample, scores=scores, place=at)


def said(tmp_path, items: Iterable[Item], **manifest) -> list[str]:
    run = jg.Run({"signature": "mine", "state": "finished", "method": "mine", **manifest}, tuple(items), None)
    return [one.text for one in written_report(run, tmp_path / "page.html")[1]]


def drawn(make: Callable[[random.Random, int], Item]) -> list[Item]:
    rng = random.Random(3)
    return [make(rng, at) for at in range(MANY)]


def noise(rng: random.Random) -> float:
    return float(rng.randint(1, 5))


def test_a_run_that_finished_says_so(tmp_path):
    assert said(tmp_path, [item(0, score("A", 3)), item(1, score("A", 4))])[0] == "All 2 samples were judged."


def test_the_one_sample_of_a_run_is_told_as_one(tmp_path):
    assert said(tmp_path, [item(0, score("A", 3))])[0] == "Its one sample was judged."
    assert not any("one sample" in text for text in said(tmp_path, [item(0, score("A", None))]))
    assert not any("one sample" in text for text in said(tmp_path, [item(0, score("A", 3)), item(1, score("A", 4))]))


def test_samples_that_the_budget_did_not_reach_ask_for_a_larger_one(tmp_path):
    reached = [item(at, score("A", 3)) for at in range(2)]
    unreached = Item(sample=jg.Sample(id="x", output="t"), status="over_budget", reason="the budget of $1 is used up")
    lost = Item(sample=jg.Sample(id="y", output="t"), status="timeout", reason="no reply in 120 s")

    def told(*items: Item) -> dict[str, str]:
        run = jg.Run({"signature": "mine", "state": "finished", "method": "mine"}, items, None)
        return {one.text: one.command for one in written_report(run, tmp_path / "page.html")[1]}

    over = told(*reached, unreached)
    assert over["1 of 3 samples ended early (over the budget 1): the budget of $1 is used up."] == (
        "the same command with a larger budget"
    )
    both = told(*reached, unreached, lost)
    (text,) = [text for text in both if "ended early" in text]
    assert both[text] == "the same command with a larger budget and --retry-failed"
    alone = told(*reached, lost)
    assert alone["1 of 3 samples ended early (timeout 1): no reply in 120 s."] == "the same command with --retry-failed"
    assert not any("budget" in text + command for text, command in alone.items())


def test_a_run_of_which_samples_failed_says_how_many_and_why(tmp_path):
    lost = Item(sample=jg.Sample(id="x", output="t"), status="timeout", reason="no reply in 120 s")
    found = said(tmp_path, [item(0, score("A", 3)), lost, lost])
    assert found[0] == "2 of 3 samples ended early (timeout 2): no reply in 120 s."
    assert not any("All" in text for text in found)


def test_a_run_that_was_stopped_is_not_told_as_a_whole_one(tmp_path):
    found = said(tmp_path, [item(0, score("A", 3))], state="stopped", samples={"total": 9})
    assert found[0].startswith("The run is unfinished: 1 of 9 samples done")
    assert not any(text.startswith("All") for text in found)


def test_a_run_whose_samples_brought_nothing_is_not_told_as_judged(tmp_path):
    found = said(tmp_path, [item(0, score("A", None)), item(1, score("A", None)), item(2, score("A", 3))])
    assert found[0] == "All 3 samples came to their end; 2 have no answer."


def test_missing_scores_are_counted_with_their_commonest_reason(tmp_path):
    items = [item(at, score("A", None if at < 4 else 3), score("B", None if at < 1 else 4)) for at in range(10)]
    assert said(tmp_path, items)[1] == (
        "5 of 20 scores are missing, most of A (4); the commonest reason (5): unreadable, no JSON in the reply."
    )
    assert not any("missing" in text for text in said(tmp_path, [item(0, score("A", 3))]))


@pytest.mark.parametrize(("first", "tied"), [(3, False), (2, True)])
def test_of_causes_that_are_as_common_none_is_called_the_commonest(first, tied, tmp_path):
    """Of scores, criteria, samples, a sample's parts and labels alike."""
    lost = [score("A", None), score("B", None).model_copy(update={"status": "refused", "reason": "no words"})]
    items = [
        item(at, *([lost[0], score("B", 4)] if at < first else [score("A", 3), lost[1]])) for at in range(first + 2)
    ]
    (text,) = [text for text in said(tmp_path, items) if "missing" in text]
    assert ("most of A, B (2 each); one of the 2 commonest reasons (2 each): " in text) == tied
    assert ("most of A (3); the commonest reason (3): unreadable" in text) != tied
    ended = [
        item(at).model_copy(update={"status": "agent_error", "reason": f"why {'ab'[at >= first]}"})
        for at in range(first + 2)
    ]
    text = said(tmp_path, ended)[0]
    assert ("one of the 2 commonest reasons (2 each)" in text, "the commonest reason (3)" in text) == (tied, not tied)
    assert f"failed parts, {first} of them unreadable" in cause(item(0, *lost[:1] * first, *lost[1:] * 2))
    kinds = Counter(warm=first, cool=2)
    line = SimpleNamespace(labels=kinds)
    assert mean_text(line) == ("warm, cool (2 each)" if tied else "warm (3)")


@pytest.mark.parametrize(
    ("reason", "end"), [("It said no.", "It said no."), ("no reply", "no reply."), ("Why?", "Why?")]
)
def test_a_reason_that_ends_a_sentence_gets_no_second_stop(tmp_path, reason, end):
    lost = score("A", None).model_copy(update={"reason": reason})
    (text,) = [text for text in said(tmp_path, [item(0, lost), item(1, score("A", 3))]) if "missing" in text]
    assert text.endswith(f"unreadable, {end}")


def critic(better: bool) -> list[Item]:
    """People agree with the final where it is better, else with the draft."""

    def one(rng: random.Random, at: int) -> Item:
        right, wrong = noise(rng), noise(rng)
        draft = score("A", wrong if better else right, "draft")
        return item(at, draft, score("A", right if better else wrong, draft=draft), A=right)

    return drawn(one)


@pytest.mark.parametrize(("better", "way"), [(True, "brought them closer to people"), (False, "took them further")])
def test_what_the_critic_did_is_told_against_people(tmp_path, better, way):
    (text,) = [text for text in said(tmp_path, critic(better)) if text.startswith("The critic critic changed")]
    assert way in text


def test_a_critic_without_people_is_told_by_its_changes_alone(tmp_path):
    items = [Item(sample=one.sample.model_copy(update={"human": {}}), scores=one.scores) for one in critic(True)]
    (text,) = [text for text in said(tmp_path, items) if "critic" in text]
    assert "only judgements of people tell" in text
    assert not any("critic" in text for text in said(tmp_path, [item(0, score("A", 3))]))


def test_a_critic_that_changed_nothing_or_was_judged_by_too_few_says_so(tmp_path):
    draft = score("A", 3, "draft")
    kept = [item(at, draft, score("A", 3, draft=draft)) for at in range(4)]
    assert "The critic critic changed none of 4 scores." in said(tmp_path, kept)
    few = [item(at, draft, score("A", 4, draft=draft), A=at % 5 + 1) for at in range(4)]
    (text,) = [text for text in said(tmp_path, few) if text.startswith("The critic")]
    assert "changed 4 of 4 scores" in text
    assert "people judged too few to tell" in text or "cannot be told" in text
    assert not any("changed none" in text or "too few" in text for text in said(tmp_path, critic(True)))


def test_a_critic_of_which_it_cannot_be_told_claims_neither_way(tmp_path):
    def one(rng: random.Random, at: int) -> Item:
        draft = score("A", noise(rng), "draft")
        return item(at, draft, score("A", noise(rng), draft=draft), A=noise(rng))

    (text,) = [text for text in said(tmp_path, drawn(one)) if text.startswith("The critic")]
    assert "it cannot be told whether for the better" in text
    assert "closer" not in text
    assert "further" not in text


@pytest.mark.parametrize("follows", [True, False])
def test_without_people_a_criterion_is_named_where_it_follows_length_clearly(tmp_path, follows):
    def one(rng: random.Random, at: int) -> Item:
        long = rng.randint(10, 90)
        return item(at, score("Long", 1 + 4 * long / 90 if follows else noise(rng)), words=long)

    found = [text for text in said(tmp_path, drawn(one)) if "output's length" in text]
    assert [text.partition(" (rank")[0] for text in found] == ["Long follows the output's length"] * follows


def test_verdicts_of_one_order_say_nothing_of_exchanges(tmp_path):
    pairs = [Item(sample=jg.Sample(id=f"p{at}", output="t", rival="u"), verdict="A", place=at) for at in range(3)]
    (found,) = (text for text in said(tmp_path, pairs) if text.startswith("Of 3 pairs: A 3. No lead for sure: "))
    assert "change with the order" not in found
    assert not any("pairs" in text for text in said(tmp_path, [item(0, score("A", 3))]))


def test_a_criterion_that_follows_length_as_it_follows_people_is_named(tmp_path):
    def one(rng: random.Random, at: int) -> Item:
        long, right = rng.randint(10, 90), noise(rng)
        return item(
            at, score("Long", 1 + 4 * long / 90), score("Right", right), words=long, Long=noise(rng), Right=right
        )

    found = said(tmp_path, drawn(one))
    assert [text.split(" ")[0] for text in found if "output's length" in text] == ["Long"]
    assert any(text.startswith("Right follows people best") and "Long " in text for text in found)


def test_several_criteria_that_follow_length_are_one_sentence_which_begins_with_the_closest(tmp_path):
    def one(rng: random.Random, at: int) -> Item:
        long = rng.randint(10, 90)
        near, far = 1 + 4 * long / 90, max(1.0, min(5.0, 1 + 4 * long / 90 + rng.uniform(-1.5, 1.5)))
        return item(at, score("Far", far), score("Near", near), words=long, Far=noise(rng), Near=noise(rng))

    (text,) = [text for text in said(tmp_path, drawn(one)) if "output's length" in text]
    assert text.startswith(
        "Near and Far follow the output's length and are not shown to follow people (Near rank correlation 1.00"
    )


SURE, CHANCE, AGAINST = (0.6, 0.3, 0.8), (0.2, -0.1, 0.5), (-0.7, -0.9, -0.4)
POINTS = ": 1 is people's order, 0 chance, from 0.5 much)"


@pytest.mark.parametrize(
    ("best", "least", "words"),
    [
        (SURE, None, f"A follows people (rank correlation 0.60 [0.30, 0.80]{POINTS}"),
        (CHANCE, None, f"A is not shown to follow people (rank correlation 0.20 [-0.10, 0.50]{POINTS}"),
        (AGAINST, None, f"A ranks the other way round than people (rank correlation -0.70 [-0.90, -0.40]{POINTS}"),
        (SURE, SURE, f"A follows people best (rank correlation 0.60 [0.30, 0.80]{POINTS}, B least (0.60 [0.30, 0.80])"),
        (SURE, CHANCE, f"A follows people best (rank correlation 0.60 [0.30, 0.80]{POINTS}; "
                       "B is not shown to (0.20 [-0.10, 0.50])"),
        (SURE, AGAINST, f"A follows people best (rank correlation 0.60 [0.30, 0.80]{POINTS}; "
                        "B ranks the other way round than people (-0.70 [-0.90, -0.40])"),
        (CHANCE, AGAINST, "No criterion is shown to follow people: A comes nearest (rank correlation 0.20 "
                          f"[-0.10, 0.50]{POINTS}, B least (-0.70 [-0.90, -0.40])"),
    ],
)  # fmt: skip
def test_what_is_said_of_people_fits_the_sign(best, least, words):
    told = [("A", *best)] + ([("B", *least)] if least else [])
    assert followed(told, BEYOND["spearman"]) == words


LABELS = jg.Scale.of(["bad", "fair", "good"])


@pytest.mark.parametrize("kind", ["score", "label", "pair"])
@pytest.mark.parametrize("follows", [True, False])
def test_chance_is_never_said_to_follow_people_whatever_they_gave(tmp_path, kind, follows):
    """A judge that says "A" of every pair, or a label at random, agrees with people on a third of them."""

    def one(rng: random.Random, at: int) -> Item:
        mine, people = "123"[at % 3], "123"[at // 3 % 3]  # each meets each as often
        people = mine if follows else people
        if kind == "score":
            return item(at, score("Q", float(mine)), Q=float(people))
        if kind == "label":
            words = {"1": "bad", "2": "fair", "3": "good"}
            mark = jg.Score(criterion="Q", label=words[mine], agent="judge", stage="final", scale=LABELS)
            return item(at, mark, Q=words[people])
        sides = {"1": "A", "2": "B", "3": "tie"}
        sample = jg.Sample(id=f"p{at}", output="t " * 20, rival="u " * 20, human={"overall": sides[people]})
        return Item(sample=sample, verdict=sides[mine] if follows else "A", place=at)

    (text,) = [text for text in said(tmp_path, drawn(one)) if re.search("follows? people", text)]
    whose = "The verdict" if kind == "pair" else "Q"
    assert text.startswith(f"{whose} {'follows' if follows else 'is not shown to follow'} people (")
    assert ("the same" in text) == (kind != "score")
    page = (tmp_path / "page.html").read_text()
    assert "follows people" not in page or follows


def test_people_whose_column_meets_no_criterion_are_named_with_a_cure(tmp_path):
    def one(column: str) -> Callable[[random.Random, int], Item]:
        def made(rng: random.Random, at: int) -> Item:
            draft = score("Clarity", noise(rng), "draft")
            return item(at, draft, score("Clarity", noise(rng), draft=draft), **{column: noise(rng)})

        return made

    def told(column: str) -> dict[str, str]:
        run = jg.Run({"signature": "mine", "state": "finished", "method": "mine"}, tuple(drawn(one(column))), None)
        return {one.text: one.command for one in written_report(run, tmp_path / "page.html")[1]}

    lost = told("QA")
    assert lost["People judged QA, and no criterion of the run has such a name (Clarity): these judgements are held "
                "against nothing."].startswith("name the column human.CRITERION")  # fmt: skip
    (critic,) = [text for text in lost if text.startswith("The critic")]
    assert critic.endswith("; people judged none of them by these criteria, so whether for the better cannot be told.")
    assert lost[critic] == ""  # meta would end with 1
    met = told("clarity")
    assert not any("no criterion of the run" in text for text in met)
    assert any(command.startswith("judgegraph meta") for command in met.values())


@pytest.mark.parametrize(("shift", "words"), [(1.0, "more lenient"), (-1.0, "stricter"), (0.0, "")])
def test_how_lenient_the_judge_is_stands_beside_peoples_mean(tmp_path, shift, words):
    def one(rng: random.Random, at: int) -> Item:
        people = rng.choice((2.0, 3.0, 4.0))
        return item(at, score("A", people + shift + rng.choice((-0.5, 0.5))), A=people)

    found = [text for text in said(tmp_path, drawn(one)) if text.startswith("The judge is")]
    assert [text.partition(" than people by A: ")[0] for text in found] == [f"The judge is {words}"] * bool(words)
    assert all("on average where people give" in text and f"n {MANY}" in text for text in found)


def test_what_stopped_a_run_is_one_finding_with_one_next_step(tmp_path):
    reached = [item(at, score("A", 3)) for at in range(2)]
    lost = [Item(sample=jg.Sample(id=f"x{at}", output="t"), status="over_budget", reason="used up", place=2 + at)
            for at in range(3)]  # fmt: skip
    manifest = {"signature": "m", "state": "over_budget", "method": "m", "samples": {"total": 5}}
    found = written_report(jg.Run(manifest, (*reached, *lost), None), tmp_path / "page.html")[1]
    assert found[0].text == (
        "The run is unfinished: 2 of 5 samples done; its budget is spent; "
        "3 of 5 samples ended early (over the budget 3): used up."
    )
    assert [one.command for one in found if one.command.startswith("the same")] == [
        "the same command with a larger budget"
    ]


def test_rows_that_were_no_samples_are_counted_with_those_that_were_judged(tmp_path):
    rows = [{"id": "a", "output": "A text of a few words."}, {"id": "b"}, {"id": "c", "output": "Another such text."}]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    words = ["run", "llm-score", str(tmp_path / "d.jsonl"), "-j", "embedded", "-o", str(tmp_path / "run")]
    CliRunner().invoke(main, words)
    found = written_report(tmp_path / "run", tmp_path / "page.html")[1]
    assert found[0].text == "2 of 3 rows were judged; 1 is no sample and was left out."


def test_a_criterion_that_ranks_against_people_is_not_said_to_follow_them(tmp_path):
    """Nor is its length said to be followed as closely as people are: its correlation with them is below 0."""

    def one(rng: random.Random, at: int) -> Item:
        long = rng.randint(10, 90)
        return item(at, score("A", 1 + 4 * long / 90), words=long, A=5 - 4 * long / 90 + rng.random())

    found = said(tmp_path, drawn(one))
    assert any(text.startswith("A ranks the other way round than people (") for text in found)
    (length,) = [text for text in found if "output's length" in text]
    assert length.startswith("A follows the output's length and is not shown to follow people (rank correlation 1.00")
    assert "; with people -0." in length


def test_six_sentences_are_enough(tmp_path):
    def one(rng: random.Random, at: int) -> Item:
        long, right = rng.randint(10, 90), noise(rng)
        near, draft = 1 + 4 * long / 90, score("Same", noise(rng), "draft")
        scores = (score("Near", near), score("Alike", near), draft, score("Same", right, draft=draft))
        lacking = (score("Lost", None),) if at % 5 == 0 else ()
        return item(at, *scores, *lacking, words=long, **dict.fromkeys(("Near", "Alike"), noise(rng)), Same=right)

    lost = Item(sample=jg.Sample(id="x", output="t"), status="timeout", reason="no reply in 120 s")
    found = said(tmp_path, [*drawn(one), lost])
    assert len(found) == 6
    assert not any("say the same" in text for text in found)
    assert [part for part in ("ended early", "missing", "The critic", "length", "follows people best", "Look first")
            if not any(part in text for text in found)] == [], found  # fmt: skip


def test_criteria_that_say_the_same_are_named(tmp_path):
    def one(rng: random.Random, at: int) -> Item:
        value = rng.uniform(1, 5)
        return item(at, score("A", value), score("B", value), score("C", noise(rng)))

    found = said(tmp_path, drawn(one))
    assert [text.partition(" (")[0] for text in found if "say the same" in text] == ["A and B say the same"]
    assert '<section id="overlap"' in (tmp_path / "page.html").read_text()


def test_verdicts_that_change_with_the_order_are_counted(tmp_path):
    def pair(at: int, second: str) -> Item:
        known = {"criterion": "overall", "agent": "merge", "reason": ""}
        both = (jg.Comparison(order="AB", verdict="A", **known), jg.Comparison(order="BA", verdict=second, **known))
        sample = jg.Sample(id=f"p{at}", output="t " * 20, rival="u " * 20)
        return Item(sample=sample, comparisons=both, verdict="A" if second == "A" else "tie")

    found = said(tmp_path, [pair(at, "A" if at % 4 else "B") for at in range(20)])
    assert (
        "Of 20 pairs: A 15, tie 5; 25 % of verdicts change with the order of the two (11 % to 47 %, n 20)."
        in " ".join(found)
    )


def test_which_samples_to_look_at_first_is_told_with_why(tmp_path):
    draft = score("A", 2, "draft")
    found = said(tmp_path, [item(0, draft, score("A", 5, draft=draft)), item(1, score("A", 4))])
    assert "Look first at s1 (the lowest score: mean 4.00 on 1-5); s0 (moved most: A 2 → 5)." in found
    verdicts = [Item(sample=jg.Sample(id="p", output="t", rival="u"), verdict="A", place=0)]
    assert not any("lowest" in text for text in said(tmp_path, verdicts))


def test_a_damaged_line_stands_in_the_first_sentence(tmp_path):
    """ "All 2 samples were judged" was said of three, one of whose lines could not be read."""

    async def mine(state: jg.EvalState) -> jg.EvalState:
        return {"scores": jg.keyed(score("A", 3))}

    made = StateGraph(jg.EvalState)
    made.add_node("mine", mine)
    made.add_edge(START, "mine")
    made.add_edge("mine", END)
    folder = tmp_path / "run"
    jg.evaluate(made.compile(), [jg.Sample(id=i, output="Some text of a few words.") for i in "abc"], out=folder)
    lines = (folder / "items.jsonl").read_bytes().splitlines(keepends=True)
    lines[1] = lines[1][:40] + b"#" + lines[1][41:]
    (folder / "items.jsonl").write_bytes(b"".join(lines))
    found = [one.text for one in written_report(jg.Run.load(folder), tmp_path / "page.html")[1]]
    assert found[:2] == [
        "1 line of the run's items is damaged and left out.", "All other 2 samples were judged.",
    ]  # fmt: skip


def test_what_follows_people_best_and_least_is_named_with_its_judge_where_names_are_alike(tmp_path):
    def judged(rng, at):
        human = rng.randint(1, 5)
        one = score("A", float(human))
        return item(at, one, one.model_copy(update={"agent": "other", "value": noise(rng)}), A=human)

    (text,) = [one for one in said(tmp_path, drawn(judged)) if "follows people best" in one]
    assert text.startswith("A of judge follows people best")
    assert "; A of other is not shown to (" in text


def test_a_stronger_judge_is_called_no_critic(tmp_path):
    def judged(rng, at):
        draft = score("A", noise(rng), "draft")
        final = score("A", 3, draft=draft).model_copy(update={"agent": "escalate", "notes": ("escalated: low",)})
        return item(at, draft, final)

    found = " ".join(said(tmp_path, drawn(judged)))
    assert "The stronger judge of escalate changed" in found
    assert "critic" not in found
    page = (tmp_path / "page.html").read_text()
    assert "What the stronger judge changed" in page


@pytest.mark.parametrize("way", [1, -1])
def test_a_criterion_that_falls_with_length_is_told_to(tmp_path, way):
    def one(rng: random.Random, at: int) -> Item:
        long = rng.randint(10, 90)
        return item(at, score("Long", 3 + way * 2 * (long - 50) / 40), words=long)

    (text,) = [text for text in said(tmp_path, drawn(one)) if "output's length" in text]
    assert text.endswith("; the shorter, the higher).") == (way < 0)


def test_scores_by_criteria_of_single_samples_are_missing_from_all_of_these(tmp_path):
    written = [
        item(at, score(f"Own {at}", None if at < 2 else 3)).model_copy(
            update={"branches": {f"Own {at}": jg.Criterion(name=f"Own {at}")}}
        )
        for at in range(4)
    ]
    (text,) = [text for text in said(tmp_path, written) if "missing" in text]
    assert text.startswith("2 of 4 scores are missing, all of criteria written for each sample;")


def thin(at: int, value: float) -> Item:
    note = jg.Note(agent="sample", text="the output is empty", kind="text-empty")
    return item(at, score("A", value)).model_copy(update={"notes": (note,)})


def compared(at: int, one: float, other: float) -> Item:
    sides = score("A", one), score("A", other).model_copy(update={"of": "rival"})
    return item(at, *sides).model_copy(update={"verdict": "A"})


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([item(0, score("A", 2), score("B", 5)), item(1, score("A", 3), score("B", 3)), thin(2, 1)],
         "s1 (the lowest score but for 1 text that gives nothing to judge"),
        ([compared(0, 3, 4), compared(1, 4, 2), item(2, score("A", 1))],
         "s1 (the lowest score but for 1 row without a rival: mean 3.00 on 1-5, both outputs"),
    ],
)  # fmt: skip
def test_the_lowest_score_is_one_on_page_and_terminal_and_says_what_it_leaves_out(tmp_path, items, words):
    (look,) = [text for text in said(tmp_path, items) if text.startswith("Look first at ")]
    assert look.startswith(f"Look first at {words}")
    shown, why = telling(items)
    assert f"{shown.id} ({why}" == words


def steps(run: jg.Run, tmp_path) -> dict[str, str]:
    return {one.text: one.command for one in written_report(run, tmp_path / "page.html")[1]}


def lost(at: int, status: str, reason: str) -> Item:
    kept = score("A", None).model_copy(update={"status": status, "reason": reason})
    return item(at, kept)


@pytest.mark.parametrize(
    ("status", "reason", "options"),
    [
        ("unreadable", "no JSON in the reply", "--retry-failed"),
        ("truncated", "the reply was cut off at the limit of 1,024 tokens; max_tokens",
         "--max-tokens 2048 and --retry-failed"),
        ("too_large", "the prompt has 500,000 characters, and at most 400,000 are sent",
         "--max-prompt 500000 and --retry-failed"),
        ("refused", "the model refused", ""),  # another answer is not to be had by asking again
    ],
)  # fmt: skip
def test_what_may_end_otherwise_is_judged_again_by_the_options_that_it_needs(tmp_path, status, reason, options):
    items = (*(item(at, score("A", 3)) for at in range(3)), lost(3, status, reason))
    found = steps(jg.Run({"signature": "m", "state": "finished", "method": "m"}, items, None), tmp_path)
    (command,) = [command for text, command in found.items() if "missing" in text]
    assert command == (f"the same command with {options}" if options else "")
    for words in options.split(" and "):
        assert not words or words.split()[0] in {name for one in run_command.params for name in one.opts}


def test_a_budget_that_was_too_small_is_told_with_one_that_is_enough(tmp_path):
    unreached = [Item(sample=jg.Sample(id=f"x{at}", output="t"), status="over_budget", place=at + 2) for at in range(8)]
    manifest = {
        "signature": "m", "state": "over_budget", "method": "m", "samples": {"total": 10, "done": 10},
        "budget": {"calls": 40, "tokens": None, "usd": None}, "spent": {"calls": 40, "unanswered": 0},
    }  # fmt: skip
    run = jg.Run(manifest, (*(item(at, score("A", 3)) for at in range(2)), *unreached), None)
    assert "the same command with --budget-calls 220" in steps(run, tmp_path).values()
    assert over_budget(run, 8).endswith("8 samples are over it; the same command with --budget-calls 220, and --out "
                                        "FOLDER, goes on")  # fmt: skip


def saved(tmp_path, make: Callable[[random.Random, int], Item]) -> dict[str, str]:
    """The sentences of a run in a folder, of which next steps are commands."""
    items = {one.id: one for one in drawn(make)}

    async def mine(state: jg.EvalState) -> jg.EvalState:
        return {"scores": {one.key: one for one in items[state["sample"].id].scores}}

    made = StateGraph(jg.EvalState)
    made.add_node("mine", mine)
    made.add_edge(START, "mine")
    made.add_edge("mine", END)
    return steps(jg.evaluate(made.compile(), [one.sample for one in items.values()], out=tmp_path / "run"), tmp_path)


@pytest.mark.parametrize("follows", [True, False])
def test_where_labels_are_too_few_their_number_and_the_place_to_give_them_are_named(tmp_path, follows):
    def one(rng: random.Random, at: int) -> Item:
        mine = noise(rng)
        return item(at, score("A", mine), A=mine if follows or rng.random() < 0.3 else noise(rng))

    (said,) = [(text, command) for text, command in saved(tmp_path, one).items() if re.search("follows? people", text)]
    folder = tmp_path / "run"
    assert said[1] == (f"judgegraph meta {folder}" if follows else f"judgegraph view {folder}")
    assert (re.search(r"; about (\d\d0*|[\d,]+) labels would tell one like this from chance\.$", said[0]) is None) == (
        follows
    )


@pytest.mark.parametrize("alike", [True, False])
def test_of_two_criteria_that_say_the_same_the_worth_of_one_is_a_command_that_runs(tmp_path, alike):
    def one(rng: random.Random, at: int) -> Item:
        value = rng.uniform(1, 5)
        return item(at, score("A", value), score("B b", value if alike else rng.uniform(1, 5)))

    found = [(text, command) for text, command in saved(tmp_path, one).items() if "say the same" in text]
    assert len(found) == alike
    for text, command in found:
        assert ": 1 is one order of the samples, 0 none, from 0.9 the same): one of them may do." in text
        done = CliRunner().invoke(main, shlex.split(command)[1:])
        assert done.exit_code == 0, done.output
        assert "redundant with A" in done.output


@pytest.mark.parametrize("closely", [True, False])
def test_length_is_followed_as_closely_as_people_only_where_people_are_followed(tmp_path, closely):
    def one(rng: random.Random, at: int) -> Item:
        long = rng.randint(10, 90)
        people = 1 + 4 * long / 90 + (rng.gauss(0, 0.8) if closely else 0)
        mine = 1 + 4 * long / 90 + (0 if closely else rng.gauss(0, 0.8))
        return item(at, score("A", mine), words=long, A=people if closely else mine)

    found = [text for text in said(tmp_path, drawn(one)) if "at least as closely as it follows people" in text]
    assert len(found) == closely


@pytest.mark.parametrize("wide", [True, False])
def test_the_least_certain_sample_is_named_where_answers_have_distributions(tmp_path, wide):
    known = {"distribution": {"2": 0.5, "4": 0.5}} if wide else {}
    items = [item(at, score("A", 3).model_copy(update=known if at == 2 else {})) for at in range(4)]
    (look,) = [text for text in said(tmp_path, items) if text.startswith("Look first at ")]
    assert ("the least certain: A" in look) == wide


@pytest.mark.parametrize("rejected", [True, False])
def test_rows_left_out_are_told_beside_samples_that_failed(tmp_path, rejected):
    rows = [{"id": "a", "output": "A text of a few words."}, {"id": "b", "output": "Another such text."}]
    rows += [{"id": "c"}] if rejected else []
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    words = ["run", "llm-score", str(tmp_path / "d.jsonl"), "-o", str(tmp_path / "run"), "--budget-calls", "1"]
    CliRunner().invoke(main, words)
    found = [one.text for one in written_report(tmp_path / "run", tmp_path / "page.html")[1]]
    assert any("ended early (over the budget 2)" in text for text in found)
    assert ("Of 3 rows 1 is no sample and was left out." in found) == rejected


WORDS = "over_budget", "agent_error", "provider_error", "too_large"


@pytest.mark.parametrize("status", WORDS)
def test_no_view_says_the_identifier_of_a_status(tmp_path, status):
    """Terminal, page, notebook and the text of a sample say it in words; JSON and options keep it."""
    whole = Item(sample=jg.Sample(id="x", output="t"), status=status, reason="why", place=0)
    run = jg.Run({"signature": "m", "state": "finished", "method": "m"}, (whole, lost(1, status, "why not")), None)
    page = written_report(run, tmp_path / "page.html")[0].read_text()
    shown = [page, run._repr_html_(), run.summary()._repr_html_(), *(str(one.text) for one in run_blocks(
        run, run.summary()) if isinstance(one, Para)), ending(whole), head_of(whole)]  # fmt: skip
    assert not any(status in text for text in shown)
    assert all(status_text(status) in text for text in shown[:3])
    assert status in json.dumps(run.summary().to_dict())
