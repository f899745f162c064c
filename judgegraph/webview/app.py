"""The web app: pages of runs, of their samples and of one sample, made on the server; what is judged stays inert."""

from __future__ import annotations

import os
import secrets
import shlex
import sqlite3
import threading
import time
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b, sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args
from urllib.parse import parse_qsl, unquote, urlencode

from jinja2 import ChoiceLoader, Environment, PackageLoader
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from judgegraph import __version__
from judgegraph.agents.person import decided
from judgegraph.answers import answers_of
from judgegraph.errors import ConfigError, CriteriaError, DataError, ScaleError, counted, one_line, status_text
from judgegraph.prompts.criteria import CriteriaSet, as_yaml
from judgegraph.report.graph import sample_graph
from judgegraph.report.page import css, environment, page_of
from judgegraph.runs.labels import LOOKED_AT, LabelledRun, Labels, OwnScale, of_another_scale
from judgegraph.runs.run import OVERALL, Run, incomplete_run
from judgegraph.runs.suggestions import Suggestions, next_version
from judgegraph.types import Scale, Status, text_of
from judgegraph.views.blocks import Cut, Picture, Texts, cut, in_line, number_text, signed
from judgegraph.views.critic import conclusion
from judgegraph.views.trace import EVERYTHING, view_of
from judgegraph.webview.index import BESIDE, ORDERS, PAGE, UNANSWERED, Listed, Pause, Query, SampleIndex, bound

LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "judgegraph-view"
MOST_FORM = 100_000  # bytes of a form
EVERY = 2.0  # seconds between looks at a run that goes on
COLUMNS, CHOICES = 8, 200  # criteria in the table; to choose from
MOST_META, MOST_OUTCOMES = 40, 200  # keys of a sample's meta that are shown; outcomes of forms that wait to be shown
TEXTS = ("query", "output", "rival", "reference", "source")  # what is judged stands before what it was made from
WINS = Scale.of(["A", "B", "tie"])  # what a person says of a pair
ENDINGS: tuple[str, ...] = get_args(Status)
ORDER_NAMES = {
    "data": "order of the data", "least": "least score first", "best": "greatest score first",
    "moved": "most moved from a draft", "doubt": "most uncertain", "time": "longest", "failed": "most failures",
    "id": "id",
}  # fmt: skip
BESIDE_NAMES = {"apart": "furthest apart", "rose": "greatest gain first", "fell": "greatest loss first"}
POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
HEADERS = {
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
}  # fmt: skip


# What critics suggest, decided on in a browser: topics that were accepted make a new version of the run's criteria.


MOST_TOPICS = 60  # topics of a form
LONGEST_DEFINITION = 4_000  # characters of a definition
DECISIONS = ("", "accept", "reject")


@dataclass
class Topics:
    """The topics of a run, worked out again where samples have come."""

    _found: Suggestions | None = None
    _samples: int = -1
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def of(self, run: Run, samples: int) -> Suggestions:
        """Of a run with so many samples by now."""
        with self._lock:
            if self._found is None or samples != self._samples:
                self._found, self._samples = run.suggestions(), samples
            return self._found


def state_of_topics(found: Suggestions) -> str:
    """What a form was made of, so that no answer is taken for another topic's."""
    said = "\0".join(f"{one.kind}\0{one.of}\0{one.label}\0{one.definition}" for one in found.topics[:MOST_TOPICS])
    return blake2b(said.encode("utf-8", "replace"), digest_size=12).hexdigest()


def decisions_of(found: Suggestions, given: Mapping[str, str]) -> dict[int, Any]:
    """Place of a topic -> "accept", "reject" or the definition as it was edited; those left for later are not in it.

    Raises:
        DataError: a choice is none of these, or a definition is too long.
    """
    said: dict[int, Any] = {}
    for at, topic in enumerate(found.topics[:MOST_TOPICS]):
        choice = given.get(f"choice:{at}", "")
        if choice not in DECISIONS:
            raise DataError(f"{one_line(topic.label, 60)}: {choice[:20]!r} is neither accept nor reject")
        text = " ".join(given.get(f"definition:{at}", topic.definition).split())
        if len(text) > LONGEST_DEFINITION:
            raise DataError(f"{one_line(topic.label, 60)}: a definition has at most {LONGEST_DEFINITION:,} characters")
        if choice:
            edited = choice == "accept" and text != " ".join(topic.definition.split())
            said[at] = {"definition": text} if edited else choice
    return said


def with_accepted(before: CriteriaSet, found: Suggestions, said: Mapping[int, Any], name: str, run: str) -> CriteriaSet:
    """The next version of a set, with what was accepted; the set itself where nothing was.

    Raises:
        DataError: an edited definition makes no criterion, or two criteria have one name.
    """
    chosen = [found.topics[at].as_suggestion() for at in said]
    try:
        now, _ = decided(before.criteria, chosen, [*said.values()])
        return next_version(before, now, name, run)
    except CriteriaError as error:
        raise DataError(str(error)) from None


def write_next_version(criteria: CriteriaSet, folder: Path, name: str) -> Path:
    """Writes the set into a run's folder, under a name that nothing has yet; gives the file.

    Raises:
        ConfigError: it cannot be written.
    """
    for number in range(1, 1_000):
        path = folder / f"{name}.criteria{f'-{number}' if number > 1 else ''}.yaml"
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)  # as all files of a run
        except FileExistsError:
            continue
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror or error}") from None
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(as_yaml(criteria))
        return path
    raise ConfigError(f"{folder}: too many files {name}.criteria*.yaml")


# The pages and what they are made of.


@dataclass
class Looked:
    """A run that is looked at: its index, and the labels that are given to its samples. title: as pages call it."""

    name: str
    index: SampleIndex
    labels: Labels
    title: str = ""
    topics: Topics = field(default_factory=Topics)
    _own: tuple[int, dict[str, OwnScale]] = field(default=(-1, {}), repr=False)  # at so many samples

    @property
    def finished(self) -> int:
        """Samples that came to an end, those that a budget refused left out."""
        return self.index.read - self.index.statuses()["over_budget"]

    @property
    def run(self) -> Run:
        """The run as its folder tells it now: it may go on."""
        return Run.load(self.index.path)

    @property
    def own_scales(self) -> dict[str, OwnScale]:
        """Criteria that people judged on a scale of their own, on which they are marked too; a run may go on."""
        if self._own[0] != (read := min(self.index.read, LOOKED_AT)):
            self._own = (read, of_another_scale(self.run.items))
        return self._own[1]

    @property
    def marked(self) -> Run:
        """The same with the judgements that were given to its samples."""
        run = self.run
        try:
            return LabelledRun.of(run, self.labels) if self.labels.given else run
        except DataError:  # a file for several runs may hold none of this one
            return run


def _looked(path: Path, labels: Labels | None, pause: Pause) -> Looked:
    name = path.resolve().name
    index = SampleIndex(Run.load(path), pause)
    return Looked(name, index, labels or Labels.load(path.parent / f"{name}.labels.jsonl"), name)


class View:
    """The app over some runs.

    Args:
        runs: their folders. labels: where judgements go, None for a file beside each run, `RUN.labels.jsonl`.
        token: what a browser must know where the app listens to more than this machine; "" where it does not.
        hosts: names under which it is asked for.

    Raises:
        DataError: a folder is no run.
    """

    def __init__(
        self, runs: Sequence[str | Path], *, labels: str | Path | None = None, token: str = "",
        hosts: Sequence[str] = LOOPBACK,
    ) -> None:  # fmt: skip
        self.token, self.hosts, self.secret = token, tuple(hosts), secrets.token_urlsafe(24)
        common = Labels.load(labels) if labels is not None else None
        self.pause = Pause()
        self.runs = [_looked(Path(run), common, self.pause) for run in runs]
        for one in self.runs:  # of two folders of one name the parent tells which
            if sum(other.name == one.name for other in self.runs) > 1:
                one.title = f"{one.index.path.resolve().parent.name}/{one.name}"
        self._outcomes: dict[str, dict[str, Any]] = {}  # of forms, by a ticket: each is shown once
        self.ended = threading.Event()
        self._readers = [threading.Thread(target=self._read, args=(one,), daemon=True) for one in self.runs]
        routes = [
            Route("/", self._runs), Route("/style.css", self._style), Route("/runs/{run:int}", self._samples),
            Route("/runs/{run:int}/sample", self._sample), Route("/runs/{run:int}/report", self._report),
            Route("/runs/{run:int}/label", self._label, methods=["POST"]),
            Route("/runs/{run:int}/suggestions", self._suggestions),
            Route("/runs/{run:int}/suggestions", self._decide, methods=["POST"]),
        ]  # fmt: skip
        self.app = Starlette(routes=routes, exception_handlers={DataError: _not_there, ConfigError: _cannot})
        self.guarded = _Guard(self)

    def start(self) -> None:
        """Begin to read the runs."""
        for reader in self._readers:
            reader.start()

    def close(self) -> None:
        """End all reading, and remove what was written to look things up."""
        self.ended.set()
        for one in self.runs:
            one.index.close()

    def _read(self, one: Looked) -> None:
        while not self.ended.is_set():
            try:
                if not one.index.done or one.index.changed():
                    one.index.fill()
                one.index.failed = ""
            except (OSError, sqlite3.Error, DataError) as error:
                one.index.failed = one_line(error, 200)
            self.ended.wait(EVERY)

    def wait(self, seconds: float = 60.0) -> None:
        """Until all that there is has been read."""
        end = time.monotonic() + seconds
        for one in self.runs:
            one.index.filled.wait(max(0.0, end - time.monotonic()))

    def _at(self, request: Request) -> tuple[int, Looked]:
        place = int(request.path_params["run"])
        if place >= len(self.runs):
            raise DataError("no such run")
        return place, self.runs[place]

    def _runs(self, request: Request) -> Response:
        if len(self.runs) == 1:
            return RedirectResponse("/runs/0", 303)
        rows = []
        for place, one in enumerate(self.runs):
            run = one.run
            rows.append((place, one, run.manifest, incomplete_run(run, one.finished)))
        return self._page("runs.html", title="Runs", rows=rows)

    def _samples(self, request: Request) -> Response:
        place, one = self._at(request)
        query, wrong = query_of(request.query_params)
        other = self._other_run(place, query)
        listed, known, run = self._listed(one, query, other), one.index.criteria(), one.run
        if other is not None:
            theirs = other.index.criteria()
            known = [name for name in known if name in theirs]
        columns = [query.criterion] if query.criterion else known[:COLUMNS]
        if query.criterion and query.criterion not in known:
            by = "by" if other is None else "in both runs by"
            wrong.append(f"no sample was judged {by} {query.criterion!r}")
        running = run.manifest.get("state") == "running" or not one.index.done
        return self._page(
            "samples.html", title=one.title, place=place, one=one, query=query, listed=listed, known=known[:CHOICES],
            criteria=len(known), columns=columns, statuses=one.index.statuses(),
            orders=ORDER_NAMES if other is None else BESIDE_NAMES | ORDER_NAMES, other=other,
            shares=other is None or _shares(one, other, query.criterion),
            pages=max(1, -(-listed.total // PAGE)), link=link_of(place, query), state=incomplete_run(run, one.finished),
            refresh=running, manifest=run.manifest, others=self._others(place), wrong="; ".join(wrong),
            endings=ENDINGS, in_words=status_text, amount=number_text, gap=signed,
        )  # fmt: skip

    def _other_run(self, place: int, query: Query) -> Looked | None:
        """The other run that a query names, if it names one."""
        at = query.beside
        return self.runs[at] if at is not None and at < len(self.runs) and at != place else None

    def _listed(self, one: Looked, query: Query, other: Looked | None) -> Listed:
        if other is None:
            return one.index.listed(query)
        return one.index.compared(query, other.index, _shares(one, other, query.criterion))

    def _others(self, place: int) -> list[tuple[int, str]]:
        return [(at, one.title) for at, one in enumerate(self.runs) if at != place]

    def _sample(self, request: Request) -> Response:
        place, one = self._at(request)
        query, id = query_of(request.query_params)[0], request.query_params.get("id", "")
        other = self._other_run(place, query)
        before, behind = one.index.neighbours(query, id, lambda asked: self._listed(one, asked, other))
        shown = [_Shown.of(place, one, id)]
        if other is not None:
            shown.append(_Shown.of(query.beside or 0, other, id))
        return self._page(
            "one.html", title=id, place=place, one=one, id=id, shown=shown, before=before, behind=behind,
            link=link_of(place, query), back=urlencode(link_pairs(query)), others=self._others(place),
            beside=other is not None, secret=self.secret,
            **self._outcomes.pop(request.query_params.get("outcome", ""), {"marked": None, "wrong": "", "typed": {}}),
            status=404 if shown[0].view is None else 200,
            hint=shlex.join(["judgegraph", "meta", str(one.index.path), "--labels", str(one.labels.path)]),
        )  # fmt: skip

    async def _form(self, request: Request, most: int = MOST_FORM) -> dict[str, str] | Response:
        """What a form of ours holds, or why it is refused."""
        body = await request.body()
        if len(body) > most:
            return PlainTextResponse("the form is too large", 413)
        given = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        if not secrets.compare_digest(given.get("secret", ""), self.secret):
            return PlainTextResponse("this form was not made by this page", 403)
        return given

    def _suggestions(self, request: Request) -> Response:
        """The topics of what critics suggest, each to be accepted, edited or rejected."""
        place, one = self._at(request)
        run = one.run
        found = one.topics.of(run, one.index.read)
        told = self._outcomes.pop(request.query_params.get("outcome", ""), {"saved": "", "wrong": "", "typed": {}})
        manifest, path = run.manifest, told.get("path", "")
        data = str((manifest.get("data") or {}).get("file") or "DATA")
        hint = shlex.join(["judgegraph", "run", str(manifest.get("method") or "METHOD"), data, "--criteria", path])
        return self._page(
            "suggestions.html", title=f"Suggestions: {one.title}", place=place, one=one, found=found, most=MOST_TOPICS,
            longest=LONGEST_DEFINITION, state=state_of_topics(found), secret=self.secret, before=run.criteria,
            conclusion=conclusion(found), saved=told["saved"], wrong=told["wrong"], typed=told["typed"],
            hint=hint if path else "",
        )  # fmt: skip

    async def _decide(self, request: Request) -> Response:
        place, one = self._at(request)
        given = await self._form(request, MOST_FORM + 4 * MOST_TOPICS * LONGEST_DEFINITION)
        if isinstance(given, Response):
            return given
        outcome = await run_in_threadpool(self._decided, one, given)
        return RedirectResponse(f"/runs/{place}/suggestions?outcome={self._ticket(outcome)}", 303)

    def _decided(self, one: Looked, given: Mapping[str, str]) -> dict[str, Any]:
        """Writes the criteria with what was accepted; what is to be said of it."""
        run = one.run
        found, before = one.topics.of(run, one.index.read), run.criteria
        typed = {name: said for name, said in given.items() if name.startswith(("choice:", "definition:"))}
        try:
            if before is None or given.get("state") != state_of_topics(found):
                raise DataError("the suggestions are others by now, as the run went on: decide once more")
            said = decisions_of(found, given)
            made = with_accepted(before, found, said, f"{one.name}-next", run.signature)
            if made == before:
                return {"saved": "Nothing was accepted: the criteria are as they were.", "wrong": "", "typed": typed}
            path = write_next_version(made, one.index.path.parent, one.name)
        except (DataError, ConfigError) as error:
            return {"saved": "", "wrong": one_line(error, 300), "typed": typed}
        which = f"version {made.version}, {counted(len(made.criteria), 'criterion', 'criteria')}, digest {made.digest}"
        return {"saved": f"Written to {path}: {which}.", "wrong": "", "typed": {}, "path": str(path)}

    def _ticket(self, outcome: dict[str, Any]) -> str:
        """A ticket for what is to be said once, on the page that follows a form."""
        ticket = secrets.token_urlsafe(8)
        self._outcomes[ticket] = outcome
        while len(self._outcomes) > MOST_OUTCOMES:
            self._outcomes.pop(next(iter(self._outcomes)))
        return ticket

    async def _label(self, request: Request) -> Response:
        place, one = self._at(request)
        given = await self._form(request)
        if isinstance(given, Response):
            return given
        id = unquote(given.get("id", ""))  # a form sends a line's end as two signs
        shown = _Shown.of(place, one, id)
        if shown.view is None:
            raise DataError(shown.missing)
        found, wrong = judgements(given, shown.scales())
        before = one.labels.given.get(id, {})
        human = {criterion: value for criterion, value in found.items() if value != before.get(criterion)}
        if human:
            one.labels.add(id, human)
        typed = {name.removeprefix("score:"): said for name, said in given.items() if name.startswith("score:")}
        ticket = self._ticket({"marked": len(human), "wrong": wrong, "typed": typed if wrong else {}})
        pairs = [("id", id), *parse_qsl(given.get("back", "")), ("outcome", ticket)]
        return RedirectResponse(f"/runs/{place}/sample?{urlencode(pairs)}#labels", 303)

    def _report(self, request: Request) -> Response:
        _, one = self._at(request)
        page, _ = page_of(one.marked, most=10, redact=False)
        digest = b64encode(sha256(css().encode()).digest()).decode()
        return HTMLResponse(
            page, headers={"Content-Security-Policy": POLICY.replace("'self'", f"'sha256-{digest}'", 1)}
        )

    def _style(self, request: Request) -> Response:
        return Response(style(), media_type="text/css")

    def _page(self, template: str, status: int = 200, **about: Any) -> Response:
        about = {"version": __version__, "several": len(self.runs) > 1, "refresh": False, **about}
        return HTMLResponse(templates().get_template(template).render(**about), status)


@dataclass(frozen=True)
class _Shown:
    """A sample as one run has it; `missing` says why there is none."""

    place: int
    one: Looked
    view: Any = None
    item: Any = None
    missing: str = ""
    way: Picture | None = None  # through the graph

    @classmethod
    def of(cls, place: int, one: Looked, id: str) -> _Shown:
        """A sample by its id."""
        try:
            item = one.index.item(id)
        except (DataError, OSError) as error:
            return cls(place, one, missing=str(error))
        trace = one.index.trace(item)
        view = view_of(item, EVERYTHING, str(one.index.path), trace=trace)
        way = sample_graph(one.run.manifest, trace.journey, f"way{place}") if trace.journey is not None else None
        return cls(place, one, view, item, way=way)

    def scales(self) -> dict[str, Scale | None]:
        """Criterion -> its scale, of those that a person may mark."""
        if self.item is None:
            return {}
        if self.item.sample.rival is not None and (self.item.comparisons or self.item.verdict):
            return dict.fromkeys([*(one.criterion for one in self.item.comparisons), OVERALL], WINS)
        own = self.one.own_scales
        return {s.criterion: None if s.criterion in own else s.scale for s in answers_of(self.item)}

    @property
    def fields(self) -> list[dict[str, Any]]:
        """What a person may mark: criterion, what was given, and what is allowed."""
        given = self.one.labels.given.get(self.item.id, {}) if self.item is not None else {}
        own = {name: f"people's, {one.low:g} to {one.high:g}" for name, one in self.one.own_scales.items()}
        return [
            {"criterion": criterion, "scale": own.get(criterion) or str(scale or ""), "given": given.get(criterion, ""),
             "labels": scale.labels if scale else ()}
            for criterion, scale in self.scales().items()
        ]  # fmt: skip

    @property
    def about(self) -> list[tuple[str, str]]:
        """What else the data's row held: system, language and the like."""
        meta = self.item.sample.meta if self.item is not None else {}
        return [(in_line(str(name), 60), in_line(text_of(value), 300)) for name, value in [*meta.items()][:MOST_META]]

    def texts(self, beside: _Shown | None = None) -> Texts:
        """What was judged; an empty output stands there as such. Beside another run's, what is not the same alone."""
        if self.item is None:
            return Texts(())
        other = beside.item.sample if beside is not None and beside.item is not None else None
        found: list[tuple[str, tuple[Cut, ...]]] = []
        turns = self.view.turns if self.view is not None else ()
        for name in TEXTS:
            value = getattr(self.item.sample, name)
            if value is None or (value == "" and name not in ("output", "rival")):
                continue
            if other is None or getattr(other, name) != value:
                found.append((name, (cut(text_of(value), EVERYTHING.text),)))
        apart = other.shown_evidence() if other is not None else {}
        for name, text in self.item.sample.shown_evidence().items():
            if apart.get(name) != text:
                parts = turns if name == "turns" and turns else (cut(text, EVERYTHING.text),)
                found.append((name, parts))
        return Texts(tuple(found))


def judgements(
    given: Mapping[str, str], scales: Mapping[str, Scale | None]
) -> tuple[dict[str, float | str | None], str]:
    """(criterion -> value, what was wrong) of a form; an empty field takes back what was given."""
    found: dict[str, float | str | None] = {}
    wrong: list[str] = []
    for criterion, scale in scales.items():
        said = given.get(f"score:{criterion}")
        if said is None:
            continue
        if not said.strip():
            found[criterion] = None
        elif scale is not None and scale.labels:
            if said in scale.labels:
                found[criterion] = said
            else:
                wrong.append(f"{criterion}: {said!r} is none of {', '.join(scale.labels)}")
        else:
            try:
                found[criterion] = _number(said, scale)
            except ScaleError:
                wrong.append(f"{criterion}: {said!r} is no number on {scale}, such as {_example(scale)}")
    return found, "; ".join(wrong)[:500]


def _example(scale: Scale | None) -> str:
    return "3.5" if scale is None or scale.low is None or scale.high is None else f"{(scale.low + scale.high) / 2:g}"


def _number(said: str, scale: Scale | None) -> float:
    value = bound(said)
    if value is None:
        raise ScaleError(said)
    return value if scale is None else scale.check(value)


def _shares(one: Looked, other: Looked, criterion: str) -> bool:
    """Whether two runs' scores are told apart as shares of the scale: a mean, or a criterion of two scales, is."""
    scales = [
        [c.get("scale") for c in each.run.manifest.get("criteria") or () if c.get("name") == criterion]
        for each in (one, other)
    ]
    return not criterion or scales[0] != scales[1]


def query_of(given: Mapping[str, str]) -> tuple[Query, list[str]]:
    """What an address asks for, and what of it makes no sense and is left out."""
    page = given.get("page", "")
    order, at = given.get("order", "data"), given.get("beside", "")
    beside = int(at) if at.isdecimal() and len(at) < 8 else None
    wrong = [
        f"{name} {given[key].strip()!r} is no number: not applied"
        for key, name in (("low", "from"), ("high", "to"))
        if given.get(key, "").strip() and bound(given[key]) is None
    ]
    orders = ORDERS if beside is None else ORDERS | BESIDE
    wrong += [f"there is no order {order!r}: that of the data"] if order not in orders else []
    if (status := given.get("status", "")[:40]) not in ("", UNANSWERED, *ENDINGS):
        wrong.append(f"there is no status {status!r}")
    asked = Query(
        given.get("q", "")[:500], status, given.get("criterion", "")[:500],
        bound(given.get("low", "")), bound(given.get("high", "")), order if order in orders else "data",
        max(1, int(page)) if page.isdecimal() and len(page) < 8 else 1, beside,
    )  # fmt: skip
    return asked, wrong


def link_pairs(query: Query) -> list[tuple[str, str]]:
    """A query as parts of an address."""
    pairs = [("q", query.text), ("status", query.status), ("criterion", query.criterion)]
    pairs += [(name, f"{end:g}") for name, end in (("low", query.low), ("high", query.high)) if end is not None]
    pairs += [("order", query.order)] if query.order != "data" else []
    pairs += [("beside", str(query.beside))] if query.beside is not None else []
    pairs += [("page", str(query.page))] if query.page > 1 else []
    return [(name, value) for name, value in pairs if value]


def link_of(place: int, query: Query) -> Callable[..., str]:
    """Addresses in a run that keep what is asked for: of the table, or of a sample where an id is given."""

    def link(id: str | None = None, **changed: Any) -> str:
        asked = replace(query, **changed)
        if asked.beside is None and asked.order in BESIDE:
            asked = replace(asked, order="data")
        pairs = link_pairs(asked)
        if id is None:
            return f"/runs/{place}?{urlencode(pairs)}"
        return f"/runs/{place}/sample?{urlencode([('id', id), *pairs])}"

    return link


@cache
def templates() -> Environment:
    """Those of the view, and those of a report's samples; autoescape is on, and an unknown name is an error."""
    own = PackageLoader("judgegraph.webview", "pages")
    return environment().overlay(loader=ChoiceLoader([own, PackageLoader("judgegraph.report", "page")]))


@cache
def style() -> str:
    """The style of a report, and the view's own."""
    return css() + files("judgegraph.webview").joinpath("pages/view.css").read_text(encoding="utf-8")


def _not_there(request: Request, error: Exception) -> Response:
    return PlainTextResponse(str(error), 404)


def _cannot(request: Request, error: Exception) -> Response:
    return PlainTextResponse(str(error), 500)


class _Guard:
    """In front of the app: who may ask, under which name, and what every answer says of itself."""

    def __init__(self, view: View) -> None:
        self._view = view

    async def __call__(self, scope: Any, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        if scope["type"] != "http":
            await self._view.app(scope, receive, send)
            return
        request = Request(scope, receive)
        refused = self._refused(request)
        answer: Any = refused if refused is not None else self._view.app

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _with_headers(message["headers"])
            await send(message)

        with self._view.pause.page():
            await answer(scope, receive, with_headers)

    def _refused(self, request: Request) -> Response | None:
        """Why a request is not answered: a page of another site cannot ask under our name, nor without the token."""
        host = request.headers.get("host", "")
        name = host.rpartition(":")[0].strip("[]") if not host.endswith("]") and ":" in host else host.strip("[]")
        if not self._view.token and name not in self._view.hosts:
            return PlainTextResponse("asked for under a name that is not this machine's", 421)
        origin = request.headers.get("origin")
        if request.method not in ("GET", "HEAD") and origin not in (None, f"http://{host}"):
            return PlainTextResponse("this form was sent by another page", 403)
        if not self._view.token:
            return None
        if secrets.compare_digest(request.query_params.get("token", "").encode(), self._view.token.encode()):
            found = RedirectResponse(request.url.path, 303)
            found.set_cookie(COOKIE, self._view.token, httponly=True, samesite="strict")
            return found
        known = request.cookies.get(COOKIE, "")
        if secrets.compare_digest(known.encode(), self._view.token.encode()):
            return None
        return PlainTextResponse("open the address with its token, as the command printed it", 401)


def _with_headers(given: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    held = {name.lower() for name, _ in given}
    more = {"Content-Security-Policy": POLICY, **HEADERS}
    own = [(name.lower().encode(), value.encode()) for name, value in more.items()]
    return [*given, *(pair for pair in own if pair[0] not in held)]
