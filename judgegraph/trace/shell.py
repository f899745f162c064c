"""Commands that a page or a terminal suggests, so that they can be copied into a shell."""

from __future__ import annotations

import shlex

from judgegraph.errors import printable

ESCAPED = frozenset("'\\!")  # what ends such a word, begins an escape in it, or recalls an earlier command


def quoted(text: str) -> str:
    """One word of a shell's command: plain or in quotes; as $'...' (bash, zsh) where it holds what is not shown.

    Invisible and control characters are masked wherever something judged is shown, which would change the word. They
    are written as bytes in UTF-8, so that the shell's own encoding does not matter.
    """
    if "\n" not in text and printable(text) == text:
        return shlex.quote(text)
    return f"$'{''.join(map(_escaped, text))}'"


def command(run: str, sample: str) -> str:
    """What prints a sample's whole trace; empty for a run that lies nowhere."""
    if not run:
        return ""
    whole = f"judgegraph trace {quoted(run)} --sample {quoted(sample)}"
    return whole if len(whole) <= 400 else f"judgegraph trace {quoted(run)}"


def _escaped(sign: str) -> str:
    if sign.isprintable() and sign not in ESCAPED:
        return sign
    bytewise = "surrogateescape" if "\udc80" <= sign <= "\udcff" else "surrogatepass"  # a file's name may be no UTF-8
    return "".join(f"\\x{byte:02x}" for byte in sign.encode("utf-8", bytewise))
