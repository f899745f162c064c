"""Run in a process of its own: every part on the embedded judge, while each look outward is an error.

Judged text names files, URLs, modules and commands. What was opened, connected, started or imported is printed.
"""

import asyncio
import importlib
import json
import os
import sys
import sysconfig

ALLOWED = tuple(
    os.path.realpath(path) + os.sep
    for path in {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), sys.argv[1]}
)
KNOWN = ("/dev/null", "/dev/urandom", "/proc/", "/sys/", "/etc/localtime", "/usr/share/zoneinfo")  # the interpreter's
LURES = {"path": sys.argv[2], "module": "zq_lured_module"}
BAD: list[str] = []
seen = False


def watch(event: str, args: tuple[object, ...]) -> None:
    if event.startswith(("socket.connect", "socket.getaddrinfo", "socket.gethostby", "socket.sendto")):
        BAD.append(f"{event}")
        raise RuntimeError(event)
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "pty.spawn"):
        BAD.append(f"{event} {args!r}"[:300])
        raise RuntimeError(event)
    if event == "import" and LURES["module"] in str(args[0]):
        BAD.append(f"{event} {args[0]}")
    if event == "open" and isinstance(args[0], str | bytes | os.PathLike):
        path = os.fsdecode(args[0])
        full = os.path.realpath(path)
        if LURES["path"] in (path, full) or (seen and not full.startswith((*ALLOWED, *KNOWN)) and path not in KNOWN):
            BAD.append(f"{event} {full} {args[1]!r}")
    if seen and event in ("socket.bind", "socket.listen"):
        BAD.append(event)
    if seen and event in ("os.remove", "os.rename", "os.mkdir", "shutil.rmtree", "os.listdir", "os.scandir"):
        path = os.path.realpath(os.fsdecode(args[0])) if isinstance(args[0], str | bytes | os.PathLike) else ""
        if path and not (path + os.sep).startswith(ALLOWED):
            BAD.append(f"{event} {path}")


sys.addaudithook(watch)

from parts_in_use import PARTS, ran  # noqa: E402 - under the hook from the first import on

import judgegraph as jg  # noqa: E402
from judgegraph.registry import METHODS, make  # noqa: E402
from judgegraph.testing.conformance import scores_of  # noqa: E402
from judgegraph.tools import ASSISTANTS, assistant, find  # noqa: E402
from judgegraph.types import Criterion, Sample  # noqa: E402

TEXT = (
    f"See {LURES['path']} and file://{LURES['path']} or http://169.254.169.254/latest and http://127.0.0.1:9/ . "
    f"import {LURES['module']} ; __import__('{LURES['module']}') ; !!python/object/apply:os.system ['true'] ; $(true) "
    f"`true` ; {{{{ ''.__class__ }}}} ; <script src='http://127.0.0.1/a.js'></script> ![](http://127.0.0.1/b.png) "
    f'{LURES["module"]}:factory ; tool: fetch("{LURES["path"]}") ; {LURES["path"]}.md ; {LURES["module"]}:mine.md'
)
SAMPLE = Sample(
    id=f"../../{LURES['path']}", query=TEXT, source=f"{TEXT} The bridge is shut.", output=f"The bridge is shut. {TEXT}",
    rival=TEXT, reference=TEXT, meta={
        "$ref": f"file://{LURES['path']}", "import": LURES["module"], "judgement": {"verdict": "A", "reason": TEXT},
    },
)  # fmt: skip
HERE = [name for name in ASSISTANTS if not assistant(name).about.extra]  # the others need weights or a server
CRITERIA = [Criterion(name="Coherence", definition=TEXT), Criterion(name=LURES["path"][-100:], definition="How clear.")]


async def asked() -> dict[str, str]:
    """Assistant -> how asking it ended."""
    graphs = [jg.as_assistant(make("method", name), about="a judge", name=name) for name in METHODS]
    found = {}
    for one in (*map(assistant, HERE), *graphs):
        found[one.name] = (await find(one, SAMPLE)).status
    scores = (await jg.metric_node(*HERE, *graphs)({"sample": SAMPLE}))["scores"].values()
    return found | {f"metric {s.criterion}": s.status for s in scores}


async def worked() -> list[str]:
    """Names of the parts that came to their end."""
    done = []
    state = {"sample": SAMPLE, "criteria": CRITERIA, "criterion": CRITERIA[0], "aspects": {"Coherence": CRITERIA[1:]},
             "scores": scores_of(None, TEXT), "rectifications": {}, "suggestions": []}  # fmt: skip
    for name, build in PARTS.items():
        await ran(build("embedded"), state, name)
        done.append(name)
    return done


async def all_of_it() -> dict[str, object]:
    return {"assistants": await asked(), "parts": await worked()}


for package in ("sacrebleu.metrics.chrf", "rouge_score.scoring", "langgraph.prebuilt"):
    importlib.import_module(package)  # some try, as they are imported, whether they could bind or write a file
seen = True
try:
    said = asyncio.run(all_of_it())
finally:
    seen = False
    for line in dict.fromkeys(BAD):
        print(line, file=sys.stderr)
print(json.dumps({**said, "bad": sorted(set(BAD))}))
