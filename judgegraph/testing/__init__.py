"""For tests of graphs and agents, ours and yours: judges by script and by recording, and a check of agents."""

from judgegraph.testing.check import acheck_agent, assert_conforms, check_agent
from judgegraph.testing.conformance import Breach, Conformance
from judgegraph.testing.recording import NotRecorded, Playing, Recording, playing, recording
from judgegraph.testing.scripted import Scripted, scripted

__all__ = [
    "Breach",
    "Conformance",
    "NotRecorded",
    "Playing",
    "Recording",
    "Scripted",
    "acheck_agent",
    "assert_conforms",
    "check_agent",
    "playing",
    "recording",
    "scripted",
]
