"""The forms that this package knows, by name: readers, labels, order rules, scales and where templates can be had.

No template of anybody is here. Facts were read in the code at the commits that stand in each row.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from judgegraph.errors import ConfigError, one_line
from judgegraph.forms.form import JudgeForm, Origin, read_form

PANDALM = "WeOpenML/PandaLM @ 3871806; Wang et al. 2023, arXiv:2306.05087"
JUDGELM = "baaivision/JudgeLM @ 00c4516; Zhu et al. 2023, arXiv:2310.17631"
AUTOJ = "GAIR-NLP/auto-j @ 2ae17a3; Li et al. 2023, arXiv:2310.05470"
PROMETHEUS = "prometheus-eval/prometheus @ 60e2c58; Kim et al. 2023, arXiv:2310.08491"
PROMETHEUS_2 = "prometheus-eval/prometheus-eval @ dcfb442; Kim et al. 2024, arXiv:2405.01535"
MT_BENCH = "lm-sys/FastChat @ 0e6d3e4; Zheng et al. 2023, arXiv:2306.05685"
LLMBAR = "princeton-nlp/LLMBar @ 900616b; Zeng et al. 2023, arXiv:2310.07641"
SELENE, FLOW = "atla-ai/selene-mini @ 1425d20; arXiv:2501.17195", "flowaicom/flow-judge @ 9865fc0"
GLIDER = "patronus-ai/glider @ 40a2a8a; arXiv:2412.14140"
JUDGELRM, RM_R1 = "NuoJohnChen/JudgeLRM @ 1b20721; arXiv:2504.00050", "RM-R1-UIUC/RM-R1 @ d4c2542; arXiv:2505.02387"
COMPASS = "open-compass/CompassJudger @ 9cdf659; arXiv:2410.16256"

LLAMA_2 = "[INST] {prompt} [/INST]"
LLAMA_2_SYSTEM = "[INST] <<SYS>>\n{system}\n<</SYS>>\n\n{prompt} [/INST]"
CHATML = "<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"
GREEDY: Mapping[str, Any] = {"temperature": 0.0}
SAMPLED: Mapping[str, Any] = {"temperature": 1.0, "top_p": 0.9, "max_tokens": 1024}


def _prometheus(constant: str, system: str) -> tuple[Origin, ...]:
    return (
        Origin(
            "prompts.py",
            constant,
            system,
            package="prometheus_eval",
            pip="prometheus-eval",
            where="prometheus-eval/prometheus-eval, libs/prometheus-eval/prometheus_eval",
        ),
    )


def _mt_bench(name: str) -> tuple[Origin, ...]:
    return (
        Origin(
            "judge_prompts.jsonl",
            "prompt_template",
            "system_prompt",
            row=("name", name),
            where="lm-sys/FastChat, fastchat/llm_judge/data",
        ),
    )


def _judgelm(name: str) -> tuple[Origin, ...]:
    """Their code joins the fields of a constant in this way, with the instruction in a slot of the template."""
    return (
        Origin(
            "common.py",
            f"<{name}.system>\n<{name}.prompt_template><{name}.appendix>",
            inserts=(("prompt", f"{name}.prompt"),),
            where="baaivision/JudgeLM, judgelm/llm_judge",
        ),
    )


def _at(where: str, file: str = "", user: str = "") -> tuple[Origin, ...]:
    return (Origin(file, user, where=where),)


_FORMS = (
    JudgeForm(
        name="rating",
        kind="single",
        reader="rating-line",
        about="one criterion, 'Rating: n' (worded by us)",
        prompt="form_rating",
        settings=GREEDY,
        source="ours",
    ),
    JudgeForm(
        name="verdict",
        kind="pair",
        reader="double-brackets",
        about="two responses, '[[A]]' (worded by us)",
        tie="tie",
        prompt="form_verdict",
        settings=GREEDY,
        orders="agree-else-tie",
        source="ours",
    ),
    JudgeForm(
        name="pandalm",
        kind="pair",
        reader="first-line-label",
        about="PandaLM: 1, 2 or Tie, then reasons",
        labels=("1", "2"),
        tie="Tie",
        endpoint="completion",
        slots={"input": "source"},
        drop_if_empty=("source",),
        settings={"temperature": 0.0, "max_tokens": 512},
        origins=_at("WeOpenML/PandaLM, pandalm/utils"),
        source=PANDALM,
    ),
    JudgeForm(
        name="judgelm",
        kind="pair",
        reader="first-line-scores",
        about="JudgeLM: two scores, then reasons",
        scale="1-10 any",
        labels=("1", "2"),
        endpoint="completion",
        orders="one",
        drop_if_empty=("reference",),
        settings={"temperature": 0.2, "max_tokens": 2048},
        origins=_judgelm("conv_judge_pair"),
        source=JUDGELM,
    ),
    JudgeForm(
        name="judgelm-single",
        kind="single",
        reader="first-line-score",
        about="JudgeLM: one response against a reference that is a 10",
        scale="1-10 any",
        endpoint="completion",
        prefix="10",
        slots={"answer_1": "reference", "answer_2": "output", "answer1": "reference", "answer2": "output"},
        settings={"temperature": 0.2, "max_tokens": 2048},
        origins=_judgelm("conv_judge_single"),
        source=JUDGELM,
    ),
    JudgeForm(
        name="autoj-pair",
        kind="pair",
        reader="final-decision",
        about="Auto-J: reasons, then 'final decision is'",
        labels=("Response 1", "Response 2"),
        tie="Tie",
        endpoint="completion",
        wrap=LLAMA_2,
        settings={"temperature": 0.0, "max_tokens": 1024},
        origins=_at("GAIR-NLP/auto-j, codes/usage", "constants_prompt.py", "pairwise_tie"),
        source=AUTOJ,
    ),
    JudgeForm(
        name="autoj-single",
        kind="single",
        reader="rating-brackets",
        about="Auto-J: a critique, then 'Rating: [[n]]'",
        scale="1-10",
        endpoint="completion",
        wrap=LLAMA_2,
        settings={"temperature": 0.0, "max_tokens": 1024},
        origins=_at("GAIR-NLP/auto-j, codes/usage", "constants_prompt.py", "single"),
        source=AUTOJ,
    ),
    JudgeForm(
        name="autoj-critiques",
        kind="pair",
        reader="label-first",
        about="Auto-J's test: which of two critiques is better",
        labels=("A", "B"),
        tie="C",
        settings=GREEDY,
        origins=_at("GAIR-NLP/auto-j, codes/leaderboard"),
        source=AUTOJ,
    ),
    JudgeForm(
        name="prometheus",
        kind="single",
        reader="result-score",
        about="Prometheus: feedback by a rubric, then '[RESULT] n'",
        scale="1-5",
        endpoint="completion",
        wrap=LLAMA_2_SYSTEM,
        settings={"temperature": 1.0, "top_p": 0.9, "max_tokens": 256},
        origins=_at("prometheus-eval/prometheus"),
        source=PROMETHEUS,
    ),
    JudgeForm(
        name="prometheus2-absolute",
        kind="single",
        reader="result-score",
        about="Prometheus 2: feedback by a rubric and a reference, then '[RESULT] n'",
        scale="1-5",
        settings=SAMPLED,
        origins=_prometheus("ABSOLUTE_PROMPT", "ABS_SYSTEM_PROMPT"),
        source=PROMETHEUS_2,
    ),
    JudgeForm(
        name="prometheus2-absolute-no-reference",
        kind="single",
        reader="result-score",
        about="the same without a reference",
        scale="1-5",
        settings=SAMPLED,
        origins=_prometheus("ABSOLUTE_PROMPT_WO_REF", "ABS_SYSTEM_PROMPT"),
        source=PROMETHEUS_2,
    ),
    JudgeForm(
        name="prometheus2-relative",
        kind="pair",
        reader="result-label",
        about="Prometheus 2: feedback on both, then '[RESULT] A'",
        slots={"rubric": "definition"},
        settings=SAMPLED,
        origins=_prometheus("RELATIVE_PROMPT", "REL_SYSTEM_PROMPT"),
        source=PROMETHEUS_2,
    ),
    JudgeForm(
        name="prometheus2-relative-no-reference",
        kind="pair",
        reader="result-label",
        about="the same without a reference",
        slots={"rubric": "definition"},
        settings=SAMPLED,
        origins=_prometheus("RELATIVE_PROMPT_WO_REF", "REL_SYSTEM_PROMPT"),
        source=PROMETHEUS_2,
    ),
    *(
        JudgeForm(
            name=name,
            kind="pair",
            reader="double-brackets",
            about=about,
            tie="C",
            orders="agree-else-tie",
            settings={"temperature": 0.0, "max_tokens": 2048},
            origins=_mt_bench(row),
            source=MT_BENCH,
        )
        for name, row, about in (
            ("mt-bench-pair", "pair-v2", "MT-Bench: reasons, then '[[A]]', '[[B]]' or '[[C]]'"),
            ("mt-bench-pair-reference", "pair-math-v1", "the same with a reference before the answers"),
        )
    ),
    *(
        JudgeForm(
            name=name,
            kind="single",
            reader="bracket-score",
            about=about,
            scale="1-10 any",
            settings={"temperature": 0.0, "max_tokens": 2048},
            origins=_mt_bench(row),
            source=MT_BENCH,
        )
        for name, row, about in (
            ("mt-bench-single", "single-v1", "MT-Bench: reasons, then '[[n]]'"),
            ("mt-bench-single-reference", "single-math-v1", "the same with a reference before the answer"),
        )
    ),
    JudgeForm(
        name="llmbar",
        kind="pair",
        reader="label-line",
        about="LLMBar: 'Output (a)' or 'Output (b)'",
        labels=("Output (a)", "Output (b)"),
        settings=GREEDY,
        origins=_at("princeton-nlp/LLMBar"),
        source=LLMBAR,
    ),
    JudgeForm(
        name="selene-absolute",
        kind="single",
        reader="result-line-score",
        about="Selene Mini: reasons, then '**Result:** n'",
        scale="1-5",
        settings=GREEDY,
        origins=_at("atla-ai/selene-mini", "absolute_scoring.yaml", "user_template"),
        source=SELENE,
    ),
    JudgeForm(
        name="selene-pair",
        kind="pair",
        reader="result-line-label",
        about="Selene Mini: reasons, then '**Result:** A'",
        settings=GREEDY,
        origins=_at("atla-ai/selene-mini", "pairwise.yaml", "user_template"),
        source=SELENE,
    ),
    JudgeForm(
        name="flow-judge",
        kind="single",
        reader="score-tag",
        about="Flow-Judge: feedback, then '<score>n</score>'",
        slots={"INPUTS": "query", "OUTPUT": "output", "EVALUATION_CRITERIA": "definition", "RUBRIC": "levels"},
        settings={"temperature": 0.1, "top_p": 0.95, "max_tokens": 1000},
        origins=(
            Origin(
                "utils/prompt_formatter.py",
                "USER_PROMPT_TEMPLATE",
                package="flow_judge",
                pip="flow-judge",
                where="flowaicom/flow-judge",
            ),
        ),
        source=FLOW,
    ),
    JudgeForm(
        name="glider",
        kind="single",
        reader="score-tag",
        about="GLIDER: reasons, highlights, then '<score>n</score>'",
        slots={"data": "output", "pass_criteria": "definition", "rubric": "levels"},
        settings={"temperature": 0.0, "max_tokens": 2048},
        origins=_at("patronus-ai/glider"),
        source=GLIDER,
    ),
    JudgeForm(
        name="judgelrm",
        kind="pair",
        reader="answer-tags",
        about="JudgeLRM: thoughts, then two '<answer>n</answer>'",
        scale="0-10",
        labels=("1", "2"),
        endpoint="completion",
        wrap=CHATML,
        prefix="<think>",
        origins=_at("NuoJohnChen/JudgeLRM"),
        source=JUDGELRM,
    ),
    JudgeForm(
        name="rm-r1",
        kind="pair",
        reader="answer-label",
        about="RM-R1: a rubric of its own, then '<answer>[[A]]</answer>'",
        settings=GREEDY,
        origins=_at("RM-R1-UIUC/RM-R1"),
        source=RM_R1,
    ),
    JudgeForm(
        name="compassjudger",
        kind="pair",
        reader="choice-json",
        about='CompassJudger: \'{"Choice": "Model A"}\'',
        labels=("Model A", "Model B"),
        settings={"temperature": 0.0, "max_tokens": 2048},
        origins=_at("open-compass/CompassJudger"),
        source=COMPASS,
    ),
)
FORMS: Mapping[str, JudgeForm] = {form.name: form for form in _FORMS}


def form_of(which: str | JudgeForm) -> JudgeForm:
    """A form by its name, from a YAML file of one's own, or as it is.

    Raises:
        ConfigError: there is none; the message names the near ones.
    """
    if isinstance(which, JudgeForm):
        return which
    if which in FORMS:
        return FORMS[which]
    if which.lower().endswith((".yaml", ".yml")):
        return read_form(Path(which))
    close = get_close_matches(which.lower(), FORMS, n=3, cutoff=0.5)
    meant = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
    raise ConfigError(
        f"no judge form '{one_line(which, 80)}'; {meant}known: {', '.join(FORMS)}, or a .yaml file of your own"
    )
