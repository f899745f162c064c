"""No assistant, metric node, graph assistant, agent or helper looks outward, whatever judged text names."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from parts_in_use import PARTS

import judgegraph
from judgegraph.registry.shipped import ASSISTANTS, METHODS
from judgegraph.tools import assistant
from judgegraph.tools.catalogue import OF_FORMS

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict:
    lure = tmp_path_factory.mktemp("lure") / "secret.txt"
    lure.write_text("a secret")
    home = Path(judgegraph.__file__).parents[1]
    command = [sys.executable, "-I", "-c", f"import sys; sys.path[:0] = {[str(HERE), str(home)]!r}; import inward"]
    done = subprocess.run(
        [*command, str(home), str(lure)], capture_output=True, text=True, timeout=110, cwd=lure.parent
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.long
def test_nothing_was_opened_connected_started_or_imported_that_the_text_names(found: dict):
    assert found["bad"] == []


@pytest.mark.slow
def test_each_assistant_and_each_method_as_an_assistant_gave_a_value(found: dict):
    here = {name for name in ASSISTANTS if not assistant(name).about.extra}
    ended = {name: "skipped" if name in OF_FORMS and name != "readability" else "ok" for name in (*here, *METHODS)}
    assert found["assistants"] == {**ended, **{f"metric {name}": status for name, status in ended.items()}}


@pytest.mark.slow
def test_every_part_came_to_its_end(found: dict):
    assert found["parts"] == list(PARTS)


@pytest.mark.parametrize(("code", "says"), [
    ("open(sys.argv[2]).close()", "open"),
    ("__import__('zq_lured_module')", "import zq_lured_module"),
    ("import subprocess; subprocess.run(['true'])", "subprocess.Popen"),
    ("import os; os.system('true')", "os.system"),
    ("import socket; socket.create_connection(('127.0.0.1', 9))", "socket.getaddrinfo"),
    ("open('/etc/hostname').close()", "open /etc/hostname"),
])  # fmt: skip
@pytest.mark.long
def test_the_watch_sees_what_it_should(code: str, says: str, tmp_path: Path):
    lure = tmp_path / "secret.txt"
    lure.write_text("a secret")
    home = Path(judgegraph.__file__).parents[1]
    paths = [str(HERE), str(home)]
    start = f"import sys; sys.path[:0] = {paths!r}; import inward; inward.seen = True; inward.BAD.clear()\n"
    ends = f"try:\n    {code}\nexcept Exception: pass\nprint(inward.BAD)"
    command = [sys.executable, "-I", "-c", start + ends, str(home), str(lure)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, cwd=tmp_path)
    assert says in done.stdout.splitlines()[-1], done.stderr[-2000:]
