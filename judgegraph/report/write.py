"""`jg.write_report`: a run as one page that opens anywhere."""

from __future__ import annotations

import os
from pathlib import Path

from judgegraph.errors import ConfigError, one_line
from judgegraph.report.page_of import MOST_BYTES, page_of
from judgegraph.runtime.run import Run
from judgegraph.runtime.whole_file import write_lines

REDACTABLE = ("texts",)


def write_report(
    run: Run | str | os.PathLike[str], out: str | os.PathLike[str], *, most: int = 10, redact: tuple[str, ...] = (),
    most_bytes: int = MOST_BYTES,
) -> Path:  # fmt: skip
    """Write a run as one HTML file: no script, no network, at most 3 MB.

    The file is readable by its owner alone, as all files of a run are: it holds what was judged. A run that is too
    large for it is shown in part, and the page says so.

    Args:
        run: a run or its folder. out: the file.
        most: samples in each list: most moved, most uncertain, failed, dearest.
        redact: ("texts",): judged and generated texts are replaced by their lengths.
        most_bytes: size of the file at most, 200,000 or more.

    Raises:
        ConfigError: an argument is wrong; the file cannot be written, or is one of the run's own.
        DataError: there is no run.
    """
    found = run if isinstance(run, Run) else Run.load(run)
    if most < 1 or most_bytes < 200_000:
        raise ConfigError(f"report: most is 1 or more, most_bytes 200,000 or more; got {most} and {most_bytes}")
    if isinstance(redact, str) or not set(redact) <= set(REDACTABLE):
        raise ConfigError(f'report: redact is () or ("texts",); got {one_line(repr(redact), 80)}')
    if found.folder and found.folder.owns(out, found.manifest.get("ledger")):
        raise ConfigError(f"{out} is a file of the run itself; name another one")
    write_lines(Path(out), [page_of(found, most=most, redact=bool(redact), most_bytes=most_bytes)], end="")
    return Path(out)
