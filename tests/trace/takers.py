"""Phoenix and Langfuse over loopback, as far as they take scores: held to what each documents, they keep what came.

Phoenix: POST /v1/span_annotations. Langfuse: POST /api/public/ingestion, a batch of "score-create" events.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from collector import ANSWERS, JSON, Collector, Taking, collecting
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr, ValidationError

SpanId = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
TraceId = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Named = Annotated[str, Field(min_length=1)]
Metadata = dict[str, Any]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Result(Strict):
    label: StrictStr | None = None
    score: StrictFloat | StrictInt | None = None
    explanation: StrictStr | None = None


class SpanAnnotation(Strict):
    span_id: SpanId
    name: Named
    annotator_kind: Literal["LLM", "CODE", "HUMAN"]
    result: Result | None = None
    metadata: Metadata | None = None
    identifier: str = ""


class Numeric(Strict):
    id: Named
    traceId: TraceId
    observationId: SpanId | None = None
    name: Named
    comment: StrictStr | None = None
    metadata: Metadata | None = None
    dataType: Literal["NUMERIC"]
    value: StrictFloat | StrictInt


class Categorical(Numeric):
    dataType: Literal["CATEGORICAL"]  # type: ignore[assignment]
    value: Named  # type: ignore[assignment]


class ScoreEvent(Strict):
    id: Annotated[str, Field(min_length=1, max_length=800)]
    type: Literal["score-create"]
    timestamp: AwareDatetime
    body: Annotated[Numeric | Categorical, Field(discriminator="dataType")]


class TakingScores(Taking):
    server: Taker

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        takes = {"/api/public/ingestion": self._langfuse, "/v1/span_annotations": self._phoenix}
        if path not in takes:
            super().do_POST()
            return
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.server.paths.append(self.path)
        if self.server.scores_do in ANSWERS:
            status, more, answer = ANSWERS[self.server.scores_do]
            self._say(status, more.get("Content-Type", ""), answer, more)
        elif self.server.scores_do.startswith("status="):
            self._say(int(self.server.scores_do.removeprefix("status=")), "text/plain", b"no")
        elif self.server.scores_do == "elsewhere":
            self._say(302, "text/plain", b"", {"Location": self.server.elsewhere})
        elif self.server.scores_do == "repeat":
            self._say(401, "text/plain", f"not with {self.headers['authorization']}".encode())
        else:
            assert self.headers["content-type"] == "application/json"
            takes[path](json.loads(body))

    def _phoenix(self, body: dict[str, Any]) -> None:
        assert set(body) == {"data"}
        rows = [SpanAnnotation.model_validate(one) for one in body["data"]]
        assert not [row for row in rows if row.name == "note"]
        known = {span.span_id.hex() for span in self.server.spans}
        if self.server.late or not {row.span_id for row in rows} <= known:
            self.server.late = max(0, self.server.late - 1)
            self._say(404, "text/plain", b"Spans with IDs ... do not exist.", PHOENIX)
            return
        taken = rows[: self.server.takes]
        self.server.kept |= {(row.name, row.span_id, row.identifier): row for row in taken}
        self._say(
            200, JSON["Content-Type"], json.dumps({"data": [{"id": "U3Bhbg=="} for _ in taken]}).encode(), PHOENIX
        )

    def _langfuse(self, body: dict[str, Any]) -> None:
        assert set(body) == {"batch"}
        taken: list[dict[str, Any]] = []
        errors: list[dict[str, Any]] = []
        for number, one in enumerate(body["batch"]):
            try:
                event = ScoreEvent.model_validate(one)
            except ValidationError as error:
                errors.append(
                    {"id": one.get("id"), "status": 400, "message": "Invalid request data", "error": str(error)}
                )
                continue
            if number >= self.server.takes:
                errors.append({"id": event.id, "status": 400, "message": "too \x1b[31mmany", "error": "of them"})
                continue
            about = event.body
            self.server.kept[about.id, about.name, event.timestamp.date()] = event  # what its database knows one by
            taken.append({"id": event.id, "status": 201})
        self._say(207, JSON["Content-Type"], json.dumps({"successes": taken, "errors": errors}).encode())


PHOENIX = {"x-phoenix-server-version": "20.26.1"}


class Taker(Collector):
    """Attributes: scores_do: what a request for scores is answered. late: how often Phoenix has no spans yet. takes:
    how many of a request are taken. kept: by what the tool knows them.
    """

    handler = TakingScores

    def __init__(self) -> None:
        super().__init__()
        self.scores_do, self.late, self.takes, self.elsewhere = "ok", 0, 1_000_000, ""
        self.kept: dict[Any, Any] = {}


@contextmanager
def taking() -> Iterator[Taker]:
    with collecting(Taker()) as server:
        assert isinstance(server, Taker)
        yield server
