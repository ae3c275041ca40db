"""Registry of criteria: built-ins and installed plugins, all through one pluggy hook.

A plugin is a module under the entry-point group ``gridmodl`` that implements `gridmodl_criteria`. Plugins load at the
first look-up. A broken plugin is named in a warning and left out; everything else works.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import keyword
import math
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pluggy

from gridmodl.spelling import did_you_mean, similar_names
from gridmodl.terms import (
    CORE_FIELDS,
    FLOORS,
    FUNCTIONS,
    PROBLEMS,
    TERMS,
    Criterion,
    Problem,
    finish,
    floor,
    gradient,
    part,
)

PATIENCE = 10.0  # seconds after which a plugin that is still loading is named

hookspec = pluggy.HookspecMarker("gridmodl")
hookimpl = pluggy.HookimplMarker("gridmodl")


class PluginWarning(UserWarning):
    """A plugin, or one criterion of it, was left out."""


class MissingCriterion(ValueError):
    """The criterion that found a model is not installed."""


@hookspec
def gridmodl_criteria() -> list[type[Criterion]]:  # type: ignore[empty-body]
    """The criterion classes that a plugin adds."""


Registry = dict[str, dict[str, type[Criterion]]]  # name -> problem -> class


def _manager() -> pluggy.PluginManager:
    """Plugin manager with the built-in criteria and all installed plugins that load."""
    import gridmodl.criteria as builtin

    manager = pluggy.PluginManager("gridmodl")
    manager.add_hookspecs(sys.modules[__name__])
    manager.register(builtin, "gridmodl")
    for plugin, entry in _plugins():
        try:
            with _watching(plugin):
                module = entry.load()
            if manager.is_registered(module):  # one module under two names
                continue
            manager.register(module, plugin)
            if plugin not in {i.plugin_name for i in manager.hook.gridmodl_criteria.get_hookimpls()}:
                raise TypeError("it implements no gridmodl_criteria marked @hookimpl")
        except (Exception, SystemExit) as error:
            _warn_left_out(plugin, f"{type(error).__name__}: {error}")
    return manager


def _plugins() -> list[tuple[str, EntryPoint]]:
    """Entry points by the name of the plugin, sorted; if packages share a name, it says of which package each is."""
    found = sorted(entry_points(group="gridmodl"), key=lambda entry: (entry.name, entry.value))
    shared = Counter(entry.name for entry in found)

    def name_of(entry: EntryPoint) -> str:
        package = entry.dist.name if entry.dist is not None else entry.module
        return entry.name if shared[entry.name] == 1 else f"{entry.name} of {package}, {entry.value}"

    return [(name_of(entry), entry) for entry in found]


@contextlib.contextmanager
def _watching(plugin: str) -> Iterator[None]:
    """Send the output of a plugin to the error stream, and name the plugin there if it takes long."""
    waited = f"gridmodl: plugin {plugin!r} has been loading for {PATIENCE:.0f} seconds; Ctrl-C stops it\n"
    timer = threading.Timer(PATIENCE, lambda: sys.stderr.write(waited))
    timer.daemon = True
    timer.start()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        timer.cancel()


def _warn_left_out(plugin: str, why: str, what: str = "plugin") -> None:
    """Warn that a plugin, or a criterion of it, is left out."""
    warnings.warn(f"{what} {plugin!r} is left out: {why}", PluginWarning, stacklevel=2)


@functools.cache
def _registry() -> Registry:
    """All criteria that can be used; those that cannot are left out with a warning."""
    manager, registry, origin = _manager(), Registry(), dict[tuple[str, str], str]()
    # Built-ins first, then plugins by name: which plugin gets a name does not depend on the installation order.
    implementations = manager.hook.gridmodl_criteria.get_hookimpls()
    for implementation in sorted(implementations, key=lambda i: (i.plugin_name != "gridmodl", i.plugin_name)):
        plugin = implementation.plugin_name
        try:
            with _watching(plugin):
                classes: list[Any] = list(implementation.function())  # type: ignore[call-overload]
        except (Exception, SystemExit) as error:
            _warn_left_out(plugin, f"its gridmodl_criteria failed with {type(error).__name__}: {error}")
            continue
        for cls in classes:
            if isinstance(cls, type) and any(cls in family.values() for family in registry.values()):
                continue  # another plugin has imported it and returns it too
            wrong = problem_with_class(cls) or _name_conflict(cls, origin)
            if wrong:
                _warn_left_out(plugin, wrong, "a criterion of plugin")
                continue
            for problem in cls.problems:
                registry.setdefault(cls.name, {})[problem] = cls
                origin[cls.name, problem] = plugin
    return registry


def _name_conflict(cls: type[Criterion], origin: dict[tuple[str, str], str]) -> str | None:
    """Which criterion already has the name and a problem of `cls`, or None."""
    for problem in sorted(cls.problems):
        if (cls.name, problem) in origin:
            other = origin[cls.name, problem]
            return (
                f"criterion {cls.name!r} for problem {problem!r} is already there, from {other!r}; give "
                f"{cls.__module__}.{cls.__qualname__} another name"
            )
    return None


def list_criteria(problem: str | None = None) -> list[str]:
    """Names of the installed criteria, in alphabetical order.

    Parameters
    ----------
    problem : str, optional
        Only criteria that can price this problem, a key of `gridmodl.terms.PROBLEMS`.
    """
    if problem is not None and problem not in PROBLEMS:
        raise ValueError(f"unknown problem {problem!r}; known: {', '.join(PROBLEMS)}{did_you_mean(problem, PROBLEMS)}")
    return sorted(name for name, family in _registry().items() if problem is None or problem in family)


def get_criterion(name: str, **options: Any) -> Criterion:
    """Make the criterion `name` with `options`.

    Several formulas may share a name, one per problem, as those of ``modl``. This returns one of them; `optimize`
    uses the one that fits the data.

    Parameters
    ----------
    name : str
        A name out of `list_criteria`.
    **options : bool, int or float
        Options of the criterion by name; the others keep their defaults.

    Examples
    --------
    >>> from gridmodl import get_criterion
    >>> get_criterion("entropy", alpha=0.7, beta=0.3)
    Entropy(alpha=0.7, beta=0.3)
    """
    family = _family(name)
    formulas = list(dict.fromkeys(family[problem] for problem in PROBLEMS if problem in family))
    fitting = [cls for cls in formulas if set(options) <= set(cls.options)]
    return (fitting or formulas)[0](**options)


def criterion_for(criterion: str | Criterion | type[Criterion], problem: str) -> Criterion:
    """Criterion that prices `problem`, from the user's argument ``criterion=``; raise if there is none."""
    if isinstance(criterion, str):
        criterion = get_criterion(criterion)
    if isinstance(criterion, type) and issubclass(criterion, Criterion):
        criterion = criterion()
    if not isinstance(criterion, Criterion):
        raise TypeError(
            f"criterion must be a name ({', '.join(list_criteria())}) or a gridmodl.Criterion, got {criterion!r}"
        )
    wrong = problem_with_class(type(criterion))
    if wrong:
        raise TypeError(wrong)
    if problem in criterion.problems:
        return criterion
    # Another class of the same name may price this problem, with the same options.
    family = _registry().get(criterion.name, {})
    sibling = family.get(problem)
    if sibling is None or type(criterion) not in family.values():
        can = "; ".join(f"{kind!r} ({PROBLEMS[kind]})" for kind in PROBLEMS if kind in criterion.problems)
        others = ", ".join(list_criteria(problem))
        way_out = ""
        if PROBLEMS[problem].has_unlabelled and "classes" in criterion.problems:
            way_out = "; or optimize with placement='median', where unlabelled rows place the bounds and are not priced"
        raise ValueError(
            f"criterion {criterion.name!r} cannot price {problem!r} ({PROBLEMS[problem]}); "
            f"it prices {can}. Criteria that can: {others}{way_out}{_not_installed(criterion, family)}"
        )
    defaults = type(criterion).options
    return sibling(**{name: v for name, v in criterion.chosen.items() if v != defaults[name]})


def _not_installed(criterion: Criterion, family: Mapping[str, type[Criterion]]) -> str:
    """End of a message: that the class of a criterion is not the installed one of its name."""
    if not family or type(criterion) in family.values():
        return ""
    cls, other = type(criterion), next(iter(family.values()))
    return (
        f". {cls.__module__}.{cls.__qualname__} is not {other.__module__}.{other.__qualname__}, which is installed "
        "under the same name; give it another one"
    )


def criterion_of(name: str, options: Mapping[str, Any], problem: str) -> Criterion:
    """The criterion that a model names, with its `options`; raise MissingCriterion if it is not installed."""
    if problem not in _registry().get(name, {}):
        raise MissingCriterion(
            f"criterion {name!r}, which found the model, is not installed here for problem {problem!r} "
            f"({PROBLEMS[problem]}), so nothing can be priced; install the plugin that it came with. What asks for "
            "no price works without it: predictions, tables, queries, compare(..., refit=False)"
        )
    return criterion_for(get_criterion(name, **options), problem)


def criterion_of_model(model: Any) -> Criterion:
    """The criterion that found a model: of this process, if the model was made in it, else the installed one."""
    if model._source is not None and model._source[1].name == model.criterion:  # it need not be installed
        found: Criterion = model._source[1]
        return found
    return criterion_of(model.criterion, model.options, model.problem)


def _family(name: str) -> dict[str, type[Criterion]]:
    """Criterion classes with this name, by problem."""
    registry = _registry()
    if not isinstance(name, str):
        raise TypeError(f"a criterion's name is a string, got {name!r}")
    if name not in registry:
        known = sorted(registry)
        raise ValueError(f"unknown criterion {name!r}; known: {', '.join(known)}{did_you_mean(name, known)}")
    return registry[name]


# Checks of a criterion class, before it prices anything.

LOOKS_LIKE = 0.75  # similarity of a misspelt term to the right one, as of `gird` to `grid`


def problem_with_class(cls: Any) -> str | None:
    """What is wrong with the declarations of a criterion class, as a sentence, or None."""
    if not (isinstance(cls, type) and issubclass(cls, Criterion)):
        return f"{cls!r} is not a subclass of gridmodl.Criterion"
    outdated = _outdated(cls) or _misspelt(cls)
    if outdated:
        return outdated
    name, problems = getattr(cls, "name", None), getattr(cls, "problems", None)
    if not isinstance(name, str) or not name:
        return f"{cls.__name__} has no `name`"
    if not isinstance(problems, (set, frozenset)) or not problems or not problems <= set(PROBLEMS):
        declared = problems if isinstance(problems, (set, frozenset, list, tuple)) else [problems]
        near = "".join(did_you_mean(problem, PROBLEMS) for problem in declared if problem not in list(PROBLEMS))
        return f"criterion {name!r} declares problems {problems!r}; known: {', '.join(PROBLEMS)}{near}"
    names = [*CORE_FIELDS, *cls.options, *cls.constants, *cls.unread]
    for field in names:
        if not field.isidentifier() or field.startswith("_") or keyword.iskeyword(field) or names.count(field) > 1:
            return (
                f"criterion {name!r} declares {field!r}, which is used already or not a valid name; p has "
                f"{', '.join(CORE_FIELDS)}"
            )
    for term in FUNCTIONS:
        written = inspect.getattr_static(cls, term.__name__)
        what = "term" if term in TERMS else "function"
        if not isinstance(written, staticmethod):
            return f"{what} {term.__name__!r} of criterion {name!r} must be a @staticmethod"
        if not inspect.isfunction(written.__func__):
            return f"{what} {term.__name__!r} of criterion {name!r} must be a plain function, got {written.__func__!r}"
        wanted, taken = (list(inspect.signature(f).parameters) for f in (term, written.__func__))
        if len(wanted) != len(taken):
            return (
                f"{what} {term.__name__!r} of criterion {name!r} takes {len(taken)} arguments ({', '.join(taken)}); "
                f"it must take {len(wanted)} ({', '.join(wanted)})"
            )
    wrong = (
        _problem_with_floors(cls) or _problem_with_scale(cls) or _problem_with_target(cls) or _problem_with_roles(cls)
    )
    if wrong is None and all(getattr(cls, term.__name__) is term for term in TERMS):
        terms = ", ".join(term.__name__ for term in TERMS)
        return f"criterion {name!r} has no term, so that every partition would cost 0; write one of {terms} or more"
    return wrong


def _outdated(cls: type[Criterion]) -> str | None:
    """What to change in a criterion that was written for an earlier gridmodl, or None."""
    name = getattr(cls, "name", cls.__name__)
    if hasattr(cls, "variable_constant"):
        return (
            f"criterion {name!r} has variable_constant, which is gone: write variable_facts(self, problem, variable, "
            "value_rows) in its place, which returns that constant and an array by number of parts"
        )
    own = getattr(cls.part, "__code__", None)
    if own is not None and own.co_argcount == 4:
        return (
            f"part of criterion {name!r} takes 4 arguments: drop the last, n_target_parts, and move what depends on it "
            "into the term margin(p, rows, n_target_parts)"
        )
    return None


def _misspelt(cls: type[Criterion]) -> str | None:
    """Which attribute looks like a misspelt term or declaration, which searches would ignore; None if none does.

    Names that begin with an underscore, or are not similar to a known name, are the author's own.
    """
    known = [name for name in vars(Criterion) if not name.startswith("_")] + ["name", "problems"]
    for written in (base for base in cls.__mro__ if base not in Criterion.__mro__):
        for name in vars(written):
            near = [] if name.startswith("_") or name in known else similar_names(name, known, LOOKS_LIKE)
            if near:
                return (
                    f"{cls.__name__} has {name!r}, which no search knows; did you mean {near[0]!r}? If it is a helper, "
                    f"name it _{name}"
                )
    return None


def _problem_with_scale(cls: type[Criterion]) -> str | None:
    """What is wrong with the scale that a criterion declares, or None."""
    scale = cls.scale
    if scale is None:
        return None
    if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not 0.0 < scale < math.inf:
        return f"criterion {cls.name!r} declares scale {scale!r}; it must be None or a positive number"
    if cls.finish is not finish:
        return f"criterion {cls.name!r} declares a scale, but its `finish` changes the sum of its terms"
    return None


def _problem_with_target(cls: type[Criterion]) -> str | None:
    """What is wrong with `given_target`, as a sentence, or None."""
    kinds = [kind for kind in PROBLEMS if kind in cls.problems]
    needs = [kind for kind in kinds if PROBLEMS[kind].target_is_partitioned and not PROBLEMS[kind].has_one_input]
    given = cls.given_target
    if given is None and needs:
        return (
            f"criterion {cls.name!r} prices {needs[0]!r} and must declare given_target, the criterion of problem "
            "'grid' that prices the inputs where the parts of the target are classes"
        )
    if given is None:
        return None
    if not (isinstance(given, type) and issubclass(given, Criterion) and "grid" in given.problems):
        return f"given_target of criterion {cls.name!r} must be a criterion class of problem 'grid', got {given!r}"
    if given.class_roles:
        return (
            f"given_target of criterion {cls.name!r} declares class_roles={given.class_roles!r}, but its classes are "
            "the parts of a target, which come in any number and order"
        )
    return problem_with_class(given)


def _problem_with_roles(cls: type[Criterion]) -> str | None:
    """What is wrong with `class_roles`, as a sentence, or None."""
    roles = cls.class_roles
    says = f"criterion {cls.name!r} declares class_roles={roles!r}"
    if not isinstance(roles, bool) and not (isinstance(roles, int) and roles > 1):
        return f"{says}; write True, or the number of classes that it needs, 2 or more"
    if roles and not any(PROBLEMS[kind].has_classes for kind in cls.problems):
        with_classes = ", ".join(kind for kind, flags in PROBLEMS.items() if flags.has_classes)
        return f"{says}, but none of its problems counts rows by class; these do: {with_classes}"
    of_two = {"groups_by_share": cls.groups_by_share, "gradient": cls.gradient is not gradient}
    if class_number(cls) not in (None, 2) and any(of_two.values()):
        name = next(name for name, is_declared in of_two.items() if is_declared)
        return f"{says} and {name!r}, which is about two classes; leave {name!r} out"
    return None


def class_number(criterion: Criterion | type[Criterion]) -> int | None:
    """The number of classes that a criterion needs, None if it takes any."""
    return None if isinstance(criterion.class_roles, bool) else criterion.class_roles


def problem_with_classes(criterion: Criterion, problem: Problem) -> str | None:
    """Why a criterion cannot price the classes of a `problem`, as a sentence, or None."""
    n_classes = class_number(criterion)
    if n_classes is None or not problem.flags.has_classes or problem.n_classes == n_classes:
        return None
    return (
        f"criterion {criterion.name!r} is for {n_classes} classes, each with a role of its own, and the rows have "
        f"{problem.n_classes}; give it rows of {n_classes} classes, in the order of their names or of an ordered "
        "categorical, or choose another criterion"
    )


def _problem_with_floors(cls: type[Criterion]) -> str | None:
    """Why searches cannot use the floors of a criterion, or None."""
    offered = [f"{free.__name__!r}" for free in FLOORS if getattr(cls, free.__name__) is not free]
    if offered and cls.floor is floor:
        return (
            f"criterion {cls.name!r} has {' and '.join(offered)} but no 'floor', without which no search uses them; "
            "write a floor, or leave them out"
        )
    if offered and cls.part is not part:
        return (
            f"criterion {cls.name!r} has {' and '.join(offered)}, which no search uses as it prices parts too; "
            "leave these out, or 'part'"
        )
    return None
