"""What was published of judges on SummEval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgegraph.bench.collection import Published

_RECORDED = {  # judge -> Spearman, Pearson, Kendall for coherence, then for consistency; 12 systems, 1,200 summaries
    "gpt-4-0314 rts": ((0.448, 0.428, 0.373), (0.556, 0.618, 0.522)),
    "gpt-3.5-turbo-0301 rts": ((0.444, 0.467, 0.349), (0.423, 0.532, 0.378)),
    "gpt-3.5-turbo-0301 mcq": ((0.424, 0.416, 0.350), (0.343, 0.487, 0.320)),
    "gpt-3.5-turbo-0301 stareval": ((0.418, 0.417, 0.341), (0.297, 0.421, 0.264)),
    "llama-2-70b-chat-hf rts": ((0.234, 0.254, 0.186), (0.357, 0.395, 0.319)),
}
_FUSION_EVAL = {  # coherence, consistency, fluency, relevance, overall; None where our copy of the paper is unreadable
    "ROUGE-1": (0.35, 0.55, 0.527, 0.583, 0.503),
    "ROUGE-2": (0.233, 0.6, 0.494, 0.433, 0.44),
    "ROUGE-L": (0.117, 0.117, 0.259, 0.35, 0.211),
    "BLEU": (0.217, 0.05, 0.326, 0.383, 0.244),
    "CHRF": (0.35, 0.617, 0.561, 0.55, 0.519),
    "S1-CHRF": (0.3, 0.733, 0.494, 0.5, 0.507),
    "S2-CHRF": (0.3, 0.7, 0.46, 0.433, 0.473),
    "SL-CHRF": (0.367, 0.733, 0.494, 0.5, 0.523),
    "BERTScore": (0.333, -0.03, 0.142, 0.2, 0.161),
    "MoverScore": (0.217, -0.05, 0.259, 0.35, 0.194),
    "BARTScore": (0.35, 0.617, 0.494, 0.45, 0.478),
    "UniEval": (0.683, 0.75, None, 0.667, 0.728),
    "DE-PaLM2": (0.733, None, 0.745, None, 0.879),
    "G-Eval (GPT-4)": (None, None, 0.778, None, 0.912),
    "BLEURT": (0.433, 0.767, 0.644, 0.633, 0.678),
    "NLI": (0.45, None, 0.628, None, 0.695),
    "SumBLEURT": (0.7, None, 0.544, None, None),
    "AVG(AE)": (0.65, 0.55, None, 0.783, None),
    "LLMSel(AE)": (0.7, 0.75, None, 0.767, None),
    "CorrW(AE)": (None, 0.65, 0.678, 0.783, 0.845),
    "AVG(AE, DE-PaLM2)": (None, None, 0.728, None, 0.895),
    "AVG(AE, G-Eval-GPT-4)": (None, None, 0.745, None, 0.912),
    "LLMSel(AE, DE-PaLM2)": (None, 0.717, None, 0.833, None),
    "LLMSel(AE, G-Eval-GPT-4)": (0.733, 0.717, None, 0.85, None),
    "CorrW(AE, DE-PaLM2)": (0.717, None, 0.745, None, 0.895),
    "CorrW(AE, G-Eval-GPT-4)": (0.733, 0.633, 0.762, 0.883, 0.912),
    "FE-PaLM2-NoPlan": (0.767, 0.617, 0.728, 0.867, 0.895),
    "FE-PaLM2": (0.783, 0.767, 0.778, 0.917, None),
}
_NOTED = {"FE-PaLM2": (None, None, None, None, 0.962)}
_RECALLED = {  # mean over articles of Spearman over 16 systems
    "BERTScore": (0.284, 0.110, 0.193, 0.312),
    "BARTScore": (0.448, 0.382, 0.356, 0.356),
    "UniEval": (0.575, 0.446, 0.449, 0.426),
    "G-Eval (GPT-3.5)": (0.440, 0.386, 0.424, 0.385),
    "G-Eval (GPT-4)": (0.582, 0.507, 0.455, 0.547),
}
_NAMES = ("Coherence", "Consistency", "Fluency", "Relevance", "Overall")
_SHEN = "Shen et al. 2023 (DAMO-NLP-SG/LLM_summeval), 12 systems"
_TABLE_2 = "Fusion-Eval (Shu et al. 2023), table 2, 16 systems"
_FROM_A_NOTE = f"{_TABLE_2}: .962 is from a note; our copy prints .902, which no tau-b of these systems can be"
_FROM_MEMORY = "recalled, not checked: the papers of UniEval, BARTScore and G-Eval, 16 systems"


def _recorded() -> list[Published]:
    return [
        Published(judge, name, statistic, value, _SHEN, "dataset")
        for judge, criteria in _RECORDED.items()
        for name, values in zip(_NAMES, criteria, strict=False)
        for statistic, value in zip(("spearman", "pearson", "kendall-b"), values, strict=True)
    ]


def _rows(table: Mapping[str, Sequence[float | None]], statistic: str, level: str, source: str) -> list[Published]:
    return [
        Published(judge, name, statistic, value, source, level)
        for judge, values in table.items()
        for name, value in zip(_NAMES, values, strict=False)
        if value is not None
    ]


_PAIRS = tuple(  # each system wins an article by a higher score, ties half, and a pair by over half of the articles
    Published("gpt-3.5-turbo-0301 rts", name, "pairs", right / 66, f"{_SHEN}, pairs of them", "system")
    for name, right in (("Coherence", 54), ("Consistency", 56))
)
PUBLISHED = (
    *_recorded(),
    *_PAIRS,
    *_rows(_RECALLED, "spearman", "group", _FROM_MEMORY),
    *_rows(_FUSION_EVAL, "kendall-b", "system", _TABLE_2),
    *_rows(_NOTED, "kendall-b", "system", _FROM_A_NOTE),
)
