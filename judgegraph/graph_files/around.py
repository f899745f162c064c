"""What stands around the nodes of a file while its graph is built: defaults, judges, and where things are found."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from judgegraph.calls import Endpoint, JudgeLike
from judgegraph.errors import ConfigError, CriteriaError, JudgegraphError, one_line
from judgegraph.graph_files.read import JudgeRef, JudgeSpec, Place, Source, hint, shaped
from judgegraph.graphs.settings import fault
from judgegraph.models.judges import KEY
from judgegraph.prompts.criteria import FILES, CriteriaSet, criteria_set
from judgegraph.registry.lookup import callable_of, module_at

MOST_FILES, MOST_MADE = 8, 200  # files within files; nodes in all of them together


@dataclass
class Count:
    """What a file and those within it share: the nodes made so far, and the folder that all code must lie in."""

    made: int = 0
    folder: Path = Path()


@dataclass
class Around:
    """Of one file, for one build.

    Attributes:
        judge, criteria: of nodes that have none of their own; None where the file says none.
        task: of the file itself, "" where it says none: then a set's own stands.
        judges: by the file's own names, None for what is none. critic: to take the place of the file's one critic.
        files: the file and those that it stands in, outermost first. modules: code beside it, which runs once.
    """

    source: Source
    judge: JudgeLike | None = None
    criteria: CriteriaSet | None = None
    task: str = ""
    judges: Mapping[str, JudgeLike | None] = field(default_factory=dict)
    critic: Any = None
    files: tuple[Path, ...] = ()
    count: Count = field(default_factory=Count)
    modules: dict[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where the file lies."""
        return self.source.file.path.parent

    def criteria_of(self, path: Place, given: Any) -> CriteriaSet | None:
        """A set that the file names at a place; a criteria file is found from the graph file's folder."""
        if isinstance(given, str) and given.lower().endswith(FILES):
            given = self.folder / given
        try:
            return self.tasked(criteria_set(given))
        except CriteriaError as error:
            self.source.fault(path, one_line(error, 1000))
        except OSError as error:
            self.source.fault(path, f"cannot be read: {error.strerror}")
        return None

    def tasked(self, chosen: CriteriaSet) -> CriteriaSet:
        """The set with the file's task, where it has one."""
        return chosen.model_copy(update={"task": self.task}) if self.task else chosen


# Python beside a graph file: `my_nodes.py:tidy`. Loading such a file runs its code, as importing a module does.


def is_code(text: str) -> bool:
    """Whether a text names Python code."""
    return text.rpartition(":")[0].endswith(".py")


def code_at(around: Around, path: Place, text: str) -> Any:
    """The class or function; None where there is none, which joins the faults.

    A graph file runs code only from its own folder and the folders in it, and so do those within it: wherever one lies,
    and wherever a link leads.
    """
    name, _, attribute = text.rpartition(":")
    inside = around.folder / name
    if Path(name).is_absolute() or ".." in Path(name).parts:
        around.source.fault(
            path, f"code lies beside the graph file or in a folder below it, not at {one_line(name, 80)}"
        )
        return None
    if not inside.resolve().is_relative_to(around.count.folder):
        around.source.fault(path, f"{one_line(name, 80)} leads out of the folder of the graph file that is run")
        return None
    try:
        if name not in around.modules:
            around.modules[name] = module_at(inside)
        return callable_of(around.modules[name], attribute, text)
    except JudgegraphError as error:
        around.source.fault(path, one_line(error, 500))
    except (Exception, SystemExit) as error:
        around.source.fault(path, f"{one_line(name, 80)} fails to import: {type(error).__name__}: {one_line(error)}")
    return None


# A judge as a file names it, made into what agents take; nothing is asked, and no key is looked at.


JUDGE: TypeAdapter[Any] = TypeAdapter(JudgeRef)
VARIABLE = re.compile(r"(?!sk[-_])[A-Za-z_][A-Za-z0-9_]*")  # of the environment; a key that stands in its place is none
ADDRESS = re.compile(r"https?://[^\s/?#]+\S*", re.IGNORECASE)


def is_model(text: str) -> bool:
    """Whether a text names a judge by itself: "embedded" or "PROVIDER:MODEL"."""
    return not fault(str | Endpoint, text)


def judge_of(source: Source, path: Place, given: Any, known: Mapping[str, JudgeLike | None]) -> JudgeLike | None:
    """The judge that stands at a place; None where it is none, which joins the faults.

    Args:
        known: judges by the file's own names, which come first.
    """
    spec = given if isinstance(given, JudgeSpec) else shaped(JUDGE, source, path, given, JudgeSpec)
    if isinstance(spec, JudgeSpec):
        return _endpoint(source, path, spec)
    if spec is None or spec in known:
        return known.get(spec or "")
    if is_model(spec):
        return str(spec)
    shown = one_line(spec, 60)
    said = hint(shown, known, "This file's judges")
    source.fault(path, f"no judge '{shown}'{said}; or write 'embedded', 'openai:MODEL' or 'PROVIDER:MODEL'")
    return None


def _endpoint(source: Source, path: Place, spec: JudgeSpec) -> Endpoint | None:
    if why := fault(str | Endpoint, spec.model):
        source.fault((*path, "model"), why)
        return None
    if spec.api_key_env is not None and not VARIABLE.fullmatch(spec.api_key_env):  # it may be a key: it is not repeated
        said = "expected the name of an environment variable, such as OPENAI_API_KEY; a key stands in no file"
        source.fault((*path, "api_key_env"), said)
        return None
    if spec.base_url is not None and not (ADDRESS.fullmatch(spec.base_url) and _host(spec.base_url)):
        source.fault((*path, "base_url"), "expected an address that begins with http:// or https://")
        return None
    given = {key: value for key, value in spec.model_dump().items() if value is not None}
    if why := _refused_key(spec):
        if spec.api_key_env is not None:
            source.fault((*path, "api_key_env"), why)
            return None
        given["api_key_env"] = ""  # the usual key is not the file's to send: it goes without one
    try:
        return Endpoint(**given)
    except ConfigError as error:
        source.fault(path, one_line(error))
        return None


def _refused_key(spec: JudgeSpec) -> str:
    """Why a file may not send a variable of the environment to the address it names; "" where it may.

    A file of somebody else's could name any variable beside an address of his own. So a key goes where the user says
    so outside of the file, in JUDGEGRAPH_KEYS; to this machine; and the provider's own variable to the provider.
    """
    variable, address = spec.api_key_env or KEY, spec.base_url or ""
    host = _host(address) if address else "api.openai.com"
    if not address and variable == KEY:
        return ""
    if address and _is_this_machine(address) and variable == KEY:
        return ""
    if (variable, host) in allowed_keys():
        return ""
    return (
        f"a file cannot send {variable} to {host} by itself; if you trust both, allow it: "
        f"JUDGEGRAPH_KEYS={variable}@{host}"
    )


def allowed_keys() -> frozenset[tuple[str, str]]:
    """(variable, host or host:port) pairs of JUDGEGRAPH_KEYS, such as "TEAM_KEY@gateway.example, OTHER@host:8000"."""
    pairs = (one.strip().partition("@") for one in os.environ.get("JUDGEGRAPH_KEYS", "").split(","))
    return frozenset(
        (variable.strip(), _host(host)) for variable, _, host in pairs if variable.strip() and host.strip()
    )


def _host(address: str) -> str:
    """Host and port of an address, or of a host that was written without a scheme; no port is the scheme's own.

    "" of what is no address, such as "http://[host".
    """
    try:
        parts = urlsplit(address if "://" in address else f"//{address.strip()}")
    except ValueError:
        return ""
    host = parts.netloc.rpartition("@")[2].casefold()
    return host.removesuffix(":443" if parts.scheme != "http" else ":80")


def _is_this_machine(address: str) -> bool:
    name = (urlsplit(address).hostname or "").casefold()
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
