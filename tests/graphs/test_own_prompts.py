"""`prompts=`: templates of the user's own in the place of a method's, of every method."""

from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph.errors import ConfigError, PromptError
from judgegraph.graphs import coascore, fennec, fusion_eval, g_eval, judge_form, llm_score, sageval
from judgegraph.prompts import load
from judgegraph.prompts.template import HERE, watched
from judgegraph.registry.shipped import METHODS
from judgegraph.runs.identity import agents_of
from judgegraph.testing import scripted

MARK = "Mind what I told you yesterday."
SAMPLE = jg.Sample(id="1", query="Why is the sky blue?", output="Air scatters short waves.", rival="Nobody knows.")
CASES = [  # what is made, with which settings
    (sageval, {"criteria": "general"}),
    (sageval, {"criteria": "general", "each": True, "cot": True}),
    (sageval, {"criteria": "general", "critic_calls": "three"}),
    (sageval, {"criteria": "general", "critic": "self-reflection"}),
    (sageval, {"criteria": "general", "critic": "devils-advocate"}),
    (coascore, {}),
    (coascore, {"reply": "text", "scores": "none"}),
    (fennec, {}),
    (fennec, {"reply": "text"}),
    (fusion_eval, {}),
    (fusion_eval, {"fuse": "average", "direct": "g-eval", "assistants": ["rouge-l"]}),
    (fusion_eval, {"fuse": "average", "direct": "llm-score", "assistants": ["rouge-l"]}),
    (g_eval, {"steps": "all"}),
    (llm_score, {"cot": True}),
    (judge_form, {"form": "rating"}),
    (judge_form, {"form": "verdict"}),
]


def templates(graph) -> list[str]:
    """Names of what its agents ask by."""
    found = []
    for _, agent in agents_of(graph):
        listed = getattr(agent, "prompts", None)
        found += listed if isinstance(listed, tuple) else [agent.prompt] if getattr(agent, "prompt", "") else []
    return list(dict.fromkeys(found))


def mine(folder: Path, name: str, **changes: str) -> str:
    """One of our templates as a file of one's own, with a mark; changes: field -> what stands in its place."""
    path, text = folder / f"my-{name}.md", (HERE / f"{name}.md").read_text(encoding="utf-8")
    for field, by in changes.items():
        for tag in (f"<{field}?>${field}</{field}>", f"<{field}>${field}</{field}>", f"What is judged: ${field}"):
            text = text.replace(tag, by)
    path.write_text(text.replace("# user\n", f"# user\n{MARK}\n"), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(("make", "settings"), CASES, ids=lambda one: getattr(one, "__name__", str(one)))
def test_every_template_of_a_method_can_be_ones_own(make, settings, tmp_path):
    names = templates(make(**settings))
    own = {name: mine(tmp_path, name) for name in names}
    graph = make(**settings, prompts=own)
    assert templates(graph) == list(own.values())
    for name in names:  # one of them alone
        assert templates(make(**settings, prompts={name: own[name]})) == [own[n] if n == name else n for n in names]


def test_the_cases_are_of_every_method_there_is():
    assert {make.__name__.replace("_", "-") for make, _ in CASES} >= {*METHODS, "judge-form"}


def test_a_judge_is_asked_by_it_and_the_signature_names_it(tmp_path):
    path = mine(tmp_path, "llm_score")
    judge = scripted({"score": 4, "reason": "so"})
    run = jg.evaluate(llm_score(judge, criteria=[jg.Criterion(name="Depth")], prompts={"llm_score": path}), [SAMPLE])
    assert MARK in str(judge.calls[0][-1].content)
    assert f"prompts:my-llm_score.md@{load(path).digest}" in run.signature


def test_it_is_named_by_its_node_or_in_one_text_too(tmp_path):
    path = mine(tmp_path, "judge_pair")
    assert path in templates(fennec(prompts={"compare": path}))
    assert path in templates(fennec(prompts=f"judge_pair={path}, guide={mine(tmp_path, 'guideline')}"))
    with pytest.raises(ConfigError, match="judge_pair and compare are one template"):
        fennec(prompts={"judge_pair": path, "compare": path})


def test_what_it_leaves_out_is_said_once_by_name(tmp_path):
    path = mine(tmp_path, "llm_score", query="", source="")
    graph = llm_score(criteria=[jg.Criterion(name="Depth")], prompts={"llm_score": path})
    (found,) = [one for one in jg.check(graph).findings if one.code == "unfit-template"]
    assert (found.severity, "$query, $source" in found.message) == ("warning", True)
    run = jg.evaluate(graph, [SAMPLE])
    assert run.manifest["calls"]["unshown"] == {f"$query in {path}": 1}  # the sample has no source


@pytest.mark.parametrize(
    ("settings", "kind", "why"),
    [
        (
            {"prompts": {"evalute": "mine.md"}},
            ConfigError,
            "no template 'evalute' here; it asks by: evaluate, critique",
        ),
        ({"prompts": {"evaluate": "mien.md"}}, PromptError, "no prompt 'mien.md'"),
        ({"prompts": {"evaluate": "You judge."}}, ConfigError, "expected template -> path of a .md file"),
        ({"prompts": ["mine.md"]}, ConfigError, "expected template -> path of a .md file"),
        (
            {"prompts": '{"evaluate": mine.md}'},
            ConfigError,
            "-s prompts=evaluate=mine.md; got '{\"evaluate\": mine.md}'",
        ),
        ({"prompts": {"critique_scores": "mine.md"}}, ConfigError, "it asks by: evaluate, critique"),
    ],
)
def test_what_is_no_template_here_is_refused(settings, kind, why):
    with pytest.raises(kind, match=why.replace("(", r"\(")):
        sageval(**settings)


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"query": "<q>$question</q>"}, r"has \$question, which nobody fills"), ({"output": ""}, r"lacks \$output")],
)
def test_a_template_that_cannot_be_filled_or_shows_nothing_is_refused_where_the_graph_is_made(changes, why, tmp_path):
    with pytest.raises(PromptError, match=why):
        llm_score(prompts={"llm_score": mine(tmp_path, "llm_score", **changes)})


def test_examples_and_reference_have_a_place_where_it_says(tmp_path):
    path = mine(tmp_path, "evaluate", task="Before: $examples After: $reference")
    examples = [{"output": "It is blue.", "score": 2, "reason": "no cause"}]
    criteria = [jg.Criterion(name="Depth", examples=examples)]
    seen = []
    token = watched.set(lambda prompt, texts: seen.append((prompt, dict(texts))))
    try:
        sample = SAMPLE.model_copy(update={"reference": "Rayleigh scattering."})
        jg.evaluate(sageval(criteria=criteria, prompts={"evaluate": path}), [sample])
    finally:
        watched.reset(token)
    prompt, texts = next((prompt, texts) for prompt, texts in seen if prompt.name == path)
    asked = prompt.render(**texts).messages[-1][1]
    assert "Before: ## Depth\nExample 1\nScore: 2" in asked
    assert "Rayleigh scattering." in asked.partition("After:")[2]
    assert asked.count("It is blue.") == 1  # and in no section of its own behind the criteria


def test_a_graph_file_finds_it_beside_itself(tmp_path, monkeypatch):
    folder = tmp_path / "graphs"
    folder.mkdir()
    mine(folder, "g_eval")
    (folder / "graph.yaml").write_text(
        "name: mine\nnodes:\n  score: {use: g-eval, criteria: summary, with: {prompts: {g_eval: my-g_eval.md}}}\n"
        "edges: [start -> score -> end]\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    assert [Path(name).name for name in templates(jg.load_graph(folder / "graph.yaml"))] == ["my-g_eval.md"]


def test_no_prompt_of_ours_names_a_side_of_a_pair_by_what_it_is_to_the_user():
    for path in HERE.glob("*.md"):
        text = path.read_text(encoding="utf-8")
        assert "rival" not in text, path.name
        if "$response_b" in text:
            assert "<output" not in text, path.name
            assert "$output" not in text, path.name
