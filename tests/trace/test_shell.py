"""What is suggested can be copied from a page or a terminal into a shell."""

import os
import shutil
import subprocess

import pytest

from judgegraph.errors import printable
from judgegraph.views.trace import quoted

WORDS = (
    "s1", "", "two words", "it's", "$(touch x)", "a\\b", "裁判", "-n", "~", "a*b", "wow!",
    "\u200bx", "a\u202eb", "red\x1b[31m", "two\nlines", "a\tb\r", "\x07'quoted'\\n!", "\u200b$(touch x)`id`\"", "\x01f",
    "soft\u00adhyphen", "\U000e0041tag", "folder\udcff", "no\u00a0break",
)  # fmt: skip


@pytest.mark.parametrize("shell", [shell for shell in ("bash", "zsh") if shutil.which(shell)])
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
@pytest.mark.parametrize("word", WORDS)
def test_a_shell_reads_the_word_that_was_meant(word: str, locale: str, shell: str):
    command = [shell, "-c", f"printf '%s' {quoted(word)}"]
    done = subprocess.run(command, capture_output=True, check=True, env={"LC_ALL": locale, "PATH": os.environ["PATH"]})
    assert done.stdout == word.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize("word", WORDS)
def test_no_part_of_it_is_masked_where_it_is_shown(word: str):
    assert printable(quoted(word)) == quoted(word)
    assert "\n" not in quoted(word)


@pytest.mark.parametrize(("word", "shown"), [("s1", "s1"), ("two words", "'two words'"), ("裁判", "'裁判'")])
def test_what_can_be_seen_is_quoted_as_ever(word: str, shown: str):
    assert quoted(word) == shown
