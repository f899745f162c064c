"""What was asked, beside the replies: each text once, whoever asks, and no run depends on it."""

import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from judgegraph.calls.texts import PIECES, ROOM, ReadOnlyTexts, Texts, texts_of

CRITERIA = "<criteria-1f>\nClarity: is it clear?\n</criteria-1f>"


def address(number: int) -> bytes:
    return blake2b(bytes([number]), digest_size=16).digest()


def prompt(output: str) -> tuple[SystemMessage, HumanMessage]:
    return SystemMessage("You judge."), HumanMessage(f"Judge a note.\n\n{CRITERIA}\n\n<output-2a>{output}</output-2a>")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return texts_of(tmp_path / "ledger.sqlite")


@pytest.fixture
def texts(path: Path) -> Iterator[Texts]:
    found = Texts(path)
    yield found
    found.close()


def said(path: Path, where: bytes) -> tuple[tuple[str, str], ...]:
    kept = ReadOnlyTexts(path)
    try:
        return kept.asked(where)
    finally:
        kept.close()


def test_what_was_asked_is_found_as_it_was(path: Path, texts: Texts):
    texts.ask(address(1), prompt("One."), new=True)
    texts.ask(address(2), [*prompt("Two."), AIMessage("hm"), HumanMessage("again")], new=True)
    assert said(path, address(1)) == (("system", "You judge."), ("human", prompt("One.")[1].content))
    assert [kind for kind, _ in said(path, address(2))] == ["system", "human", "ai", "human"]
    assert said(path, address(3)) == ()


def test_a_section_that_many_prompts_have_is_written_once(path: Path, texts: Texts):
    for number in range(50):
        texts.ask(address(number), prompt(f"Text {number}."), new=True)
    assert path.read_text().count("is it clear") == 1
    assert path.read_text().count("You judge.") == 1


def test_what_is_there_is_not_written_again(path: Path, texts: Texts):
    texts.ask(address(1), prompt("One."), new=True)
    size = path.stat().st_size
    later = Texts(path)
    later.ask(address(1), prompt("One."), new=False)
    assert path.stat().st_size == size
    later.ask(address(2), prompt("Two."), new=False)
    later.ask(address(2), prompt("Two."), new=False)
    later.close()
    assert path.read_bytes().count(b'["asked"') == 2


def test_two_processes_may_share_the_file(path: Path, texts: Texts):
    other = Texts(path)
    for number in range(20):
        (texts if number % 2 else other).ask(address(number), prompt(f"Text {number}."), new=True)
    other.close()
    assert all(f"Text {number}." in said(path, address(number))[1][1] for number in range(20))


def test_a_torn_line_costs_itself_alone(path: Path, texts: Texts):
    texts.ask(address(1), prompt("One."), new=True)
    texts.ask(address(2), prompt("Two."), new=True)
    texts.close()
    whole = path.read_bytes()
    start = whole.index(b'["asked"') + 2
    for cut in range(whole.index(b"\n", start) + 1, len(whole) - 1, 7):
        path.write_bytes(whole[:cut])
        assert said(path, address(1))[1][1] == prompt("One.")[1].content
        assert said(path, address(2)) == ()
        after = Texts(path)
        after.ask(address(3), prompt("Three."), new=True)
        after.close()
        assert "Three." in said(path, address(3))[1][1]


def test_a_damaged_text_is_none(path: Path, texts: Texts):
    texts.ask(address(1), prompt("One."), new=True)
    path.write_bytes(path.read_bytes().replace(b"is it clear", b"is it cleaR"))
    assert said(path, address(1)) == ()


def test_of_several_messages_of_a_kind_a_damaged_one_spoils_all(path: Path, texts: Texts):
    texts.ask(address(1), [HumanMessage("first one"), HumanMessage("second one")], new=True)
    path.write_bytes(path.read_bytes().replace(b"first one", b"First one"))
    assert said(path, address(1)) == ()


def test_tools_that_a_model_called_are_told(path: Path, texts: Texts):
    call = {"name": "rouge-l", "args": {}, "id": "1"}
    texts.ask(address(1), [HumanMessage("Go."), AIMessage("", tool_calls=[call])], new=True)
    assert said(path, address(1))[1] == ("ai", "calls rouge-l({})")


def test_it_is_its_owners_alone_and_made_when_it_is_needed(path: Path, texts: Texts):
    assert not path.exists()
    texts.ask(address(1), prompt("One."), new=True)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_written_stops_nobody(tmp_path: Path):
    texts = Texts(tmp_path / "no folder" / "texts")
    texts.ask(address(1), prompt("One."), new=True)
    assert said(tmp_path / "no folder" / "texts", address(1)) == ()


def test_after_a_failed_write_the_pieces_are_written_again(path: Path, texts: Texts, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        texts.ask(address(1), prompt("One."), new=True)
    texts.ask(address(2), prompt("Two."), new=True)
    assert "is it clear" in said(path, address(2))[1][1]


@settings(max_examples=60)
@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=60) | st.just("\n\n<"), max_size=3 * PIECES))
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, parts: list[str]):
    path = tmp_path_factory.mktemp("texts") / "t"
    text = "".join(parts)
    texts = Texts(path)
    texts.ask(address(1), [HumanMessage(text)], new=True)
    texts.close()
    assert said(path, address(1)) == (("human", text.encode("utf-8", "replace").decode()),)


def test_what_is_remembered_is_bounded_by_its_size(path: Path, texts: Texts):
    for number in range(30):
        texts.ask(address(number), [HumanMessage(f"{number} " + "x" * (ROOM // 10))], new=True)
    assert sum(map(len, texts._known)) <= ROOM
    assert all(said(path, address(number))[0][1].startswith(f"{number} x") for number in range(30))
