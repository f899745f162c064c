"""A training set as `datasets` loads it and TRL's SFT and DPO trainers take it, without a word between.

They run in an environment of their own: `make trl` installs it in .trl and runs this. JUDGEGRAPH_TRL names another one.
"""

import json
import math
import os
import subprocess
from pathlib import Path

import pytest
from foreign import pair, single

from judgegraph.bridging.bridge import write
from judgegraph.bridging.training_set import SPLITS

PYTHON = Path(os.environ.get("JUDGEGRAPH_TRL", Path(__file__).resolve().parents[2] / ".trl")) / "bin/python"
LINE_ENDS = "one\u2028two\u2029three\x85four\r\nfive"
pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not PYTHON.exists(), reason="skipped: no datasets and TRL; `make trl` installs them"),
]


def test_datasets_and_trl_take_it_as_it_is(bridged, tmp_path):
    rows = [pair(f"{word}: why {n}?", reason=LINE_ENDS) for n in range(12) for word in ("holds", "flips")]
    found = bridged(*rows, single("holds: how?", 4), shares=(0.2, 0.2)).training_set
    folder = write(found, tmp_path / "set")
    script = Path(__file__).with_name("trl_loads.py")
    done = subprocess.run([PYTHON, script, folder], capture_output=True, text=True, timeout=280, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout.splitlines()[-1])
    for kind, held in (("sft", found.rows), ("dpo", found.preferences)):
        wanted = {split: [row.to_dict() for row in held[split]] for split in SPLITS if held[split]}
        assert {"train", "test"} <= set(wanted)
        assert seen[kind]["rows"] == wanted, "what is loaded is what was written, to the letter"
        assert math.isfinite(seen[kind]["loss"])
        assert seen[kind]["loss"] > 0
    assert seen["sft"]["learns"].removesuffix("\n") in {f"{row.completion}<|im_end|>" for row in found.rows["train"]}
