"""What a name stands for: a method, agent, critic or assistant.

It hides where a part lies: ours, a plug-in's, a file's.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from judgegraph import __version__
from judgegraph.errors import ConfigError, JudgegraphError, handing_on, meant_of, one_line
from judgegraph.registry.shipped import (
    KINDS,
    SHIPPED,
    VARIANTS,
    Kind,
    Part,
    Variant,
    installed,
    is_state,
    name_fault,
    normal,
    raised,
    usable,
)

PACKAGE = __name__.partition(".")[0]

# Decorators that make a class or a function known by a name in this process.


T = TypeVar("T")

REGISTERED: dict[tuple[Kind, str], dict[str, Part]] = {}  # (kind, name) -> target -> part


def register(kind: Kind, name: str) -> Callable[[T], T]:
    """A decorator that makes a class, function or object known by a name, and returns it as it is.

    The same class or function again (a module that is reloaded, a cell that is run twice) takes the place of the
    former. One of another module beside it is no error before the name is asked for.

    Raises:
        ConfigError: a name with other characters than letters, digits, "_" and "-", or nothing that can be called.
    """
    if fault := name_fault(name):
        if usable(name):  # the decorator without its brackets
            raise ConfigError(f"@{kind} takes the name: write @jg.{kind}('some-name')")
        raise ConfigError(f"{kind} {one_line(repr(name), 80)}: {fault}")

    def keep(thing: T) -> T:
        if not usable(thing):
            raise ConfigError(f"{kind} '{name}': an object of type {type(thing).__name__} cannot be called")
        frame = inspect.currentframe()
        caller = frame.f_back.f_globals.get("__name__", "?") if frame and frame.f_back else "?"
        target = target_of(thing, caller)
        module = target.partition(":")[0]
        known = REGISTERED.setdefault((kind, name), {})
        if module == "__main__":  # a notebook, where a class that was renamed leaves its old self behind
            for old in [old for old in known if old.startswith("__main__:")]:
                del known[old]
        known[target] = Part(kind=kind, name=name, package=module.partition(".")[0], target=target, thing=thing)
        return thing

    return keep


@handing_on(kinds=())
def method(name: str) -> Callable[[T], T]:
    """Makes a factory of graphs known as a method: `@jg.method("mine")`, then METHOD is `mine`."""
    return register("method", name)


@handing_on(kinds=())
def agent(name: str) -> Callable[[T], T]:
    """Makes an agent's class, or a function that builds an agent, known by a name, for graphs that take one by name.

    A function whose first argument is called `state`, or is annotated with a TypedDict, is an agent itself.
    """
    return register("agent", name)


@handing_on(kinds=())
def critic(name: str) -> Callable[[T], T]:
    """As `agent`, for one that reads scores and writes rectifications: `sageval(critic="mine")`."""
    return register("critic", name)


@handing_on(kinds=())
def assistant(name: str) -> Callable[[T], T]:
    """Makes an assistant evaluator known by a name: an object, a class or a function that makes one.

    A function of one sample that gives a number is an assistant itself; its docstring says what it measures.
    """
    return register("assistant", name)


def target_of(thing: Any, caller: str) -> str:
    """ "module:qualified.name" of a class or function; of an object the module that registers it, and its class."""
    if inspect.isclass(thing) or inspect.isroutine(thing):
        return f"{thing.__module__}:{thing.__qualname__}"
    return f"{caller}:{type(thing).__qualname__}"


# Parts by kind and name: what this package brings, what others bring, and what was registered in this process.


def names(kind: Kind) -> tuple[str, ...]:
    """Known names of a kind, ours first, methods' before variants'; none is imported for it."""
    theirs = (part.name for part in installed() if part.kind == kind and not part.fault)
    here = (name for k, name in REGISTERED if k == kind)
    return tuple(dict.fromkeys((*SHIPPED[kind], *_variants(kind), *theirs, *here)))


def parts(kind: Kind) -> tuple[Part, ...]:
    """Every part of a kind, those that share a name and those that cannot be used among them; none is imported."""
    faulty = [part for part in installed() if part.kind == kind and part.fault]
    return (*(part for name in names(kind) for part in candidates(kind, name)), *faulty)


def candidates(kind: Kind, name: str) -> tuple[Part, ...]:
    """The parts that share a name; an entry point and the decorator on what it names are one."""
    found = [part for part in installed() if (part.kind, part.name) == (kind, name)]
    varies = name in _variants(kind)
    if varies or name in SHIPPED[kind]:
        target = SHIPPED[kind][VARIANTS[name].method if varies else name]
        ours = Part(kind=kind, name=name, package="judgegraph", version=__version__, target=target, variant=varies)
        found = [ours, *found]
    alone = []
    for registered in REGISTERED.get((kind, name), {}).values():
        at = next((i for i, part in enumerate(found) if _same(part, registered)), None)
        if at is None:
            alone.append(registered)
        elif not found[at].disabled:
            found[at] = replace(found[at], thing=registered.thing)  # of a module that was reloaded the newer
    return (*found, *alone)


def _variants(kind: Kind) -> Mapping[str, Variant]:
    return VARIANTS if kind == "method" else {}


def part_of(kind: Kind, asked: str, more: str = "") -> Part:
    """The part that "NAME" or "PACKAGE:NAME" stands for.

    Args:
        more: what else could be written, for the message where nothing has the name.

    Nothing is imported for it, but where packages share the name: of those the disabled ones do not count.

    Raises:
        ConfigError: no such name, or one of several packages.
    """
    package, colon, name = asked.rpartition(":")
    found = [p for p in candidates(kind, name) if not colon or normal(p.package) == normal(package)]
    if not found:
        raise ConfigError(_unknown(kind, asked, more))
    if len(found) > 1:  # what cannot be used takes no name away
        found = [part for part in found if not part.disabled] or found[:1]
    if len(found) > 1:
        listed = " and ".join(part.origin for part in found)
        exact = " or ".join(dict.fromkeys(one_line(part.exact, 120) for part in found))
        cure = f"uninstall one, or write {exact}" if len({p.package for p in found}) > 1 else "one must be renamed"
        raise ConfigError(f"{len(found)} {kind}s are called '{name}': {listed}; {cure}")
    return found[0]


def load(kind: Kind, asked: str) -> Any:
    """The class, factory or object behind "NAME" or "PACKAGE:NAME".

    Raises:
        ConfigError: no such name, one of several packages, or of a package that is disabled.
    """
    return part_of(kind, asked).load()


def _unknown(kind: Kind, asked: str, more: str) -> str:
    """What to say of a name that nothing has: the close ones, then all."""
    return f"no {kind} '{one_line(asked, 80)}'; {meant(asked, names(kind))}known: {listed(kind)}{more}"


def listed(kind: Kind) -> str:
    """Names of a kind for a message, without variants: those are many, and their methods stand in it."""
    return ", ".join(name for name in names(kind) if name not in _variants(kind))


def meant(asked: str, known: tuple[str, ...]) -> str:
    """ "did you mean 'sageval'? ", "" where no name is close."""
    close = get_close_matches(asked.rpartition(":")[2].lower(), known, n=3)
    return f"did you mean {' or '.join(map(repr, close))}? " if close else ""


def _same(part: Part, registered: Part) -> bool:
    """Whether an entry point brings what was registered, which it may name by another path."""
    if part.ours:
        return part.target == registered.target and not part.variant
    if part.disabled:  # it may have registered itself before its import failed
        return part.target.partition(":")[0].partition(".")[0] == registered.package
    thing = part.load()
    return thing is registered.thing or target_of(thing, "") == registered.target


# An agent or a critic of its name and settings, for graphs that are given one by name.


def make(kind: Kind, which: Any, settings: Mapping[str, Any] | None = None, **offered: Any) -> Any:
    """The agent that a name stands for, or the object itself where it is one already.

    Args:
        which: a name, or an agent. settings: what was set by the user: each must be a setting of the part.
        offered: what the graph around has to give (judge, criteria, task, reader, name, stage): a part is given those
            that it has a setting for and that neither the user nor the variant sets.

    Raises:
        ConfigError: no such name, a setting that the part does not take, or it cannot be built.
    """
    if not isinstance(which, str):
        return which
    part, given = part_of(kind, which), dict(settings or {})
    thing = part.load()
    takes, any_more = settings_of(thing)
    if not any_more and (unknown := sorted(set(given) - set(takes))):
        listed = ", ".join(one_line(name, 80) for name in unknown)
        raise ConfigError(f"{kind} '{which}' has no setting {listed}{meant_of(unknown[0], takes)}")
    if is_made(thing):
        return thing
    fixed = getattr(thing, "preset", {}) if part.variant else {}
    return _built(part, thing, {k: v for k, v in offered.items() if k in takes and k not in fixed} | given)


def is_made(thing: Any) -> bool:
    """Whether a part is an agent as it stands: an object, a graph, or a function of a state or a sample."""
    plain = _function(thing)
    if inspect.isclass(plain):
        return False
    if not inspect.isroutine(plain):
        return True
    return inspect.iscoroutinefunction(plain) or is_state(plain)


def makes_parts(thing: Any) -> str:
    """How one of our functions that makes a part, and is none, is written ("jg.panel"), "" for all else."""
    plain = _function(thing)
    module = getattr(plain, "__module__", None) or ""
    if not inspect.isroutine(plain) or not module.startswith(f"{PACKAGE}.") or is_state(plain):
        return ""
    if "<locals>" in plain.__qualname__:  # what jg.agent("name") gives
        return "a decorator"
    return f"jg.{plain.__name__}" if hasattr(importlib.import_module(PACKAGE), plain.__name__) else plain.__name__


def settings_of(thing: Any) -> tuple[dict[str, inspect.Parameter], bool]:
    """(setting -> its parameter, whether it takes any other too); none of what is made already.

    A function with `**settings` passes them on to the `builder` of its module.
    """
    if is_made(thing):
        return {}, False
    try:
        found = inspect.signature(thing).parameters
    except (TypeError, ValueError):  # a class of C, say
        return {}, False
    named = {n: p for n, p in found.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    if inspect.Parameter.VAR_KEYWORD not in {p.kind for p in found.values()}:
        return named, False
    builder = None if inspect.isclass(thing) else getattr(inspect.getmodule(thing), "builder", None)
    if builder is None or builder is thing:
        return named, True
    return {**settings_of(builder)[0], **named}, False


def _function(thing: Any) -> Any:
    while isinstance(thing, partial):
        thing = thing.func
    return thing


def _built(part: Part, thing: Any, given: dict[str, Any]) -> Any:
    what = f"{part.kind} '{part.name}'"
    try:
        inspect.signature(thing).bind(**given)
    except TypeError as error:
        raise ConfigError(f"{what}: {error}") from None
    except ValueError:
        pass  # it does not say what it takes
    try:
        made = thing(**given)
    except JudgegraphError:
        raise
    except (Exception, SystemExit) as error:  # a part does not end the command
        raise ConfigError(f"{what}, {part.origin}, cannot be built: {raised(error)}") from error
    if inspect.iscoroutine(made):
        made.close()
    if inspect.iscoroutine(made) or not usable(made):
        raise ConfigError(f"{what}, {part.origin}, made {one_line(type(made).__name__)}, which is no agent")
    return made


# What builds a graph: a method by name, a graph file, or `file.py:factory`.


GRAPH_FILES = (".yaml", ".yml", ".json")
READER = "judgegraph.graph_files.build"  # its graph_factory(path) gives what builds the graph
FILES = ", graph.yaml, or file.py:factory"


def factory(method: str) -> Callable[..., Any]:
    """What builds a graph: a method's name, a graph file, or `path/to/file.py:name` for one of your own.

    Raises:
        ConfigError: no such method, file or name in it, or the file fails to import.
    """
    path, _, name = method.rpartition(":")
    if path.endswith(".py"):
        return callable_of(module_at(Path(path)), name, method)
    if is_file(method):
        reader = importlib.import_module(READER)  # by name: it is a floor above
        return reader.graph_factory(method)  # type: ignore[no-any-return]
    return builder_of(part_of("method", method, FILES))


def builder_of(part: Part) -> Callable[..., Any]:
    """What builds the graph of a part that is a method.

    Raises:
        Disabled: as `Part.load`.
    """
    thing = part.load()
    return thing if callable(thing) else lambda: thing  # a package may bring a compiled graph


def is_file(method: str) -> bool:
    """Whether a method is named by a file: `file.py:factory`, or a graph file."""
    return method.rpartition(":")[0].endswith(".py") or method.lower().endswith(GRAPH_FILES)


FOLDERS: list[Path] = []  # of files of one's own, added to where Python looks, the last first
KEPT: dict[Path, dict[str, ModuleType]] = {}  # folder -> its modules, while another folder's stand under their names


def module_at(path: Path) -> Any:
    """The module that a file of one's own makes: its code runs, and may import the modules that lie beside it.

    Raises:
        ConfigError: there is no such file, or it fails to import.
    """
    if not path.is_file():
        raise ConfigError(f"no file {path}")
    name, folder = _module_name(path), path.resolve().parent
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": partial(_import, folder)}
    sys.modules[name] = module  # LangGraph looks type hints up by module name
    try:
        with _neighbours(folder):
            spec.loader.exec_module(module)
    except BaseException as error:  # SystemExit too: a file that exits would end the command as if all were well
        sys.modules.pop(name, None)
        if isinstance(error, KeyboardInterrupt):
            raise
        why = raised(error)
        if "attempted relative import" in why:
            why += "; write 'import b' for 'from . import b': what lies beside a file is found"
        raise ConfigError(f"{path} fails to import: {why}") from error
    return module


def _module_name(path: Path) -> str:
    """What Python knows a file by: no two files of one process share it, though they share a name."""
    stem = name = f"judgegraph_user_{path.stem}"
    number = 2
    while name in sys.modules and Path(sys.modules[name].__file__ or "").resolve() != path.resolve():
        name, number = f"{stem}_{number}", number + 1
    return name


def _import(folder: Path, name: str, *rest: Any, **more: Any) -> Any:
    """An import by a file in a folder, also one that its functions make later."""
    known = sys.modules.get(name.partition(".")[0])
    if len(FOLDERS) < 2 or (known is not None and Path(_home(known)) not in FOLDERS):  # it comes before all neighbours
        return builtins.__import__(name, *rest, **more)
    with _neighbours(folder):
        return builtins.__import__(name, *rest, **more)


@contextmanager
def _neighbours(folder: Path) -> Iterator[None]:
    """Within, the modules of a folder are found as `python file.py` finds them, and none of another file's folder.

    They come behind all else, so that none hides a module of Python's or a package. A neighbour that has the name of
    another file's is a module of its own.
    """
    if folder in FOLDERS or str(folder) not in sys.path:  # else whoever put it there wants it where it is
        FOLDERS[:] = [folder, *(place for place in FOLDERS if place != folder)]
    others = {name: home for name, home in _homes() if home != folder}
    away = {name: sys.modules.pop(name) for name in others}
    sys.modules.update(KEPT.pop(folder, {}))
    sys.path[:] = _elsewhere() + [str(folder)] * (folder in FOLDERS)
    try:
        yield
    finally:
        taken = {name.partition(".")[0] for name, _ in _homes()}
        for name, module in away.items():
            if name.partition(".")[0] in taken:
                KEPT.setdefault(others[name], {})[name] = module
            else:
                sys.modules[name] = module
        sys.path[:] = [*_elsewhere(), *map(str, FOLDERS)]


def _elsewhere() -> list[str]:
    """Where Python looks beside the folders of one's own files."""
    return [place for place in sys.path if Path(place) not in FOLDERS]


def _homes() -> list[tuple[str, Path]]:
    """(name, folder of one's own that it lies in) of every module that was imported from one."""
    known, found = {str(folder): folder for folder in FOLDERS}, dict[str, Path]()
    for name, module in [*sys.modules.items()] if known else ():
        own = "." not in name and not name.startswith(("judgegraph_user_", "__main__"))
        if own and (home := known.get(_home(module))) is not None:
            found[name] = home
    return [(name, found[top]) for name in [*sys.modules] if (top := name.partition(".")[0]) in found] if found else []


def _home(module: Any) -> str:
    """The folder that a module or a package lies in."""
    about = getattr(module, "__dict__", {})
    return os.path.dirname(next(iter(about.get("__path__") or ()), about.get("__file__")) or "")


def callable_of(module: Any, name: str, method: str) -> Callable[..., Any]:
    """What is called so in a module.

    Raises:
        ConfigError: it has no such class or function.
    """
    found = getattr(module, name, None)
    if not callable(found):
        raise ConfigError(f"{method}: {module.__file__ or module.__name__} has no function '{name}'")
    return found  # type: ignore[no-any-return]


def find(asked: str) -> tuple[Kind, str]:
    """(kind, name within the kind) of "NAME", "PACKAGE:NAME", "KIND/NAME", `file.py:factory` or a graph file.

    Nothing is imported for it, but what shares the name with other kinds: of that the disabled does not count.

    Raises:
        ConfigError: no such name, or one of several kinds.
    """
    word, slash, rest = asked.partition("/")
    if slash and word in KINDS:
        return next(kind for kind in KINDS if kind == word), rest
    if is_file(asked):
        return "method", asked
    found = [kind for kind in KINDS if _of(kind, asked)]
    if len(found) > 1:
        found = [kind for kind in found if not all(part.disabled for part in _of(kind, asked))] or found[:1]
    if len(found) > 1:
        either = " or ".join(f"{kind}/{asked}" for kind in found)
        raise ConfigError(f"'{one_line(asked, 80)}' is the name of {_whose(found, asked)}: write {either}")
    if not found:
        every = tuple(dict.fromkeys(name for kind in KINDS for name in names(kind)))
        known = "; ".join(f"{kind}s: {listed(kind)}" for kind in KINDS)
        raise ConfigError(
            f"no agent, critic, method or assistant '{one_line(asked, 80)}'; {meant(asked, every)}known {known}"
        )
    return found[0], asked


def find_agent(asked: str) -> tuple[Kind, Any]:
    """(kind, class, factory or object): of an assistant what measures, of a method what builds its graph.

    Raises:
        ConfigError: as `find`; one of several packages, or of a package that is disabled.
    """
    kind, name = find(asked)
    return kind, factory(name) if kind == "method" else load(kind, name)


def _of(kind: Kind, asked: str) -> list[Part]:
    """The parts of a kind that "NAME" or "PACKAGE:NAME" may mean."""
    package, colon, name = asked.rpartition(":")
    if name not in names(kind):
        return []
    return [part for part in candidates(kind, name) if not colon or normal(part.package) == normal(package)]


def _whose(kinds: list[Kind], asked: str) -> str:
    """ "an agent of judgegraph 1.0 and of a critic of acritics 2.0"."""
    said = []
    for kind in kinds:
        packages = dict.fromkeys(part.brought_by for part in _of(kind, asked) if not part.disabled)
        said.append(f"{'an' if kind[0] == 'a' else 'a'} {kind} of {' and '.join(packages)}")
    return " and of ".join(said)
