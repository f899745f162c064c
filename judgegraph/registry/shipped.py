"""What this package brings along, by kind and name; nothing is imported before it is wanted."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal, NotRequired, Required, get_origin, get_type_hints

from typing_extensions import is_typeddict

from judgegraph.errors import ConfigError, one_line

if TYPE_CHECKING:
    from importlib.metadata import Distribution


# What an agent reads of a state and writes into it, as its own annotations say.


Keys = tuple[str, ...]


def keys_of(node: Any) -> tuple[Keys | None, Keys | None]:
    """(keys read, keys written) of an agent, its class, a function or a graph; "?" stands behind those it can miss.

    None where nothing is known: no annotation, or none of a TypedDict.
    """
    if (builder := getattr(node, "builder", None)) is not None and hasattr(builder, "input_schema"):
        reads, writes = keys(builder.input_schema), keys(builder.output_schema)
        return reads and tuple("sample" if k == "sample?" else k for k in reads), writes and _plain(writes)
    call = _call(node)
    if call is None:
        return None, None
    hints = _hints(call)
    return keys(hints.get(_first(call) or "")), keys(hints.get("return"))


def keys(schema: Any) -> Keys | None:
    """Keys of a TypedDict in their order, "criteria?" where one may be missing; None for anything else."""
    if not is_typeddict(schema):
        return None
    try:
        hints = get_type_hints(schema, include_extras=True)
    except Exception:  # a name that only type checkers see
        hints = dict(schema.__annotations__)
    optional: frozenset[str] = getattr(schema, "__optional_keys__", frozenset())
    return tuple(f"{key}?" if _may_miss(hint, key in optional) else key for key, hint in hints.items())


def _plain(found: Keys) -> Keys:
    """A graph writes what its nodes write: that its state is not total says nothing."""
    return tuple(key.removesuffix("?") for key in found)


def is_state(function: Any) -> bool:
    """Whether a function is a part as it stands, and builds none.

    An agent's first argument is called `state` or annotated with a TypedDict, an assistant's is called `sample`.
    """
    first = _first(function)
    return first is not None and (first in ("state", "sample") or is_typeddict(_hints(function).get(first)))


def _may_miss(hint: Any, listed: bool) -> bool:
    """`NotRequired` that stands as a text in its module is in no list of optional keys."""
    origin = get_origin(hint)
    if origin in (NotRequired, Required):
        return origin is NotRequired
    text = getattr(hint, "__forward_arg__", "")
    return listed or "NotRequired[" in text


def _call(node: Any) -> Any:
    if inspect.isroutine(node):
        return node
    owner = node if inspect.isclass(node) else type(node)
    call = inspect.getattr_static(owner, "__call__", None)
    return call if inspect.isfunction(call) else None


def _first(function: Any) -> str | None:
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    named = [p for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.name != "self"]
    return named[0].name if named else None


def _hints(function: Any) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except Exception:  # whatever stands in a user's annotations
        return {}


METHODS: dict[str, str] = {  # name -> "module:factory"
    "sageval": "judgegraph.graphs.sageval:sageval",
    "coascore": "judgegraph.graphs.coascore:coascore",
    "fennec": "judgegraph.graphs.fennec:fennec",
    "fusion-eval": "judgegraph.graphs.fusion_eval:fusion_eval",
    "g-eval": "judgegraph.graphs.g_eval:g_eval",
    "llm-score": "judgegraph.graphs.llm_score:llm_score",
}

FORM_METHODS: dict[str, str] = {  # of no one paper
    "judge-form": "judgegraph.graphs.judge_form:judge_form",  # see forms/
    "trajectory": "judgegraph.graphs.trajectory:trajectory",
    "find-fault": "judgegraph.graphs.find_fault:find_fault",
}

PEER_METHODS: dict[str, str] = {  # graphs that others published, made of the parts of those above
    "checkeval": "judgegraph.graphs.checkeval:checkeval",
    "mateval": "judgegraph.graphs.mateval:mateval",
    "chateval": "judgegraph.graphs.chateval:chateval",
    "bsm": "judgegraph.graphs.bsm:bsm",
    "poll": "judgegraph.graphs.poll:poll",
}

ABOUT: dict[str, str] = {  # one line each, so that a list of methods imports none of them
    "sageval": "An evaluator scores, a critic rectifies (Ghosh et al. 2024)",
    "coascore": "Score relevant aspects first, then the target (Gong & Mao 2023)",
    "fennec": "Branch into criteria, judge by guideline, merge, correct; pairs too",
    "fusion-eval": "Plan, consult assistant evaluators, fuse (Shu et al. 2023)",
    "g-eval": "One probability-weighted score per criterion; a baseline",
    "llm-score": "One stated score per criterion, chain of thought or not; a baseline",
    "judge-form": "A judge of others by its form: Prometheus, Auto-J, PandaLM",
    "trajectory": "An agent's run: its steps side by side, then the whole",
    "find-fault": "The decisive mistake of a run: at once, by step, by halves",
    "checkeval": "Yes/no questions, written once; the share of yes (Lee et al. 2024)",
    "mateval": "Two evaluators discuss, feedback, a summary scores (Li et al. 2024)",
    "chateval": "Readers with roles discuss, then score (Chan et al. 2023)",
    "bsm": "Branch-Solve-Merge: criteria, both orders, sums (Saha et al. 2024)",
    "poll": "A panel of judges of other model families (Verga et al. 2024)",
}

AGENTS: dict[str, str] = {  # name -> "module:class"; what makes a node of settings
    "evaluator": "judgegraph.agents.evaluator:Evaluator",
    "scorer": "judgegraph.agents.scorer:Scorer",
    "rectify": "judgegraph.agents.sage:Rectify",
    "proposer": "judgegraph.agents.aspects:Proposer",
    "rater": "judgegraph.agents.judge:Rater",
    "fuser": "judgegraph.agents.fusion:Fuser",
    "criteria-writer": "judgegraph.agents.criteria:CriteriaWriter",
    "steps-writer": "judgegraph.agents.steps:StepsWriter",
    "merge": "judgegraph.agents.merge:Merge",
    "corrector": "judgegraph.agents.corrector:Corrector",
    "critique": "judgegraph.compose.critique:critique",
    "escalate": "judgegraph.compose.gate:escalate",
    "gate": "judgegraph.compose.gate:gate",
    "refine": "judgegraph.compose.critique:refine",
    "consensus": "judgegraph.agents.panel:Consensus",
    "panel": "judgegraph.compose.panel:panel_of",
    "juror": "judgegraph.agents.juror:Juror",
    "jury": "judgegraph.compose.jury:jury_of",
}

CRITICS: dict[str, str] = {
    "sage": "judgegraph.agents.sage:Sage",
    "self-reflection": "judgegraph.agents.critics:SelfReflection",
    "devils-advocate": "judgegraph.agents.critics:DevilsAdvocate",
    "critic-panel": "judgegraph.agents.panel:CriticPanel",
}

ASSISTANTS: dict[str, str] = {  # name -> "module:factory"
    "rouge-1": "judgegraph.tools.metrics:rouge_1",
    "rouge-2": "judgegraph.tools.metrics:rouge_2",
    "rouge-l": "judgegraph.tools.metrics:rouge_l",
    "rouge-l-sum": "judgegraph.tools.metrics:rouge_l_sum",
    "chrf": "judgegraph.tools.metrics:chrf",
    "coverage": "judgegraph.tools.metrics:coverage",
    "density": "judgegraph.tools.metrics:density",
    "novelty": "judgegraph.tools.metrics:novelty",
    "length-ratio": "judgegraph.tools.metrics:length_ratio",
    "bleu": "judgegraph.tools.metrics:bleu",
    "ter": "judgegraph.tools.metrics:ter",
    "meteor": "judgegraph.tools.metrics:meteor",
    "word-count": "judgegraph.tools.prose:word_count",
    "repetition": "judgegraph.tools.prose:repetition",
    "distinct-1": "judgegraph.tools.prose:distinct_1",
    "distinct-2": "judgegraph.tools.prose:distinct_2",
    "readability": "judgegraph.tools.prose:readability",
    "self-bleu": "judgegraph.tools.form:self_bleu",
    "form-duplicates": "judgegraph.tools.form:duplicates",
    "form-overlaps": "judgegraph.tools.form:overlaps",
    "form-exits": "judgegraph.tools.form:exits",
    "form-reading-level": "judgegraph.tools.form:reading_level",
    "form-schema": "judgegraph.tools.form:schema",
    "embedding-similarity": "judgegraph.tools.semantic:Embedding",
    "token-matching": "judgegraph.tools.semantic:TokenMatching",
    "mover": "judgegraph.tools.semantic:Mover",
    "nli": "judgegraph.tools.semantic:Entailment",
    "likelihood": "judgegraph.tools.likelihood:Likelihood",
    "bertscore": "judgegraph.tools.libraries:bertscore",
    "bartscore": "judgegraph.tools.libraries:bartscore",
    "bleurt": "judgegraph.tools.libraries:bleurt",
    "sumbleurt": "judgegraph.tools.libraries:sumbleurt",
    "comet": "judgegraph.tools.libraries:comet",
    "unieval": "judgegraph.tools.libraries:unieval",
}

SHIPPED: dict[str, dict[str, str]] = {
    "method": {**METHODS, **FORM_METHODS, **PEER_METHODS}, "agent": AGENTS, "critic": CRITICS, "assistant": ASSISTANTS,
}  # fmt: skip


# Rows of the papers by a name each: a method with settings of its own, which a setting given by hand overrides.


COASCORE = "Gong & Mao 2023, arXiv:2312.10355"
FENNEC = "Liang et al. 2024, arXiv:2405.12163"
FUSION = "Shu et al. 2023, arXiv:2311.09204, tables 2 and 3"
SAGEVAL = "Ghosh et al. 2024, arXiv:2411.16077"


@dataclass(frozen=True)
class Variant:
    """A method under settings of its own: nothing else tells the two apart.

    Attributes:
        method: its name in METHODS or PEER_METHODS. settings: as its builder takes them.
        about: one line that says what is different. source: paper, section, table or figure that names it.
    """

    method: str
    settings: Mapping[str, Any] = field(hash=False)
    about: str
    source: str


OF_SAGEVAL: dict[str, Variant] = {
    "sageval-sr": Variant(
        "sageval", {"critic": "self-reflection"}, "The evaluator reviews its own scores; no SAGE",
        f"{SAGEVAL}, section 6 names SR, and does not say how it was asked",
    ),
    "sageval-cot": Variant(
        "sageval", {"cot": True}, "Both agents think step by step before each reason",
        f"{SAGEVAL}, section 6 names CoT, and does not say how it was asked",
    ),
}  # fmt: skip

OF_COASCORE: dict[str, Variant] = {
    **{
        f"coascore-{m}": Variant(
            "coascore", {"aspects": m}, f"Chains of {m} aspects",
            f"{COASCORE}, section 4.6, figure 4; tables 2 to 4: m = {m}",
        )
        for m in (5, 10, 20)
    },
    "coascore-inter": Variant(
        "coascore", {"chain": "inter"}, "A target's aspects are the other criteria of its set",
        f"{COASCORE}, section 4.6, table 5: inter, aspects of the data set",
    ),
    "coascore-no-scores": Variant(
        "coascore", {"scores": "none"}, "The aspects' definitions alone in view, no scores",
        f"{COASCORE}, section 4.6, figure 2: w/o score",
    ),
    "coascore-random": Variant(
        "coascore", {"scores": "random"}, "Aspects' scores drawn at random, not asked for",
        f"{COASCORE}, section 4.6, figure 2: random",
    ),
    "coascore-average": Variant(
        "coascore", {"fuse": "average"}, "The mean of the aspects' scores is the target's",
        f"{COASCORE}, section 4.6, table 6: average",
    ),
}  # fmt: skip

OF_LLM_SCORE: dict[str, Variant] = {
    "llm-score-cot": Variant(
        "llm-score", {"cot": True}, "Think step by step, then the score", f"{COASCORE}, section 4.2: LLMScore-CoT"
    ),
}

OF_G_EVAL: dict[str, Variant] = {
    "g-eval-20": Variant(
        "g-eval", {"logprobs": False, "samples": 20, "temperature": 1.0, "top_p": 1.0},
        "The mean of 20 samples, never log-probabilities",
        "Liu et al. 2023, arXiv:2303.16634, section 3: 20 samples stand for the probabilities",
    ),
    "g-eval-auto-cot": Variant(
        "g-eval", {"steps": "all"}, "The judge writes the evaluation steps of each criterion",
        "Liu et al. 2023, arXiv:2303.16634, section 2: auto chain of thought",
    ),
}  # fmt: skip

OF_FENNEC: dict[str, Variant] = {
    **{
        f"fennec-{n}": Variant("fennec", {"branches": n}, f"{n} criteria for a query" if n > 1 else "One criterion",
                               f"{FENNEC}, section 6.1, figure 3, figures 5 and 6: {n} of 1 to 5 branches")
        for n in (1, 2, 3, 4, 5)
    },
    "fennec-10": Variant(
        "fennec", {"branches": 10}, "10 criteria for a query", f"{FENNEC}: the code's most branches of a pair"
    ),
    "fennec-single": Variant(
        "fennec", {"mode": "single"}, "The output is scored alone, also where it has a rival",
        f"{FENNEC}, section 3.1: single-eval; section 6.3, figure 4: systems ranked by it",
    ),
    "fennec-pair": Variant(
        "fennec", {"mode": "pair"}, "Output and rival side by side, or nothing",
        f"{FENNEC}, section 3.1: pairwise-eval; table 3",
    ),
    "fennec-both": Variant(
        "fennec", {"mode": "pair", "orders": "both", "labels": "response"},
        "A pair in both orders, letters bound to responses",
        f"{FENNEC}, section 5.1, table 2: agreement and consistency",
    ),
    "fennec-apart": Variant(
        "fennec", {"mode": "apart"}, "Output and rival each scored alone; the sums decide",
        f"{FENNEC}, section 5.2, table 3: pairs by single-eval",
    ),
    "fennec-votes": Variant(
        "fennec", {"mode": "pair", "merge": "votes"}, "A vote per criterion decides a pair, not the sums",
        "ours, for judges that give verdicts without scores",
    ),
}  # fmt: skip

_BASELINES: dict[str, tuple[str, str, str, str]] = {  # name -> fuse, what it is, its name and more in the paper
    "avg": ("average", "No judge: the mean of the assistants", "AVG", ""),
    "llmsel": ("selected", "No judge: the mean of the plan's assistants", "LLMSel", ", table 4"),
    "corrw": ("weighted", "No judge: assistants weighted by agreement with people", "CorrW", ""),
}

OF_FUSION_EVAL: dict[str, Variant] = {
    "fusion-eval-no-plan": Variant(
        "fusion-eval", {"plan": False}, "No plan: the judge sees what all assistants said", f"{FUSION}: FE-NoPlan"
    ),
    **{
        f"fusion-{name}{side}": Variant(
            "fusion-eval", {"fuse": fuse, **direct}, f"{called} with a direct score as one more" if direct else about,
            f"{FUSION}: {called}(AE, DE)" if direct else f"{FUSION}: {called}(AE){more}",
        )
        for name, (fuse, about, called, more) in _BASELINES.items()
        for side, direct in (("", {}), ("-direct", {"direct": "llm-score"}))
    },
}  # fmt: skip

CHECKEVAL, MATEVAL, CHATEVAL = "Lee et al. 2024, arXiv:2403.18771", "Li et al. 2024, arXiv:2403.19305", (
    "Chan et al. 2023, arXiv:2308.07201"
)  # fmt: skip

OF_PEERS: dict[str, Variant] = {
    "checkeval-diversify": Variant(
        "checkeval", {"more": "diversify"}, "More questions, of sides that the seeds leave out",
        f"{CHECKEVAL}: question diversification",
    ),
    "checkeval-elaborate": Variant(
        "checkeval", {"more": "elaborate"}, "More questions, which take the seeds apart",
        f"{CHECKEVAL}: question elaboration",
    ),
    "checkeval-filtered": Variant(
        "checkeval", {"more": "both", "sift": True}, "Both ways to more questions; misfits are dropped",
        f"{CHECKEVAL}: question filtering",
    ),
    "checkeval-weighted": Variant(
        "checkeval", {"weighted": True}, "A question counts by the probability of its yes",
        "Wei et al. 2025 (RocketEval), arXiv:2503.05142: unsupervised score",
    ),
    "mateval-one-by-one": Variant(
        "mateval", {"strategy": "plain"}, "The evaluators are told no way to go about it", f"{MATEVAL}, README: ObO"
    ),
    "mateval-sr": Variant(
        "mateval", {"strategy": "self-reflection"}, "They look back at what they said", f"{MATEVAL}, README: SR"
    ),
    "mateval-cot": Variant(
        "mateval", {"strategy": "cot"}, "The evaluators work in steps", f"{MATEVAL}, README: CoT"
    ),
    "mateval-no-feedback": Variant(
        "mateval", {"feedback": False}, "Nobody gives feedback between rounds", "ours, for what feedback is worth"
    ),
    "chateval-at-once": Variant(
        "chateval", {"speaking": "simultaneous"}, "Readers of a round do not hear each other",
        f"{CHATEVAL}: simultaneous talk",
    ),
    "chateval-summary": Variant(
        "chateval", {"speaking": "summarized"}, "A summariser's words alone pass from round to round",
        f"{CHATEVAL}: simultaneous talk with summarizer",
    ),
    "chateval-5": Variant(
        "chateval", {"roles": "public,critic,psychologist,author,scientist"}, "All five readers",
        f"{CHATEVAL}: role prompts",
    ),
    "bsm-ab": Variant("bsm", {"orders": "AB"}, "The given order alone", "ours, at half the price"),
    "bsm-mean": Variant(
        "bsm", {"both": "mean"}, "The mean of both orders' sums decides, as in Fennec", "ours, beside Fennec"
    ),
    "poll-vote": Variant(
        "poll", {"combine": "vote"}, "The vote of most, not the mean",
        "Verga et al. 2024, arXiv:2404.18796: max voting",
    ),
}  # fmt: skip

VARIANTS: dict[str, Variant] = {
    **OF_SAGEVAL, **OF_COASCORE, **OF_FENNEC, **OF_FUSION_EVAL, **OF_G_EVAL, **OF_LLM_SCORE, **OF_PEERS,
}  # fmt: skip


@functools.cache
def preset(name: str, build: Callable[..., Any]) -> Callable[..., Any]:
    """The method's factory with a variant's settings in it, `.preset`; what it is called with comes before them."""
    settings = dict(VARIANTS[name].settings)

    @functools.wraps(build)
    def variant(*args: Any, **given: Any) -> Any:
        return build(*args, **{**settings, **given})

    variant.preset = settings  # type: ignore[attr-defined]
    return variant


# One part that a name stands for: who brings it, where it is, and how it is loaded.


Kind = Literal["method", "agent", "critic", "assistant"]
KINDS: tuple[Kind, ...] = ("agent", "critic", "method", "assistant")  # the order of a look-up by name alone


class Disabled(ConfigError):
    """A package's part that cannot be used: only what asks for it hears of it.

    Attributes:
        reason: why, without the package.
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, kw_only=True)
class Part:
    """A row of the registry.

    Attributes:
        package: what brings it: "judgegraph", another distribution, or the module of a decorated class or function.
        version: of the package, "" where it has none. target: "module:attribute".
        thing: what was decorated; None for what is imported when it is wanted.
        variant: the name is a variant's: its method's factory is loaded with the variant's settings.
        fault: why it can never be loaded, known before it is tried.
    """

    kind: Kind
    name: str
    package: str
    version: str = ""
    target: str = ""
    thing: Any = field(default=None, compare=False)
    fault: str = ""
    variant: bool = False

    @property
    def origin(self) -> str:
        """ "package 1.0 (module:attribute)", fit for a terminal."""
        where = f" ({one_line(self.target, 120)})" if self.target else ""
        return f"{self.brought_by}{where}"

    @property
    def brought_by(self) -> str:
        """ "package 1.0"."""
        return " ".join(filter(None, (one_line(self.package, 80), one_line(self.version, 40))))

    @property
    def exact(self) -> str:
        """The name that no other package can share: "package:name"."""
        return f"{self.package}:{self.name}"

    @property
    def ours(self) -> bool:
        return self.package == "judgegraph"

    @property
    def disabled(self) -> bool:
        """Whether it is a package's and cannot be used; it is imported for that."""
        if self.ours:
            return False
        try:
            self.load()
        except Disabled:
            return True
        return False

    def load(self) -> Any:
        """The class, factory or object.

        Raises:
            Disabled: a package's part cannot be imported, is not there or cannot be called.
        """
        if self.thing is not None:
            return self.thing
        if self.ours:
            found = _attribute(self.target)  # what fails here is a mistake of ours: it is told as it is
            return preset(self.name, found) if self.variant else found
        if self.fault:
            raise self._disabled(self.fault)
        if self not in LOADED:
            LOADED[self] = _tried(self.target)
        thing, fault = LOADED[self]
        if fault:
            raise self._disabled(fault)
        return thing

    def _disabled(self, why: str) -> Disabled:
        reason = f"entry point {one_line(repr(self.target), 120)}: {why}" if self.target else why
        name = one_line(self.name, 80)
        return Disabled(f"{self.kind} '{name}' is disabled: package {self.brought_by}, {reason}", reason)


LOADED: dict[Part, tuple[Any, str]] = {}  # a plug-in is tried once in a process: what came of it, or why nothing did


def _attribute(target: str) -> Any:
    module, _, path = target.partition(":")
    found: Any = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _tried(target: str) -> tuple[Any, str]:
    """(thing, "") or (None, why not): whatever a package does when it is imported, the framework goes on."""
    try:
        thing = _attribute(target)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: a plug-in does not end the command
        return None, raised(error)
    if not usable(thing):
        return None, f"it is an object of type {one_line(type(thing).__name__, 60)}, which cannot be called"
    return thing, ""


def usable(thing: Any) -> bool:
    """Whether something can be a part: a class, a function, an object with a call, or a graph."""
    return callable(thing) or hasattr(thing, "ainvoke")


def raised(error: BaseException) -> str:
    """What somebody else's code raised, in a line: "ValueError: no such file"."""
    try:
        said = str(error)
    except Exception:  # a message may be code too
        said = ""
    return one_line(f"{type(error).__name__}: {said}".removesuffix(": "))


# What installed packages bring: their entry points, read when a name is first asked for, imported later still.


GROUPS: dict[str, Kind] = {f"judgegraph.{kind}s": kind for kind in KINDS}
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # ":" and "/" say package and kind, "." a file; models call tools by it
TARGET = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


@lru_cache(maxsize=1)
def installed() -> tuple[Part, ...]:
    """Parts of all installed packages, by package and name; once in a process, none of them imported."""
    found = dict.fromkeys(part for package in _packages() for part in _parts(package))
    return tuple(sorted(found, key=lambda part: (part.package, part.kind, part.name, part.target)))


def brought_by(module: str) -> str:
    """ "package 1.0" of the installed package that a module belongs to, "" where none with an entry point does.

    It has a part in the module or, where there is none, next to it; packages that are equally near are all named.
    """
    path = module.split(".")
    near: dict[str, int] = {}
    for part in installed():
        target = part.target.partition(":")[0].split(".")
        alike = len([*takewhile(lambda pair: pair[0] == pair[1], zip(path, target, strict=False))])
        near[part.brought_by] = max(alike, near.get(part.brought_by, 0))
    nearest = max(near.values(), default=0)
    return " and ".join(package for package, alike in near.items() if alike == nearest) if nearest else ""


def _packages() -> Iterator[Distribution]:
    """Those with an entry point of ours; of one that lies on the path twice the first, which Python imports too."""
    from importlib.metadata import distribution, distributions  # 0.1 s that `import judgegraph` does not need

    seen = set()
    for package in distributions():
        if not _groups(package):
            continue
        name = normal(name_of(package))
        if name in seen and name != "?":
            continue
        seen.add(name)
        try:
            yield distribution(name)
        except Exception:  # no name by which it could be found again
            yield package


def _parts(package: Distribution) -> Iterator[Part]:
    name, version = name_of(package), _metadata(package, "Version")
    try:
        points = [point for point in package.entry_points if point.group in GROUPS]
    except Exception as error:
        why = f"its entry_points.txt cannot be read: {one_line(error) or type(error).__name__}"
        for group in _groups(package):
            yield Part(kind=GROUPS[group], name="?", package=name, version=version, fault=why)
        return
    for point in points:
        target = re.sub(r"\s*\[.*\]\s*$", "", point.value).replace(" ", "")  # "module:name [extra]"
        yield Part(
            kind=GROUPS[point.group], name=point.name, package=name, version=version, target=target,
            fault=name_fault(point.name) or ("" if TARGET.fullmatch(target) else "it does not say module:attribute"),
        )  # fmt: skip


def _groups(package: Distribution) -> list[str]:
    """Groups of ours that a package names, read from the file's text: it is looked at in every package there is."""
    try:
        text = package.read_text("entry_points.txt") or ""
    except Exception:
        return []
    return [group for group in GROUPS if "judgegraph." in text and re.search(rf"^\s*\[\s*{group}\s*\]", text, re.M)]


def name_fault(name: Any) -> str:
    """Why nothing can be called so, "" where it can."""
    if isinstance(name, str) and NAME.fullmatch(name):
        return ""
    return "a name is 1 to 64 letters, digits, '_' or '-'"


def name_of(package: Distribution) -> str:
    """The package's name, "?" where its metadata say none."""
    return _metadata(package, "Name") or "?"


def normal(package: str) -> str:
    """A package's name as indexes compare them: "My.Package" is "my-package"."""
    return re.sub(r"[-_.]+", "-", package).lower()


def _metadata(package: Distribution, key: str) -> str:
    try:
        return str(package.metadata[key] or "")
    except Exception:  # a missing or damaged METADATA file
        return ""
