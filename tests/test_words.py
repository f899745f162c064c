"""Words that name nothing any more: a name says the thing itself. `python tests/test_words.py` shrinks the list."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PACKAGE = Path(__file__).resolve().parents[1] / "judgegraph"
LEFT = Path(__file__).with_name("words_left.txt")  # names of today: it only shrinks
WORDS = {  # a word in the name of a module, a function or a class -> what to say
    "told|said|heard|kept|stands|beside": "the thing itself: `prompt_stored`, `Usage`, `open_run`, `ReadOnlyLedger`",
    "purse|bill|bills|allowance|reservation": "`BudgetTracker`, usage by node, `reserved`",
    "place|standing|standings": "`Ticket`, `PausedClock`, ranking",  # a turn is one of a conversation
    "play|rehearsal|rehearse|manner|stand_in|invented": "`DryRun`, `ReplyPolicy`, `SimulatedJudge`",
    "guilt|guilty|strike|strikes|absolve": "crash count, poison sample, `clear`",
    "journey|journeys|sitting|sittings|mishap|mishaps": "sample trace, sessions, failures",
    "rung|rungs|step_down|stepped_down": "fallback level, `fall_back`",
    "one_go": "`without_checkpointer`",
    "under_doubt": "uncertain",
    "door|house|room|rooms|floor|floors": "`ask`, package, module, layer",
    "thin|spread|unfinished": "short text, distribution, incomplete run",
}
BANNED = re.compile("|".join(rf"(?:^|_)(?:{words})(?=_|$)" for words in WORDS))


def plain(name: str) -> str:
    """A name as words: `SampleBills` is sample_bills."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")


def named() -> Counter[str]:
    """Names of modules, functions and classes that have such a word -> how many are called so."""
    found: Counter[str] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        names = [x.name for x in tree if isinstance(x, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
        found.update(name for name in (path.stem, *names) if BANNED.search(plain(name)))
    return found


def left() -> Counter[str]:
    """Those of today that may still be called so: a name and how many, line by line."""
    return Counter({name: int(count) for name, count in map(str.split, LEFT.read_text().splitlines())})


def test_no_new_name_has_a_word_that_was_given_up():
    new = sorted(named() - left())
    assert not new, "\n".join(f"{name}: say {cure(name)}" for name in new)


def test_the_list_of_what_is_left_only_shrinks():
    gone = sorted(left() - named())
    assert not gone, f"`python tests/test_words.py` takes these off {LEFT.name}: {', '.join(gone)}"


def cure(name: str) -> str:
    word = BANNED.search(plain(name))
    found = word[0].strip("_") if word else ""
    return next(say for words, say in WORDS.items() if re.fullmatch(words, found))


if __name__ == "__main__":
    rest = named() & left() if LEFT.exists() else named()
    LEFT.write_text("".join(f"{name} {count}\n" for name, count in sorted(rest.items())))
