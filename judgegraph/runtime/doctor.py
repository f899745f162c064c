"""What an endpoint really does, measured by a few small calls; runs use what was found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from judgegraph.errors import ConfigError, one_line
from judgegraph.models.findings import adopt, keep
from judgegraph.models.resolve import Judge, JudgeLike, Support, resolve, supported
from judgegraph.models.secrets import scrubbed
from judgegraph.runtime import form_probes, probes, tool_probe, wire_probes
from judgegraph.runtime.probe import TRIES, Bench, Probe

TIMEOUT = 30.0  # seconds for one request
SHOWN = 120  # characters of what an endpoint said
ALL: tuple[Callable[[Bench], Awaitable[Probe]], ...] = (
    probes.text, probes.usage, probes.max_tokens, form_probes.json_schema, form_probes.strict_values,
    form_probes.max_length, form_probes.logprobs, probes.several, tool_probe.tools, probes.settings, probes.repeatable,
    wire_probes.errors, wire_probes.authentication,
)  # fmt: skip


@dataclass(frozen=True)
class Diagnosis:
    """What was found.

    Attributes:
        judge: its name. address: "" for the provider's own. support: what runs use of it.
        requests: sent, retries included. prompt_tokens, completion_tokens: as told in the replies.
        usd: what they cost, None where the price is not known. latency: median seconds of a call, None where none was
            answered.
        saved: the file it was kept in; None where it was not, and `unsaved` says why.
    """

    judge: str
    address: str
    probes: tuple[Probe, ...]
    support: Support
    requests: int
    replies: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    latency: float | None
    saved: Path | None = None
    unsaved: str = ""

    @property
    def deviations(self) -> tuple[Probe, ...]:
        """The probes that found something else than OpenAI's API says."""
        return tuple(probe for probe in self.probes if probe.ok is False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        support = {k: sorted(v) if isinstance(v, set) else v for k, v in asdict(self.support).items()}
        support.pop("presumed")
        saved = str(self.saved) if self.saved else None
        return {**asdict(self), "support": support, "saved": saved}


async def examine(judge: JudgeLike, *, timeout: float = TIMEOUT, save: bool = True) -> Diagnosis:
    """Try out what a run may ask of a judge, one thing after another; about twenty small requests.

    Args:
        timeout: seconds for one request. save: keep what was found of an endpoint, for runs of the next 30 days.

    Raises:
        ConfigError: the judge cannot be made, or does not answer a plain question.
        AuthError: the endpoint refuses our key.
    """
    known = resolve(judge)
    base = supported(known.model)
    brief = replace(known.endpoint, timeout=timeout, attempts=TRIES, patience=0)
    bench = Bench(replace(known, endpoint=brief, support=base), base, replace(base, refused=set()))
    found = tuple([_clean(await probe(bench), known.secrets) for probe in ALL])
    adopt(known.support, bench.found)
    saved, unsaved = _kept(known, bench.found, found) if save else (None, "as asked")
    run = bench.run
    return Diagnosis(
        judge=known.name, address=known.endpoint.address, probes=found, support=bench.found,
        requests=run.requests + bench.raw, replies=run.replies,
        prompt_tokens=run.prompt_tokens, completion_tokens=run.completion_tokens,
        usd=None if run.purse.spent.unpriced else run.purse.spent.usd,
        latency=median(bench.seconds) if bench.seconds else None, saved=saved, unsaved=unsaved,
    )  # fmt: skip


def _clean(probe: Probe, secrets: tuple[str, ...]) -> Probe:
    """An endpoint may repeat our key in what it says."""
    return replace(probe, found=one_line(scrubbed(probe.found, secrets), SHOWN))


def _kept(judge: Judge, found: Support, tried: tuple[Probe, ...]) -> tuple[Path | None, str]:
    """The file it was written to, or why it was not."""
    if judge.endpoint.model == "embedded" or judge.given:
        return None, "there is no address to remember it by"
    try:
        return keep(judge.endpoint, found, tuple(f"{p.name}: {p.deviation}" for p in tried if p.ok is False)), ""
    except ConfigError as error:
        return None, str(error)
