"""What was published of judges on TopicalChat."""

from __future__ import annotations

from judgegraph.bench.collection import Published
from judgegraph.bench.result_rows import unieval_published

_UNIEVAL = {  # Pearson, Spearman, Kendall
    "Naturalness": (0.443666, 0.513986, 0.373973),
    "Coherence": (0.595143, 0.612942, 0.465915),
    "Engagingness": (0.556510, 0.604739, 0.455941),
    "Groundedness": (0.536209, 0.574954, 0.451533),
    "Understandability": (0.380038, 0.467807, 0.360741),
    "Overall": (0.632796, 0.662583, 0.487272),
}
_SAMPLED = {  # prompt, criterion -> Pearson over all, Kendall per dialogue
    ("geval", "Coherence"): (0.468, 0.391),
    ("geval", "Engagingness"): (0.549, 0.513),
    ("geval_no_auto_cot", "Coherence"): (0.443, 0.404),
    ("geval_no_auto_cot", "Engagingness"): (0.557, 0.535),
    ("llm_eval_no_cot", "Coherence"): (0.524, 0.426),
    ("llm_eval_no_cot", "Engagingness"): (0.611, 0.557),
    ("rate_explain_auto_cot", "Engagingness"): (0.613, 0.566),
    ("analyze_rate", "Coherence"): (0.477, 0.416),
    ("analyze_rate", "Engagingness"): (0.567, 0.524),
}
_PER_DIALOGUE = {"Coherence": 0.486, "Engagingness": 0.628}  # Pearson of analyze_rate
_FUSION_EVAL = {  # Spearman over all turns
    "DE-PaLM2": (0.669, 0.688, 0.542, 0.602, 0.493, 0.66),
    "G-Eval (GPT-4)": (0.605, 0.631, 0.565, 0.551, None, None),
    "BLEURT": (0.316, 0.461, 0.384, 0.638, 0.432, 0.464),
    "PaLM2 Prob": (0.583, 0.606, 0.637, 0.441, 0.676, 0.687),
    "AVG(AE)": (0.556, 0.637, 0.626, 0.579, 0.672, 0.697),
    "LLMSel(AE)": (None, None, 0.637, 0.638, 0.676, None),
    "CorrW(AE)": (0.575, 0.637, 0.638, 0.6, 0.682, 0.703),
    "AVG(AE, DE-PaLM2)": (0.655, 0.708, 0.631, 0.639, 0.679, 0.737),
    "LLMSel(AE, DE-PaLM2)": (None, None, None, 0.66, None, None),
    "CorrW(AE, DE-PaLM2)": (0.666, 0.711, 0.641, 0.65, 0.689, 0.742),
    "FE-PaLM2-NoPlan": (0.683, 0.722, 0.649, 0.643, 0.641, 0.735),
    "FE-PaLM2": (0.697, 0.728, 0.651, 0.709, 0.632, 0.764),
    "FE-GPT-4": (0.678, 0.747, 0.691, 0.692, 0.687, 0.774),
}
_ORDER = ("Coherence", "Engagingness", "Naturalness", "Groundedness", "Understandability", "Overall")
_PAPER = "Chiang and Lee 2023, tables 2 and 3: r over all turns, tau per dialogue"


def _sampled() -> tuple[Published, ...]:
    found = []
    for (prompt, name), (r, tau) in _SAMPLED.items():
        found.append(Published(f"gpt-3.5 {prompt}", name, "pearson", r, _PAPER, "dataset"))
        found.append(Published(f"gpt-3.5 {prompt}", name, "kendall-b", tau, _PAPER, "group"))
    for name, r in _PER_DIALOGUE.items():
        found.append(Published("gpt-3.5 analyze_rate", name, "pearson", r, _PAPER, "group"))
    return tuple(found)


def _fusion_eval() -> tuple[Published, ...]:
    source = "Fusion-Eval (Shu et al. 2023), table 3"
    return tuple(
        Published(judge, name, "spearman", value, source, "dataset")
        for judge, values in _FUSION_EVAL.items()
        for name, value in zip(_ORDER, values, strict=True)
        if value is not None
    )


PUBLISHED = (*unieval_published(_UNIEVAL), *_sampled(), *_fusion_eval())
