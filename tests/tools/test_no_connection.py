"""No shipped assistant needs the world: each works in a fresh process in which every connection is an error."""

import json
import subprocess
import sys

import pytest

from judgegraph.tools import ASSISTANTS, assistant

CODE = """
import asyncio, json, sys
def no_connection(event, args):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "socket.gethostby", "socket.sendto")):
        raise RuntimeError("a connection was opened: " + event)
sys.addaudithook(no_connection)
import socket, urllib.request
try:
    socket.create_connection(("127.0.0.1", 9))
except RuntimeError:
    pass
else:
    raise SystemExit("the block does not block")
from judgegraph.tools import ASSISTANTS, assistant
from judgegraph.tools.catalogue import find
from judgegraph.types import Sample
text = "The bridge is shut. The bridge is shut until spring."
sample = Sample(id="s", output=text, source=text + " Then it opens.", reference=text)
asked = {"text": "How long did you wait on that day?", "type": "choice", "options": ["1-2", "3-4"]}
form = Sample(id="f", output={"questions": [asked, {"text": "What should we do better the next time?"}]})
listed = [a for a in map(assistant, ASSISTANTS) if not a.about.extra]
found = {a.name: asyncio.run(find(a, form if "a form" in a.about.reads else sample)) for a in listed}
print(json.dumps({name: [f.status, f.value] for name, f in found.items()}))
"""


@pytest.mark.slow
def test_every_assistant_works_in_a_process_that_cannot_connect():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found) == {name for name in ASSISTANTS if not assistant(name).about.extra}
    assert {status for status, _ in found.values()} == {"ok"}
    assert all(isinstance(value, float) for _, value in found.values())
