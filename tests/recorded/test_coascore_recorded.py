"""CoAScore's proposer reads the chains that ChatGPT gave its authors."""

import json

import pytest

from judgegraph.agents.judge import read_aspects


@pytest.fixture(scope="session")
def chains(shared):
    return json.loads((shared / "data" / "coascore" / "recorded_aspect_chains.json").read_text())


def as_text(chain):
    """The reply's lines, as they were before they became a mapping."""
    lines = [f"{i}. {name}: {said}" for i, (name, said) in enumerate(chain["aspects"].items(), 1)]
    return "\n".join(lines)


def test_every_recorded_chain_is_read_aspect_by_aspect(chains):
    assert len(chains) == 13
    for chain in chains:
        target = chain["target_aspect"]
        aspects, notes = read_aspects(as_text(chain), target, chain["n_aspects"])
        expected = {n: d.strip() for n, d in chain["aspects"].items() if n.casefold() != target.casefold()}
        assert {a.name: a.definition for a in aspects} == expected
        held_target = len(expected) < len(chain["aspects"])
        assert bool(notes) is held_target
        print(f"{chain['n_aspects']:2} asked: {len(aspects):2} aspects; {', '.join(notes) or 'as asked'}")


def test_the_target_is_taken_out_of_the_chains_that_held_it(chains):
    read = {i: read_aspects(as_text(c), c["target_aspect"], c["n_aspects"]) for i, c in enumerate(chains)}
    short = {i: notes for i, (aspects, notes) in read.items() if len(aspects) < chains[i]["n_aspects"]}
    held = [i for i, chain in enumerate(chains) if "Relevance" in chain["aspects"]]
    assert list(short) == held
    assert len(held) == 3
    assert all("1 the target itself" in notes[0] for notes in short.values())


def test_a_preamble_does_not_become_an_aspect(chains):
    for chain in chains:
        text = f"Here are aspects to consider when measuring {chain['target_aspect']}:\n\n{as_text(chain)}"
        alone = read_aspects(as_text(chain), chain["target_aspect"], 20)
        assert read_aspects(text, chain["target_aspect"], 20)[0] == alone[0]
