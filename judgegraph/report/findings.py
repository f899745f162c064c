"""What a run found, in a few sentences with their numbers: the first thing on its page, and what `report` prints."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from judgegraph.errors import ConfigError, DataError, commonest, one_line, sentence, status_text
from judgegraph.meta.answers import answers_in
from judgegraph.meta.cells import OVER_ALL, OVERALL, unmatched
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.criterion_worth import LEAST, SAME, SURELY, rank_correlation, rank_interval
from judgegraph.meta.critic import CriticOf, CriticWorth, MeanGain, Review, cost_of, critic_worth, reviewer
from judgegraph.meta.result import Agreement, Row, items_needed
from judgegraph.report.answers import agreement_of, criterion_and_judge, gap_to_people, matched_with_people, once
from judgegraph.report.charts import bars
from judgegraph.report.figures import MERGED, OWN, POOLED, Held, LengthEffect, draws, mean_share
from judgegraph.report.samples import Listing
from judgegraph.report.sections_run import Tally, tally_of
from judgegraph.runs.run import Run, incomplete_run
from judgegraph.runs.suggestions import Topic
from judgegraph.runs.summary import lead_line
from judgegraph.views import critic as of_critic
from judgegraph.views.blocks import (
    Block,
    Finding,
    Fold,
    Grid,
    Para,
    Section,
    counted,
    endings,
    number_text,
    percent,
    signed,
    valued,
    within,
)
from judgegraph.views.critic import topic_table
from judgegraph.views.run import larger_budget
from judgegraph.views.trace import lowest_in_words

# What the critics did to the scores: SAGEval's Table 1 (arXiv:2411.16077), and what it was worth.


def rectification(run: Run, tally: Tally | None = None) -> Section | None:
    """For each critic how many scores it left, lowered and raised, by how much; None where nobody reviewed a score.

    SAGEval's Table 1 counts the same for its critic (Neg, Pos, Total, Definition); there 193 of 210 changes lower.
    """
    tally = tally or tally_of(run)
    by: dict[tuple[str, str], list[Review]] = {}
    for review in tally.critiques.reviews.values():
        by.setdefault((review.critic, review.reviewed), []).append(review)
    if not by:
        return None
    kinds = {reviewer(reviews) for reviews in by.values()}
    who = kinds.pop() if len(kinds) == 1 else "critic"
    blocks: list[Block] = []
    for (critic, reviewed), reviews in by.items():
        blocks += [*of_critic.changes(reviews, f"{critic} over {reviewed}"), *map(Para, _sentences(reviews))]
        cost = cost_of(run.manifest, critic)
        if cost is not None:
            blocks.append(Para(f"Cost of {critic}: {of_critic.cost_text(cost)}."))
    return Section("rectification", f"What the {who} changed", (*blocks, *_worth(run, tally)))


def _sentences(reviews: Sequence[Review]) -> list[str]:
    down, moved = sum(r.down for r in reviews), sum(r.down + r.up for r in reviews)
    return (
        [f"Of {counted(moved, 'score')} that it moved, {down:,} ({percent(down, moved)}) went down."] if moved else []
    )


def _worth(run: Run, tally: Tally) -> list[Block]:
    """Agreement with people before and after, on those that people judged."""
    worth = worth_of(run, tally)
    if isinstance(worth, str):
        return [Para(sentence(f"Agreement with people before and after cannot be told: {worth}"))] if worth else []
    critics = [critic for critic in worth.critics if critic.gains]
    if not critics:
        return []
    how = (
        f"Agreement with people before and after, on {tally.labelled.counted} that people judged: dataset level; 95 % "
        f"intervals of the difference from {worth.conventions.resamples:,} resamples, drafts and finals drawn "
        f"together. judgegraph meta has tests of it.{tally.unlabelled}"
    )
    blocks: list[Block] = [Para(how)]
    for critic in critics:
        caption = f"{critic.critic} over {critic.reviewed}, against people"
        blocks += of_critic.gains(critic, worth.conventions.confidence, caption, tested=False)
        blocks += (Para(line) for line in of_critic.mean_gains(critic))
        if (split := of_critic.split_verdict(critic)) is not None:
            blocks.append(Para(sentence(split)))
    return blocks


def worth_of(run: Run, tally: Tally) -> CriticWorth | str:
    """What the critics were worth, worked out once for a page; in words where it cannot be told, "" without labels."""
    if tally.worth is None:
        held = tally.labelled.items
        # no p value is shown, so none is paid for; intervals are those of meta, which draws as many of few samples
        c = Conventions(coefficients=("spearman", "pearson"), resamples=draws(held), permutations=1)
        try:
            tally.worth = (critic_worth(Run(run.manifest, held), c) if held else None) or ""
        except (ConfigError, DataError) as error:
            tally.worth = one_line(error, 300)
    return tally.worth


# What critics suggest, by topic (SAGEval, arXiv:2411.16077, Figure 4).


TOPICS_MOST, DRAWN, SHOWN = 40, 12, 300
KINDS = (("criterion", "New criteria suggested"), ("definition", "Definitions to change"))


def suggestions(run: Run, tally: Tally | None = None) -> Section | None:
    """Topics of new criteria, then of changed definitions, the most frequent first; None where nothing was suggested.

    SAGEval's Figure 4 groups by topic, where its critic mostly asks for creativity and content quality.
    """
    tally = tally or tally_of(run)
    if not tally.advice.advised:
        return None
    found = tally.suggested
    blocks: list[Block] = [Para(
        f"{counted(found.advised, 'sample')} of {found.samples:,} brought a suggestion. Suggestions that are alike are "
        f"one topic, by {found.by}; a topic has the name of its most central one. No suggestion changes a score of its "
        "own run, and none is known to be worth asking: judgegraph suggestions RUN --criterion NAME measures it once a "
        "run has scored it."
    )]  # fmt: skip
    for kind, title in KINDS:
        if topics := found.of_kind(kind):
            rows = [(one.label, one.samples) for one in topics[:DRAWN]]
            told = tuple(Para(f"{one_line(one.label, 120)}: {_example(one)}") for one in topics[:TOPICS_MOST])
            blocks += [bars(title, rows, found.samples), topic_table(title, topics, found.samples, TOPICS_MOST)]
            blocks.append(Fold("The most central of each, with its reason", told))
    if found.beyond:
        blocks.append(Para(f"{counted(found.beyond, 'later suggestion')} with yet other names not counted."))
    return Section("suggestions", "What the critic suggests, by topic", tuple(blocks))


def _example(topic: Topic) -> str:
    reason = f" Reason: {one_line(topic.reason, SHOWN)}" if topic.reason.strip() else ""
    return one_line(topic.definition, SHOWN) + reason


class Beyond(NamedTuple):
    """A statistic that is 0 where a judge agrees with people by chance alone.

    Attributes:
        what: its name. points: what its values mean. against: what a judge does whose value is surely below 0.
    """

    what: str
    points: str
    against: str


BEYOND = {  # the first that a run has is told
    "spearman": Beyond(
        "rank correlation", "1 is people's order, 0 chance, from 0.5 much", "ranks the other way round than people"
    ),
    "kappa": Beyond(
        "Cohen's kappa", "1 is always as people, 0 chance, from 0.6 much", "differs from people more than by chance"
    ),
}
WORDS = {"spearman": "rank correlation with people", "accuracy": "the share that is as people's"}
LABELS = "give them as columns human.CRITERION, then judgegraph meta"
RENAME = "name the column human.CRITERION after the criterion that it is of{}, or judge by criteria that have its name"
OF_LENGTH = "1 is the order of lengths, 0 none, from 0.5 much"
OF_ORDERS = f"1 is one order of the samples, 0 none, from {SAME:g} the same"
AGAIN = {"timeout", "provider_error", "agent_error", "unreadable", "truncated", "too_large"}  # may end otherwise
ROOM = {  # status -> the option that gives more room, how much of what the reason names, and where it names it
    "truncated": ("--max-tokens", 2, re.compile(r"limit of ([\d,]+) tokens")),
    "too_large": ("--max-prompt", 1, re.compile(r"prompt has ([\d,]+) characters")),
}
MOST_NEEDED = 100_000  # labels that a next step asks for
SENTENCES = 6  # at most, as far as leaving out the least telling ones brings it
LEAST_TELLING = ("alike", "order", "lenient", "people")  # the first first
NAMED = 3  # criteria of a sentence
WIDE = 1.96  # standard deviations from the middle of a 95 % interval to its end
LONG = 0.5  # a rank correlation with length that is told where no people judged: its interval lies beyond 0.2


def findings(run: Run, tally: Tally, shown: Tally, lists: Sequence[Listing], rejected: int = 0) -> tuple[Finding, ...]:
    """In the order of the questions: did it finish, what failed, did the critic help, may the scores be trusted.

    Args:
        tally: of the run's numbers. shown: the same with texts as they may be shown. lists: of samples to look at.
        rejected: rows of the data that were no samples.
    """
    parts = {
        "finished": _finished(run, tally, shown, rejected), "missing": _missing(run, shown),
        "unmatched": _unmatched(run, tally), "people": _people(run, tally), "lenient": _lenient(run, tally),
        "critics": _critics(run, tally), "order": _order(tally), "length": _length(run, tally),
        "alike": _alike(run, tally), "look": _look(run, lists),
    }  # fmt: skip
    found = {name: [*part] for name, part in parts.items()}
    for name in LEAST_TELLING:
        if sum(map(len, found.values())) > SENTENCES:
            found[name] = []
    return tuple(one for part in found.values() for one in part)


def _finished(run: Run, tally: Tally, shown: Tally, rejected: int) -> Iterator[Finding]:
    """Whether every sample came to its end, and why not."""
    samples = tally.summary.samples
    left = incomplete_run(run, samples.total() - samples["over_budget"])
    failed = tally.samples - samples["ok"]
    gone = sum(what.startswith("left out: ") for what in (run.folder.left_out if run.folder else ()))
    if gone:
        text = f"{counted(gone, 'line')} of the run's items {'is' if gone == 1 else 'are'} damaged and left out."
        yield Finding(text, "about", f"judgegraph repair {_folder(run)}")
    if left and not failed:
        yield Finding(f"The run is {left}.", "about", "the same command goes on with what is left")
    if failed:
        text = f"{failed:,} of {counted(tally.samples, 'sample')} ended early ({endings(samples)})"
        whole = [one for one in shown.causes.commonest if not one.where]
        for cause in whole[:1]:
            said = "" if cause.samples == failed else f"; {commonest((one.samples for one in whole), 'reason')}"
            text += f"{said}: {one_line(cause.reason, 160)}"
        over = samples["over_budget"]
        options = [larger_budget(run, over)] if over else []
        options += _retried(shown) or (["--retry-failed"] if failed > over else [])
        goes_on = "goes on with what is left, and then " if left and not over else ""
        text = f"The run is {left}; {text}" if left else text
        yield Finding(f"{text}.", "failures", f"the same command {goes_on}with {' and '.join(options)}")
    elif tally.samples and not left:
        yield Finding(_ended(tally, rejected).replace("All ", "All other " if gone else "All ", 1), "scores")
    if rejected and (failed or left):
        yield Finding(f"Of {counted(tally.samples + rejected, 'row')} {_left_out(rejected)}.", "about")


def _retried(shown: Tally) -> list[str]:
    """Options with which the same command judges again what failed and may end otherwise; [] where nothing may."""
    causes = [one for one in shown.causes.commonest if one.status in AGAIN]
    most: dict[str, int] = {}
    for one in causes:
        option, times, named = ROOM.get(one.status, ("", 0, None))
        if named is not None and (size := named.search(one.reason)):
            most[option] = max(most.get(option, 0), times * int(size[1].replace(",", "")))
    return [f"{option} {size}" for option, size in most.items()] + (["--retry-failed"] if causes else [])


def _ended(tally: Tally, rejected: int) -> str:
    """Of a run that came to its end with all its samples; one that brought nothing was not judged."""
    without = tally.samples - tally.summary.answered
    rows = f"{tally.samples:,} of {counted(tally.samples + rejected, 'row')}"
    if without:
        have = "has" if without == 1 else "have"
        all_of = f"All {counted(tally.samples, 'sample')}" if not rejected else rows
        end = f"; {_left_out(rejected)}" if rejected else ""
        return f"{all_of} came to their end; {without:,} {have} no answer{end}."
    if rejected:
        return f"{rows} {'was' if tally.samples == 1 else 'were'} judged; {_left_out(rejected)}."
    return f"All {counted(tally.samples, 'sample')} were judged." if tally.samples > 1 else "Its one sample was judged."


def _left_out(rejected: int) -> str:
    return f"{rejected:,} {'is no sample and was' if rejected == 1 else 'are no samples and were'} left out"


def _missing(run: Run, tally: Tally) -> Iterator[Finding]:
    """Answers that samples lack which came to their end."""
    lines = tally.summary.shown
    asked = sum(line.n for line in lines)
    lacking: Counter[str] = Counter()
    for line in lines:
        lacking[line.criterion] += line.n - line.n_ok
    whose = {line.agent for line in lines}
    missing = [one for one in tally.causes.commonest if one.scores]
    causes = sorted([one for one in missing if one.where in whose] or missing, key=lambda one: -one.scores)
    if not lacking.total() or not causes:
        return
    first = causes[0]
    said = commonest((one.scores for one in causes), "reason")
    why = f"{said}: {status_text(first.status)}, {one_line(first.reason, 160)}"
    where = _most_of({name: count for name, count in lacking.most_common() if count})
    are = "is" if lacking.total() == 1 else "are"
    text = sentence(f"{lacking.total():,} of {counted(asked, 'score')} {are} missing{where}; {why}")
    again = _retried(tally) if tally.samples == tally.summary.samples["ok"] else []  # else the first sentence has it
    yield Finding(text, "failures", f"the same command with {' and '.join(again)}" if again else "")


def _most_of(lacking: Mapping[str, int]) -> str:
    """Which criterion lacks the most, or the several that lack as many."""
    most = max(lacking.values())
    names = ["criteria written for each sample" if n == OWN else one_line(n, 80) for n in lacking if lacking[n] == most]
    if len(lacking) == 1:
        return f", all of {names[0]}"
    shown = ", ".join(names) if len(names) <= NAMED else f"{len(names):,} criteria"
    return f", most of {shown} ({most:,}{' each' if len(names) > 1 else ''})"


def _unmatched(run: Run, tally: Tally) -> Iterator[Finding]:
    """What people judged under a name that no criterion of the run has."""
    met = dict.fromkeys(line.criterion for line in tally.summary.lines.values())
    if tally.labelled.items and OWN not in met:  # of criteria that are pooled no name is known
        said = [answers_in(item, None, False).names for item in tally.labelled.items]
        scored = dict.fromkeys([*met, *(name for names in said for name in names)])
        columns = dict.fromkeys(name for item in tally.labelled.items for name in item.sample.human)
        if lost := unmatched(columns, scored):
            theirs = f" ({_listed([*scored])})" if scored else ""
            such = f" (-f human.{next(iter(scored))}=human.{lost[0]})" if len(scored) == len(lost) == 1 else ""
            text = f"People judged {_listed(lost)}, and no criterion of the run has such a name{theirs}"
            yield Finding(f"{text}: these judgements are held against nothing.", "agreement", RENAME.format(such))


def _people(run: Run, tally: Tally) -> Iterator[Finding]:
    """Where the answers follow people most and least, beyond what chance would bring."""
    found = agreement_of(run, tally)
    if not isinstance(found, Agreement):
        return
    for statistic, by in BEYOND.items():
        rows = [row for row in found.rows if row.statistic == statistic and not math.isnan(row.value)]
        rows = once([row for row in rows if row.n >= LEAST])
        if not rows:
            continue
        best, worst = max(rows, key=lambda row: row.value), min(rows, key=lambda row: row.value)
        told = [(_whose(row, rows), row.value, *row.interval) for row in (best, worst)]
        alike = next(
            (
                r
                for r in found.rows
                if r.statistic == "accuracy" and criterion_and_judge(r) == criterion_and_judge(best)
            ),
            None,
        )
        same = f"; the same {best.kind} in {percent(alike.value, 1)}" if alike and statistic == "kappa" else ""
        said = followed(told if worst is not best else told[:1], by, f"{same}, n {best.n:,}")
        said = f"T{said[1:]}" if said.startswith("the ") else said
        more, command = _labels_needed(run, best)
        yield Finding(f"{said}{more}.", "agreement", command)
        return


def _labels_needed(run: Run, row: Row) -> tuple[str, str]:
    """How many labels would tell from chance what does not stand out of it yet, and where they are given."""
    low, high = row.interval
    if not run.folder or _is_beyond(row.value, low) or not low < row.value < high:
        return "", _meta(run)
    needed = items_needed(row.value, (high - low) / (2 * WIDE), row.n, 0.05) if row.value > 0 else None
    if needed is None or not row.n < needed <= MOST_NEEDED:
        return "", _meta(run)
    step = 10 ** max(0, len(str(needed)) - 2)  # two digits count
    return f"; about {-(-needed // step) * step:,} labels would tell one like this from chance", (
        f"judgegraph view {_folder(run)}"
    )


def _whose(row: Row, rows: Sequence[Row]) -> str:
    """A criterion, with the judge where several judge by it; of pairs the verdict."""
    over_all = row.kind == "verdict" and row.criterion.casefold() in (OVERALL, *OVER_ALL)
    name = "the verdict" if over_all else row.criterion
    several = sum(one.criterion == row.criterion for one in rows) > 1
    return one_line(name, 80) + (f" of {one_line(row.metric, 80)}" if several else "")


def followed(told: Sequence[tuple[str, float, float, float]], by: Beyond, more: str = "") -> str:
    """Whether criteria follow people: only where the interval of what lies beyond chance does not hold 0.

    Args:
        told: (name, statistic, low, high) of one criterion, or of the best and the least. more: behind the best's.
    """
    (first, value, low, high), *others = told
    said = f"({by.what} {valued(value, low, high)}: {by.points}{more})"
    sure = _is_beyond(value, low)
    if not others:
        does = "follows people" if sure else by.against if high < 0 else "is not shown to follow people"
        return f"{first} {does} {said}"
    last, least, least_low, least_high = others[0]
    last_said = f"({valued(least, least_low, least_high)})"
    if not sure:
        return f"No criterion is shown to follow people: {first} comes nearest {said}, {last} least {last_said}"
    if _is_beyond(least, least_low):
        return f"{first} follows people best {said}, {last} least {last_said}"
    return (
        f"{first} follows people best {said}; {last} {by.against if least_high < 0 else 'is not shown to'} {last_said}"
    )


def _is_beyond(value: float, low: float) -> bool:
    """Whether it is told from chance; where all agrees no resample differs, and there is no interval."""
    return low > 0 or (math.isnan(low) and value > 1 - 1e-9)


def _lenient(run: Run, tally: Tally) -> Iterator[Finding]:
    """Where the judge's mean is surely another than people's, on one scale."""
    apart = []
    for one in matched_with_people(run, tally, agreement_of(run, tally)):
        if (gap := gap_to_people(one)) is not None and (gap.low > 0 or gap.high < 0):
            apart.append((one, gap))
    for way, sign in (("more lenient", 1), ("stricter", -1)):
        mine = sorted((x for x in apart if x[1].value * sign > 0), key=lambda x: -x[1].share)
        if mine:
            one, gap = mine[0]
            means = f"{number_text(gap.judge)} on average where people give {number_text(gap.people)}"
            by = f"{signed(gap.value)} {within(gap.low, gap.high, sign=True)}, n {gap.n:,}"
            most = "" if len(mine) == 1 else f" by {counted(len(mine), 'criterion', 'criteria')}, most"
            text = f"The judge is {way} than people{most} by {one_line(one.criterion, 80)}: {means} ({by})"
            yield Finding(f"{text}.", "agreement", _meta(run))


def _critics(run: Run, tally: Tally) -> Iterator[Finding]:
    """What each critic did, and whether it brought the scores closer to people."""
    by: dict[str, list[int]] = {}
    met: dict[str, list[Review]] = {}
    for review in tally.critiques.reviews.values():
        for at, n in enumerate((review.n, review.changed, review.down, review.up)):
            by.setdefault(review.critic, [0, 0, 0, 0])[at] += n
        met.setdefault(review.critic, []).append(review)
    worth = worth_of(run, tally)
    for critic, (n, changed, down, up) in by.items():
        ways = ", ".join(f"{many:,} {way}" for many, way in ((down, "down"), (up, "up")) if many)
        did = f"changed {changed:,} of {counted(n, 'score')} ({percent(changed, n)}{': ' if ways else ''}{ways})"
        who = reviewer(met[critic])
        name = f"{who} {'' if who == 'critic' else 'of '}{one_line(critic, 80)}"
        if not changed:
            yield Finding(f"The {name} changed none of {counted(n, 'score')}.", "rectification")
            continue
        text = f"The {name} {did}"
        labels = f"judgegraph view {_folder(run)}" if run.folder else LABELS
        if not isinstance(worth, CriticWorth):
            end = f"whether for the better cannot be told: {worth}" if worth else (
                "whether for the better, only judgements of people tell"
            )  # fmt: skip
            yield Finding(f"{text}; {end}.", "rectification", "" if worth else labels)
        else:
            comparable = isinstance(agreement_of(run, tally), Agreement)
            gain = _gain(worth, critic)
            drafts = " --stage draft" if gain.startswith(WORSE) else ""  # which are the better answers
            yield Finding(f"{text}{gain}.", "rectification", _meta(run) + drafts if comparable else "")


WORSE = " and took them further from people"


def _gain(worth: CriticWorth, critic: str) -> str:
    """Such as " and brought them closer to people (rank correlation moved by +0.05 [0.01, 0.09] on average)"."""
    known = [one for one in worth.critics if one.critic == critic and one.means]
    judged = max((gain.n for one in known for gain in one.gains), default=0)
    if not judged:
        return "; people judged none of them by these criteria, so whether for the better cannot be told"
    if judged < LEAST:
        return f"; people judged too few to tell whether for the better ({counted(judged, 'sample')})"
    if (split := of_critic.split_verdict(known[0])) is not None:
        return f"; it cannot be told whether for the better: {split}"
    statistic, mean = next(iter(known[0].means.items()))
    said = f"{WORDS.get(statistic, statistic)} moved by {signed(mean.value)} {within(mean.low, mean.high)}".strip()
    on_average = f"({said} on average{_most_moved(known[0], statistic, mean)})"
    if mean.is_above_zero:
        return f" and brought them closer to people {on_average}"
    if mean.high < 0:
        return f"{WORSE} {on_average}"
    return f"; it cannot be told whether for the better {on_average}"


def _most_moved(one: CriticOf, statistic: str, mean: MeanGain) -> str:
    gains = [g for g in one.gains if g.statistic == statistic and abs(g.difference) >= 0.005]
    if len(gains) < 2:
        return ""
    most = max(gains, key=lambda g: g.difference if mean.value >= 0 else -g.difference)
    return f"; most {one_line(most.criterion, 80)}, {number_text(most.before)} > {number_text(most.after)}"


def _order(tally: Tally) -> Iterator[Finding]:
    """Of pairs: who wins, and how often the verdict changes with the order."""
    verdicts = tally.summary.verdicts
    if n := verdicts.total():
        won = ", ".join(f"{name} {verdicts[name]:,}" for name in ("A", "tie", "B", "none") if verdicts[name])
        text = f"Of {counted(n, 'pair')}: {won}"
        flips = tally.orders.flips.get(MERGED) or (
            next(iter(tally.orders.flips.values())) if len(tally.orders.flips) == 1 else None
        )
        if flips:
            value, ends, pairs = mean_share({float(flipped): count for flipped, count in flips.items()})
            text += (
                f"; {percent(value, 1)} of verdicts change with the order of the two "
                f"({percent(ends.low, 1)} to {percent(ends.high, 1)}, n {pairs:,})"
            )
        lead = lead_line(tally.summary)
        yield Finding(f"{text}. {lead[0].upper()}{lead[1:]}." if lead else f"{text}.", "pairs")


def _length(run: Run, tally: Tally) -> Iterator[Finding]:
    """Criteria that follow the output's length as closely as they follow people; without people, that follow it."""
    people = agreement_of(run, tally)
    with_people = (
        {row.criterion: row for row in people.rows if row.statistic == "spearman" and row.n >= LEAST}
        if isinstance(people, Agreement) else {}
    )  # fmt: skip
    command = f"judgegraph probe {one_line(run.manifest.get('method') or 'METHOD', 60)} {_data(run)} -p padded"
    closely: dict[str, LengthEffect] = {}
    instead: dict[str, LengthEffect] = {}
    alone: dict[str, LengthEffect] = {}
    for effect in sorted(tally.lengths, key=lambda one: -abs(one.value)):
        criterion = effect.name.rpartition(", ")[0]
        follows_it = effect.low > 0 or effect.high < 0  # false for nan
        if effect.n < LEAST or not follows_it:
            continue
        if criterion in with_people:
            row = with_people[criterion]
            if abs(effect.value) >= row.value:
                follows_people = _is_beyond(row.value, row.interval[0])
                (closely if follows_people else instead).setdefault(criterion, effect)
        elif abs(effect.value) >= LONG and min(abs(effect.low), abs(effect.high)) > 0.2:
            alone.setdefault(criterion, effect)
    for held in (closely, instead, alone):
        if held:
            first, effect = next(iter(held.items()))
            said = valued(effect.value, effect.low, effect.high)
            turned = "; the shorter, the higher" if effect.value < 0 else ""
            follow, it = ("follows", "it") if len(held) == 1 else ("follow", "they")
            text = f"{_listed([*held])} {follow} the output's length"
            whose = "" if len(held) == 1 else f"{one_line(first, 80)} "
            people_are = number_text(with_people[first].value) if first in with_people else ""
            if held is closely:
                text += f" at least as closely as {it} {follow} people"
                text += f" ({whose}rank correlation {said} against {people_are}: {OF_LENGTH}{turned})"
            elif held is instead:
                are = "is" if len(held) == 1 else "are"
                text += f" and {are} not shown to follow people"
                text += f" ({whose}rank correlation {said}: {OF_LENGTH}{turned}; with people {people_are})"
            else:
                text += f" ({whose}rank correlation {said}: {OF_LENGTH}{turned})"
            yield Finding(f"{text}.", "biases", command)


def _listed(names: Sequence[str]) -> str:
    """ "A", "A and B", "A, B, C and 2 more"."""
    shown = [one_line(name, 80) for name in names[:NAMED]]
    shown += [f"{len(names) - NAMED:,} more"] if len(names) > NAMED else []
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]


def _look(run: Run, lists: Sequence[Listing]) -> Iterator[Finding]:
    """One sample of each list."""
    words = {"lowest": "", "failed": "failed", "moved": "moved most", "uncertain": "the least certain"}
    whose: dict[str, list[str]] = {}
    for one in lists:
        if one.samples and one.key in words:
            name, about = one.samples[0]
            what = lowest_in_words(one.left_out) if one.key == "lowest" else words[one.key]
            whose.setdefault(name, []).append(f"{what}: {one_line(about, 80)}" if about else what)
    if not whose:
        return
    said = [f"{one_line(name, 60)} ({', '.join(why)})" for name, why in whose.items()]
    command = f"judgegraph trace {_folder(run)} --sample {shlex.quote(next(iter(whose)))}" if run.folder else ""
    yield Finding(f"Look first at {'; '.join(said)}.", "samples", command)


def _meta(run: Run) -> str:
    return f"judgegraph meta {_folder(run)}"


def _data(run: Run) -> str:
    about = run.manifest.get("data") or {}
    return shlex.quote(str(about["file"])) if about.get("file") else "DATA"


def _folder(run: Run) -> str:
    return shlex.quote(str(run.folder.path)) if run.folder else "RUN"


# Criteria that say the same: the rank correlation of each two over the samples that have both.


MOST = 12  # criteria of the table


def overlap(run: Run, tally: Tally) -> Section | None:
    """How alike the answers of each two criteria rank the samples; None of fewer than two criteria, or ten samples."""
    names, values = answers_by_criterion(tally.some.held)
    if len(names) < 2:
        return None
    shown = names[:MOST]
    rows = tuple(
        (f"{at + 1} {one}", *("" if one == other else number_text(rank_correlation(values[one], values[other])[0])
                              for other in shown))
        for at, one in enumerate(shown)
    )  # fmt: skip
    more = f" The first {MOST} of {len(names)} criteria." if len(names) > MOST else ""
    lead = (
        f"Spearman's rank correlation of the answers by each two criteria, on {tally.some.counted}. Two criteria near "
        f"1 rank the samples alike: one of them may do.{more}"
    )
    head = ("criterion", *(str(at + 1) for at in range(len(shown))))
    grid = Grid("Rank correlation of criteria", head, rows, frozenset(range(1, len(head))))
    return Section("overlap", "Criteria that overlap", (Para(lead), grid))


def _alike(run: Run, tally: Tally) -> Iterator[Finding]:
    """The criteria that say the same, most alike first, at most two pairs."""
    names, values = answers_by_criterion(tally.some.held)
    met = [(one, other, *rank_correlation(values[one], values[other])) for one, other in combinations(names[:MOST], 2)]
    near = sorted((pair for pair in met if pair[2] >= SAME and pair[3] >= LEAST), key=lambda pair: -pair[2])
    for one, other, value, n in near[:2]:
        low, high = rank_interval(values[one], values[other])
        if low >= SURELY:
            both = f"{one_line(one, 80)} and {one_line(other, 80)}"
            said = f"rank correlation {valued(value, low, high)}, n {n:,}: {OF_ORDERS}"
            worth = f"judgegraph suggestions {_folder(run)} --criterion {shlex.quote(other)}" if run.folder else ""
            yield Finding(f"{both} say the same ({said}): one of them may do.", "overlap", worth)


def answers_by_criterion(held: Sequence[Held]) -> tuple[list[str], dict[str, dict[int, float]]]:
    """Criteria in their order, and of each the answer of each sample, for those with ten and more that differ."""
    found: dict[str, dict[int, float]] = {}
    for at, one in enumerate(held):
        for criterion, _, _, role, value in one.values:
            if role == "answer" and criterion not in POOLED:
                found.setdefault(criterion, {})[at] = value
    names = [name for name, values in found.items() if len(values) >= LEAST and len(set(values.values())) > 1]
    return names, found
