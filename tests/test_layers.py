"""The map of CONTRIBUTING.md holds: layers, folders, names, sizes of functions, and who calls a criterion's terms."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

import gridmodl
from gridmodl import list_criteria

PACKAGE = Path(gridmodl.__file__).parent
TREES = {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}
LAYERS = [
    "jit terms plugins codelength pricing clock progress spelling writing criteria",
    "data",
    "search",
    "model",
    "fit pipeline",
    "averaging",
    "analysis density baselines evidence monitoring scorecard validation",
    "estimators report plot testing",
    "cli __main__ building",
]
LAYER = {name: i for i, names in enumerate(LAYERS) for name in names.split()}
# Methods of public records may import upwards: `model.to_html()` is where users look for it.
RECORDS = {
    f"{name}.py"
    for name in (
        "model/model",
        "model/models",
        "model/partition",
        "density/model",
        "data/counts",
        "analysis/curve",
        "analysis/explain",
        "analysis/hierarchy",
        "analysis/posterior",
        "averaging/averages",
        "averaging/record",
        "validation/penalty",
        "evidence/contributions",
        "evidence/record",
        "monitoring/record",
        "scorecard/cutoffs",
        "scorecard/record",
    )
}
METHOD = 2  # in a class and in a function
PLAIN = {
    "analysis/cost_terms.py",
    "search/grid/typical.py",
    "testing/bruteforce.py",
    "testing/declarations.py",
    "testing/floors.py",
}
# What is too long today. Names may leave these sets; none may come.
LONG = {
    "search/column/branch_and_bound.py:run_chunks",
    "search/column/groups.py:pair_steps",
    "search/column/merge.py:merge_steps",
    "search/column/transfers.py:transfer_steps",
    "search/pair/transfers.py:transfer_visits",
}
MANY_ARGUMENTS = {  # public, by keyword
    "averaging/fit.py:average",
    "averaging/fit.py:average_each",
    "pipeline.py:optimize",
    "pipeline.py:optimize_each",
    "validation/penalty.py:choose_penalty",
}


def imports_of(tree: ast.AST, depth: int = 0):
    """Modules of gridmodl that are imported, and the number of classes and functions around the import.

    Imports for types alone count as those of a method.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gridmodl."):
            yield node.module.split(".")[1:], depth
        is_for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        yield from imports_of(node, depth + METHOD * is_for_types + isinstance(node, (ast.ClassDef, ast.FunctionDef)))


@pytest.mark.parametrize("file", sorted(set(TREES) - {"__init__.py"}))
def test_imports_point_down(file):
    own, least = LAYER[file.split("/")[0].removesuffix(".py")], METHOD if file in RECORDS else 99
    assert [name for name, depth in imports_of(TREES[file]) if LAYER[name[0]] > own and depth < least] == []


def test_there_is_no_cycle():
    left = {file: {"/".join(name) for name, depth in imports_of(tree) if depth == 0} for file, tree in TREES.items()}
    left = {file.removesuffix(".py").removesuffix("/__init__"): names for file, names in left.items()}
    while free := [file for file, names in left.items() if not names & set(left)]:
        for file in free:
            del left[file]
    assert left == {}


def test_a_folder_can_be_read_at_a_glance():
    per_folder = Counter(Path(file).parent.as_posix() for file in TREES)
    assert {folder: n for folder, n in per_folder.items() if n > 15} == {}
    assert {file.removesuffix(".py") for file in TREES if "/" not in file} <= {"__init__", *LAYER}


def test_no_criterion_is_named_where_all_are_alike():
    """But as the default of a public argument."""
    names = set(list_criteria())
    for file, tree in TREES.items():
        if file.split("/")[0] in ("search", "data", "model"):
            defaults = {
                id(node) for f in ast.walk(tree) if isinstance(f, ast.arguments) for node in f.defaults + f.kw_defaults
            }
            named = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value in names]
            assert [node.value for node in named if id(node) not in defaults] == []


def test_terms_are_called_in_few_places():
    """By kernels in `search/moves.py` and `pricing.py`; plain, to explain and to check, in those of `PLAIN`."""
    terms = {"grid", "variable", "part", "margin", "cell", "finish"}

    def called(file: str, as_attribute: bool) -> bool:
        names = {
            a.name
            for n in ast.walk(TREES[file])
            if isinstance(n, ast.ImportFrom) and n.module == "gridmodl.terms"
            for a in n.names
        }
        calls = [node.func for node in ast.walk(TREES[file]) if isinstance(node, ast.Call)]
        if as_attribute:
            return any(
                isinstance(f, ast.Attribute) and f.attr in terms and "criterion" in ast.unparse(f.value) for f in calls
            )
        return any(isinstance(f, ast.Name) and f.id in terms & names for f in calls)

    assert {file for file in TREES if called(file, False)} == {"pricing.py", "search/moves.py"}
    assert {file for file in TREES if called(file, True)} == PLAIN


def functions():
    """Every function, by file and name."""
    for file, tree in TREES.items():
        yield from ((f"{file}:{node.name}", node) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def n_lines(function: ast.FunctionDef) -> int:
    """Lines of the body, without the docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def test_functions_are_short():
    lines = {name: n_lines(function) for name, function in functions()}
    assert {name for name, n in lines.items() if n > 60} == LONG
    assert {name: n for name, n in lines.items() if n > 100} == {}


def test_argument_lists_are_short():
    n_arguments = {name: len([*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs]) for name, f in functions()}
    assert {name for name, n in n_arguments.items() if n > 12} == MANY_ARGUMENTS


def test_a_class_has_a_name_of_its_own():
    names = Counter(node.name for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert {name for name, n in names.items() if n > 1} == set()
