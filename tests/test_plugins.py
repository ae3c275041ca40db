"""Criteria of strangers: a good plugin is found, a broken one is named once and harms nothing else."""

from __future__ import annotations

import json
import math
import os
import pickle
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from oracles import naive

import gridmodl
from gridmodl import Criterion, get_criterion, list_criteria, optimize, plugins, price
from gridmodl.criteria.entropy import Entropy
from gridmodl.criteria.modl import Modl, ModlGrid
from gridmodl.jit.tiers import compile_as
from gridmodl.plugins import MissingCriterion, PluginWarning, criterion_for
from gridmodl.terms import PROBLEMS

ROOT = Path(gridmodl.__file__).parents[1]
X, Y = np.arange(10.0), [0] * 5 + [1] * 5

HEADER = """
import math
from gridmodl import Criterion, hookimpl
"""
GOOD = """
class Good(Criterion):
    name = "good"
    problems = {"classes"}
    @staticmethod
    def cell(p, cell):
        cost = 1.0
        for n in cell.counts:
            if n > 0:
                cost -= n * math.log(n / cell.rows)
        return cost
"""
HOOK = """
@hookimpl
def gridmodl_criteria():
    return [{}]
"""


def install(folder, name, source):
    """A distribution as pip would leave it: a module, and next to it what importlib.metadata reads."""
    (folder / f"{name}.py").write_text(source)
    info = folder / f"{name}-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0\n")
    (info / "entry_points.txt").write_text(f"[gridmodl]\n{name} = {name}\n")


def look_up(folder, then="None"):
    """In a new process: the names found, the warnings given, the cost of a built-in criterion and of `then`."""
    code = f"""
import json, warnings, gridmodl
from gridmodl import optimize, price
x, y = list(range(10)), [0] * 5 + [1] * 5
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    names = gridmodl.list_criteria()
    cost = price(x, y, {{"x0": [4.5]}})
    then = {then}
    assert gridmodl.list_criteria() == names
print(json.dumps([names, [[w.category.__name__, str(w.message)] for w in caught], cost, then]))
"""
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=folder, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_installed_plugin_is_found_and_used(tmp_path):
    install(tmp_path, "stranger", HEADER + GOOD + HOOK.format("Good"))
    names, warned, _, cost = look_up(tmp_path, "price(x, y, {'x0': [4.5]}, criterion='good')")
    assert "good" in names
    assert warned == []
    assert cost == 2.0  # two parts, both pure


def test_what_a_plugin_prints_is_no_output_of_the_command(tmp_path):
    printing = "print('hello')\n" + HEADER + GOOD + HOOK.format("Good").replace("return", "print('again'); return")
    install(tmp_path, "stranger", printing)
    names, warned, _, _ = look_up(tmp_path)  # would fail to read standard output
    assert "good" in names
    assert warned == []


@pytest.mark.parametrize(
    "source",
    ["import time\ntime.sleep(600)", HEADER + "import time\n@hookimpl\ndef gridmodl_criteria(): time.sleep(600)\n"],
    ids=["import", "hook"],
)
def test_a_plugin_that_hangs_is_named_and_can_be_stopped(tmp_path, source):
    install(tmp_path, "stranger", source)
    code = "import gridmodl.plugins\ngridmodl.plugins.PATIENCE = 0.2\ngridmodl.list_criteria()"
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, env=env) as running:
        assert "plugin 'stranger' has been loading" in running.stderr.readline()
        running.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in running.stderr.read()
        assert running.wait(timeout=60) != 0


def broken(body, hook="Bad, Good"):
    """A plugin that also holds a good criterion."""
    return (
        HEADER
        + GOOD
        + "\nclass Bad(Criterion):\n    name = 'bad'\n    problems = {'classes'}\n"
        + body
        + HOOK.format(hook)
    )


BROKEN_MODULES = {
    "import error": ("import not_there_at_all", "ModuleNotFoundError.*not_there_at_all"),
    "import of a missing name": ("from gridmodl import Criterium", "ImportError.*Criterium"),
    "syntax error": ("def (:", "SyntaxError"),
    "error at import": ("1 / 0", "ZeroDivisionError"),
    "exit at import": ("raise SystemExit(3)", "SystemExit"),
    "hook that raises": (
        HEADER + "@hookimpl\ndef gridmodl_criteria():\n    raise KeyError('lost')\n",
        "gridmodl_criteria failed with KeyError.*lost",
    ),
    "hook that returns nothing": (HEADER + "@hookimpl\ndef gridmodl_criteria():\n    pass\n", "gridmodl_criteria"),
    "hook that returns a class": (HEADER + GOOD + HOOK.replace("[{}]", "Good"), "gridmodl_criteria"),
    "hook with an argument": (HEADER + "@hookimpl\ndef gridmodl_criteria(grid):\n    return []\n", "grid"),
    "hook of another name": (HEADER + GOOD + HOOK.replace("criteria", "criterias").format("Good"), "gridmodl_criteria"),
}

BROKEN_CLASSES = {
    "wrong number of arguments": (
        "    @staticmethod\n    def cell(p, cell, more):\n        return 1.0\n",
        r"term 'cell' of criterion 'bad' takes 3 arguments \(p, cell, more\); it must take 2 \(p, cell\)",
    ),
    "too few arguments": (
        "    @staticmethod\n    def part(p, part):\n        return 1.0\n",
        r"term 'part' of criterion 'bad' takes 2 arguments \(p, part\); it must take 3",
    ),
    "no staticmethod": (
        "    def cell(p, cell):\n        return 1.0\n",
        "term 'cell' of criterion 'bad' must be a @staticmethod",
    ),
    "no function": ("    cell = staticmethod(3)\n", "term 'cell' of criterion 'bad'"),
    "no name": ("    name = None\n", "Bad has no `name`"),
    "unknown problem": ("    problems = {'class'}\n", "criterion 'bad' declares problems.*'class'.*known: classes"),
    "one problem as text": ("    problems = 'classes'\n", "criterion 'bad' declares problems 'classes'"),
    "problems that are none": ("    problems = 5\n", "criterion 'bad' declares problems 5"),
    "built-in name": (
        "    name = 'modl'\n    @staticmethod\n    def cell(p, cell):\n        return 1.0\n",
        "criterion 'modl' for problem 'classes' is already there, from 'gridmodl'",
    ),
}


@pytest.mark.parametrize("case", BROKEN_MODULES)
def test_broken_plugin_is_named_once_and_all_else_works(tmp_path, case):
    source, message = BROKEN_MODULES[case]
    install(tmp_path, "broken", source)
    install(tmp_path, "sound", HEADER + GOOD.replace("good", "sound") + HOOK.format("Good"))
    names, warned, cost, then = look_up(tmp_path, "price(x, y, {'x0': [4.5]}, criterion='sound')")
    assert [category for category, _ in warned] == ["PluginWarning"], warned
    assert warned[0][1].startswith("plugin 'broken' is left out: ")
    assert re.search(message, warned[0][1])
    assert {"modl", "sound"} <= set(names)
    assert cost == pytest.approx(price(X, Y, {"x0": [4.5]}))
    assert then == 2.0


@pytest.mark.parametrize("case", BROKEN_CLASSES)
def test_broken_criterion_is_named_once_and_its_neighbours_work(tmp_path, case):
    source, message = BROKEN_CLASSES[case]
    install(tmp_path, "broken", broken(source))
    names, warned, cost, then = look_up(tmp_path, "price(x, y, {'x0': [4.5]}, criterion='good')")
    assert [category for category, _ in warned] == ["PluginWarning"], warned
    assert "plugin 'broken'" in warned[0][1]
    assert re.search(message, warned[0][1])
    assert {"modl", "good"} <= set(names)
    assert "bad" not in names
    assert cost == pytest.approx(price(X, Y, {"x0": [4.5]}))
    assert then == 2.0


@pytest.mark.parametrize("thing", ["3", "'Bad'", "Bad()", "int", "None"])
def test_hook_that_returns_something_else_than_criteria(tmp_path, thing):
    install(tmp_path, "broken", broken("", hook=f"{thing}, Good"))
    names, warned, _, _ = look_up(tmp_path)
    assert len(warned) == 1
    assert "is not a subclass of gridmodl.Criterion" in warned[0][1]
    assert "good" in names


def test_duplicate_name_and_problem_of_two_plugins(tmp_path):
    """Who wins depends on their names alone."""
    for name, price_of_a_cell in (("zebra", "1.0"), ("adder", "3.0")):
        install(tmp_path, name, HEADER + GOOD.replace("cost = 1.0", f"cost = {price_of_a_cell}") + HOOK.format("Good"))
    names, warned, _, cost = look_up(tmp_path, "price(x, y, {'x0': [4.5]}, criterion='good')")
    assert names.count("good") == 1
    assert len(warned) == 1
    assert "a criterion of plugin 'zebra' is left out" in warned[0][1]
    assert "give zebra.Good another name" in warned[0][1]
    assert "criterion 'good' for problem 'classes' is already there, from 'adder'" in warned[0][1]
    assert cost == 6.0


def test_two_packages_that_name_their_plugin_alike_both_load(tmp_path):
    """The second was left out, and the warning blamed the name that both have."""
    for name in ("adder", "zebra"):
        install(tmp_path, name, HEADER + GOOD.replace("good", f"of-{name}") + HOOK.format("Good"))
        info = tmp_path / f"{name}-0.dist-info"
        (info / "entry_points.txt").write_text(f"[gridmodl]\ncriteria = {name}\n")
    names, warned, _, _ = look_up(tmp_path)
    assert warned == []
    assert {"of-adder", "of-zebra"} <= set(names)
    (tmp_path / "zebra.py").write_text("1 / 0")
    names, warned, _, _ = look_up(tmp_path)
    assert "of-adder" in names
    assert [text for _, text in warned] == [
        "plugin 'criteria of zebra, zebra' is left out: ZeroDivisionError: division by zero"
    ]


def test_a_plugin_that_returns_the_class_of_another_takes_nothing_from_it(tmp_path):
    """The author of the class was blamed, as its plugin comes later in the alphabet."""
    install(tmp_path, "zebra", HEADER + GOOD + HOOK.format("Good"))
    imports = "from zebra import Good\nclass Mine(Good):\n    name = 'mine'\n"
    install(tmp_path, "adder", HEADER + imports + HOOK.format("Good, Mine"))
    names, warned, _, _ = look_up(tmp_path)
    assert warned == []
    assert {"good", "mine"} <= set(names)


def test_a_class_of_an_installed_name_is_not_exchanged_for_the_installed_one():
    """Given one column, the built-in criterion took the place of one that prices grids."""
    taken = type(
        "Mine", (Criterion,), {"name": "modl", "problems": {"grid"}, "cell": staticmethod(lambda p, cell: 1.0)}
    )
    said = (
        r"cannot price 'classes' .*Mine is not gridmodl\.criteria\.modl\.Modl.*, which is installed under the same name"
    )
    with pytest.raises(ValueError, match=said):
        optimize(X, Y, criterion=taken)
    assert criterion_for(ModlGrid, "classes") == Modl()


def test_same_name_for_another_problem_is_no_duplicate(tmp_path):
    source = GOOD.replace('"good"', '"gini"').replace('{"classes"}', '{"joint"}')
    install(tmp_path, "stranger", HEADER + source + HOOK.format("Good"))
    _, warned, _, then = look_up(tmp_path, "gridmodl.list_criteria('joint')")
    assert warned == []
    assert then == ["gini", "modl"]


def test_every_broken_plugin_gets_its_warning(tmp_path):
    for i, (source, _) in enumerate(list(BROKEN_MODULES.values())[:4]):
        install(tmp_path, f"broken{i}", source)
    _, warned, _, _ = look_up(tmp_path)
    assert [text.split("'")[1] for _, text in warned] == ["broken0", "broken1", "broken2", "broken3"]


def test_plugins_load_on_the_first_look_up_only(tmp_path):
    install(
        tmp_path, "stranger", "import pathlib\npathlib.Path('loaded').touch()\n" + HEADER + GOOD + HOOK.format("Good")
    )
    code = (
        "import pathlib, gridmodl, gridmodl.terms; assert not pathlib.Path('loaded').exists(); gridmodl.list_criteria()"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    subprocess.run([sys.executable, "-c", code], env=env, cwd=tmp_path, check=True)
    assert (tmp_path / "loaded").exists()


# Terms that break when they are used.

TABLE = {1: 2.0}
LIST = [1.0, 2.0]


def make(name="odd", **terms):
    body = {term: staticmethod(function) for term, function in terms.items()}
    return type(name.title(), (Criterion,), {"name": name, "problems": {"classes"}, **body})


def raises_at_use(criterion, message):
    """Both calls raise one error that says `message`; a built-in criterion works after it."""
    for call in (lambda: optimize(X, Y, criterion=criterion), lambda: price(X, Y, {}, criterion=criterion)):
        with pytest.raises(TypeError, match=message):
            call()
    assert price(X, Y, {"x0": [4.5]}) < price(X, Y, {})


@pytest.mark.parametrize("returned", ["text", None, 1j, math.nan, [1.0]])
def test_term_that_returns_no_number(returned):
    raises_at_use(
        make(cell=lambda p, cell: returned),
        "term 'cell' of criterion 'odd' returned .*; a term returns a finite number",
    )


@pytest.mark.parametrize("term", ["grid", "variable", "part", "cell", "finish"])
def test_every_term_is_named_when_it_returns_text(term):
    functions = {
        "grid": lambda p, shape: "text",
        "variable": lambda p, variable, n_parts: "text",
        "part": lambda p, variable, part: "text",
        "cell": lambda p, cell: "text",
        "finish": lambda p, total, shape: "text",
    }
    raises_at_use(make(**{term: functions[term]}), f"term '{term}' of criterion 'odd' returned 'text'")


def test_term_that_fails():
    raises_at_use(
        make(cell=lambda p, cell: 1 / 0), "term 'cell' of criterion 'odd' failed: ZeroDivisionError: division"
    )


FIELDS = r"p has n_rows, n_classes, n_variables, log_rows, class_rows"
MISREAD = {
    "p": (
        lambda p, cell: p.n_row,
        rf"^term 'cell' of criterion 'odd' reads p\.n_row; {FIELDS}; did you mean 'n_rows'\?$",
    ),
    "cell": (
        lambda p, cell: cell.row,
        r"^term 'cell' of criterion 'odd' reads cell\.row; cell has counts, rows, unlabelled; did you mean 'rows'\?$",
    ),
    "a method of tuples": (lambda p, cell: cell.count[0], r"the rows of the classes are cell\.counts$"),
    "a class too many": (lambda p, cell: cell.counts[3], r"declares it: class_roles = 2$"),
}


@pytest.mark.parametrize("what", MISREAD)
def test_a_misspelt_field_lists_those_that_are_there(what):
    raises_at_use(make(cell=MISREAD[what][0]), MISREAD[what][1])


def test_options_and_constants_are_among_the_fields():
    class Odd(Criterion):
        name = "odd"
        problems = {"classes"}
        options = {"strength": 1.0}
        cell = staticmethod(lambda p, cell: p.strenght)

    raises_at_use(Odd, rf"reads p\.strenght; {FIELDS}, strength; did you mean 'strength'\?$")


def test_a_misspelt_field_in_a_branch_that_only_the_compiler_sees(monkeypatch):
    """Its cause is not the calls that led there, and is said first, and once."""
    monkeypatch.setenv("GRIDMODL_COMPILE", "always")

    def cell(p, cell):
        return p.n_row if cell.rows == 3 else 1.0

    said = (
        rf"^criterion 'odd' reads p\.n_row; {FIELDS}; did you mean 'n_rows'\? \(test_plugins\.py, line \d+: return p\."
    )
    raises_at_use(make(cell=cell), said)
    with pytest.raises(TypeError) as caught:
        price(X, Y, {}, criterion=make(cell=cell))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert str(caught.value).count("n_row;") == 1


def test_a_term_that_fails_in_a_search_alone_is_named():
    """The trial before the search has no cell of three rows."""

    def cell(p, cell):
        return math.log(abs(cell.rows - 3))

    named = pytest.raises(TypeError, match=r"^term 'cell' of criterion 'odd' failed: ValueError: ")
    with compile_as("never"), named as caught:  # in machine code the log of 0 is an infinity, which is named too
        price([1.0] * 3 + [2.0] * 5, [0, 1] * 4, {"x0": [1.5]}, criterion=make(cell=cell))
    assert str(caught.value).count("ValueError") == 1
    with compile_as("always"), pytest.raises(TypeError, match=r"^criterion 'odd' .* priced a partition at -inf"):
        price([1.0] * 3 + [2.0] * 5, [0, 1] * 4, {"x0": [1.5]}, criterion=make(cell=cell))


def test_params_of_other_names_are_named_once():
    class Par(Criterion):
        name = "par"
        problems = {"classes"}
        constants = {"penalty": float}
        cell = staticmethod(lambda p, cell: p.penalty)

        def params(self, problem):
            return {"penalties": 1.0}

    raises_at_use(
        Par, r"^params of criterion 'par' returned \['penalties'\], but its `constants` declare \['penalty'\]$"
    )


def test_a_function_that_a_module_does_not_have_is_named():
    def cell(p, cell):
        return math.logg(cell.rows) if cell.rows == 3 else 1.0

    raises_at_use(make(cell=cell), r"uses math\.logg, which math does not have; did you mean 'log")


def test_term_that_is_random():
    raises_at_use(make(cell=lambda p, cell: np.random.random()), "and .* when asked again; a term depends on")  # noqa: NPY002


def test_term_that_prints():
    raises_at_use(
        make(cell=lambda p, cell: print(cell.rows) or 1.0), "calls print, but a search calls it millions of times"
    )


def test_term_that_uses_what_is_not_defined():
    raises_at_use(make(cell=lambda p, cell: not_defined), "term 'cell' of criterion 'odd' failed: NameError")  # noqa: F821


def test_term_that_uses_what_is_not_defined_in_a_branch_not_taken():
    def cell(p, cell):
        return not_defined if cell.rows > 1000 else 1.0  # noqa: F821

    raises_at_use(make(cell=cell), "'not_defined', which is not defined")


@pytest.mark.parametrize(
    ("name", "function"),
    [("TABLE", lambda p, cell: TABLE[1]), ("LIST", lambda p, cell: LIST[1]), ("X", None)],
)
def test_term_that_uses_an_object_a_kernel_cannot_carry(name, function):
    if function is None:  # an array it can carry
        assert price(X, Y, {}, criterion=make(cell=lambda p, cell: X[3])) == 3.0
    else:
        raises_at_use(make(cell=function), f"uses '{name}', a (dict|list), which a kernel cannot carry")


def test_term_that_calls_through_a_module():
    criterion = make(cell=lambda p, cell: float(len(naive.cut((1.0,), (2.0,)))))
    raises_at_use(criterion, r"calls naive\.cut; .*`from oracles\.naive import cut`")


def test_term_that_does_not_compile(monkeypatch):
    monkeypatch.setenv("GRIDMODL_COMPILE", "always")
    criterion = make(cell=lambda p, cell: float(len(globals())))
    raises_at_use(
        criterion, r"^criterion 'odd' does not compile: .*globals.*\(test_plugins\.py, line \d+: .*; its terms may"
    )


def test_term_of_two_types_does_not_compile(monkeypatch):
    monkeypatch.setenv("GRIDMODL_COMPILE", "always")
    criterion = make(cell=lambda p, cell: "text" if cell.rows == 3 else 1.0)
    raises_at_use(criterion, "criterion 'odd' does not compile.*")


def test_closure_that_a_kernel_cannot_carry():
    table = {1: 2.0}
    raises_at_use(make(cell=lambda p, cell: table[1]), "a dict, which a kernel cannot carry")


def test_errors_at_use_name_the_criterion():
    with pytest.raises(TypeError, match="odd"):
        price(X, Y, {}, criterion=make("odd", cell=lambda p, cell: TABLE[1]))


@pytest.mark.parametrize("problems", [{"classes": 1}, [["classes"]], [{}], None, 3])
def test_problems_that_are_no_set_are_told(problems):
    wrong = type("Odd", (Criterion,), {"name": "odd", "problems": problems, "cell": staticmethod(lambda p, cell: 1.0)})
    with pytest.raises(TypeError, match="declares problems"):
        price(X, Y, {}, criterion=wrong)


def test_class_that_is_wrong_as_written_is_refused_without_a_registry():
    criterion = type("Odd", (Criterion,), {"name": "odd", "problems": {"classes"}, "cell": lambda p, cell: 1.0})
    raises_at_use(criterion, "term 'cell' of criterion 'odd' must be a @staticmethod")


def test_constants_that_were_not_declared():
    criterion = make(cell=lambda p, cell: 1.0)
    criterion.params = lambda self, problem: {"more": 1.0}
    raises_at_use(criterion, r"params of criterion 'odd' returned \['more'\], but its `constants` declare \[\]")


def test_constants_of_another_type():
    criterion = make(cell=lambda p, cell: p.more)
    criterion.constants = {"more": int}
    criterion.params = lambda self, problem: {"more": 1.5}
    raises_at_use(criterion, "'more' of criterion 'odd' must be int, got 1.5")


# Options and look-up.


def test_unknown_option_lists_the_known_ones():
    with pytest.raises(TypeError, match="criterion 'entropy' has no option 'gamma'; its options: alpha, beta"):
        get_criterion("entropy", gamma=1.0)
    with pytest.raises(TypeError, match="criterion 'bic' has no option 'alpha'; its options: none"):
        get_criterion("bic", alpha=1.0)


@pytest.mark.parametrize("value", ["1", None, True, [1.0], 1j, math.nan])
def test_option_of_another_type(value):
    with pytest.raises((TypeError, ValueError), match=r"alpha.* of criterion 'entropy' must be"):
        get_criterion("entropy", alpha=value)


@pytest.mark.parametrize(
    "options", [{"alpha": 0.0}, {"alpha": -1.0}, {"alpha": math.inf}, {"beta": -0.1}, {"beta": math.inf}]
)
def test_option_out_of_range(options):
    (name,) = options
    with pytest.raises(ValueError, match=f"{name} of criterion 'entropy' must be"):
        get_criterion("entropy", **options)


def test_options_take_the_type_of_their_default():
    criterion = get_criterion("entropy", alpha=1, beta=np.float32(2))
    assert criterion.chosen == {"alpha": 1.0, "beta": 2.0}
    assert {type(value) for value in criterion.chosen.values()} == {float}
    with pytest.raises(TypeError, match="'selection' of criterion 'modl' must be bool"):
        get_criterion("modl", selection=0.5)


def test_options_change_the_price():
    prices = [price(X, Y, {"x0": [4.5]}, criterion=get_criterion("entropy", alpha=a)) for a in (0.5, 1.0, 2.0)]
    assert prices == pytest.approx([a * math.log(10) for a in (0.5, 1.0, 2.0)])


def test_criterion_is_a_value():
    one, same, other = (
        get_criterion("entropy"),
        get_criterion("entropy", alpha=0.5),
        get_criterion("entropy", alpha=0.6),
    )
    assert one == same != other
    assert len({one, same, other}) == 2
    assert one != "entropy"
    assert repr(other) == "Entropy(alpha=0.6, beta=0.0)"
    copy = pickle.loads(pickle.dumps(other))  # noqa: S301
    assert copy == other
    assert price(X, Y, {}, criterion=copy) == price(X, Y, {}, criterion=other)


def test_criterion_by_name_class_and_instance():
    options = ["entropy", Entropy, Entropy(), get_criterion("entropy")]
    models = [optimize(X, Y, criterion=criterion) for criterion in options]
    assert len({model.cost for model in models}) == 1
    assert {model.criterion for model in models} == {"entropy"}
    assert len({price(X, Y, {"x0": [2.5]}, criterion=criterion) for criterion in options}) == 1


def test_criterion_that_is_in_no_registry():
    criterion = make(cell=lambda p, cell: 1.0 if cell.counts[0] * cell.counts[1] == 0 else 7.0)
    model = optimize(X, Y, criterion=criterion)
    assert (model.cost, model.null_cost, model.criterion) == (2.0, 7.0, "odd")


def test_one_name_and_several_formulas():
    assert type(get_criterion("modl")) is Modl
    assert type(get_criterion("modl", selection=False)) is ModlGrid
    assert type(criterion_for("modl", "grid")) is ModlGrid
    assert type(criterion_for(ModlGrid(), "classes")) is Modl
    assert type(criterion_for(Modl, "grid")) is ModlGrid
    assert optimize(X, Y, criterion=ModlGrid).cost == optimize(X, Y, criterion="modl").cost


def test_option_that_the_fitting_formula_does_not_have():
    with pytest.raises(TypeError, match="criterion 'modl' has no option 'selection'"):
        optimize(X, Y, criterion=get_criterion("modl", selection=False))


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"unknown criterion 'midl'; known: aic, bayesian-blocks, bic"):
        get_criterion("midl")
    with pytest.raises(TypeError, match="a criterion's name is a string"):
        get_criterion(Modl)


def test_built_in_criteria_are_listed_in_order():
    names = list_criteria()
    assert names == sorted(set(names))
    assert {"modl", "aic", "bic", "mdlp", "gini", "entropy"} <= set(names)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_list_of_one_problem(problem):
    names = list_criteria(problem)
    assert "modl" in names
    assert all(problem in criterion_for(name, problem).problems for name in names)
    for name in set(list_criteria()) - set(names):
        with pytest.raises(ValueError, match=f"criterion '{name}' cannot price '{problem}'"):
            criterion_for(name, problem)


def test_list_of_an_unknown_problem():
    with pytest.raises(ValueError, match="unknown problem 'regression'; known: classes, grid, joint"):
        list_criteria("regression")


def test_plugin_warning_is_a_user_warning():
    assert issubclass(PluginWarning, UserWarning)


@pytest.mark.parametrize(
    "declared",
    [
        {"options": {"alpha": 1.0}, "constants": {"alpha": float}},
        {"options": {"n_rows": 1.0}},
        {"constants": {"a b": float}},
        {"constants": {"class": float}},
    ],
)
def test_names_in_p_must_be_free(declared):
    from gridmodl.plugins import problem_with_class

    cls = type("Clash", (gridmodl.Criterion,), {"name": "clash", "problems": {"classes"}, **declared})
    assert "which is used already or not a valid name" in problem_with_class(cls)


def one(p, cell):
    return 1.0


def made(**written):
    return type("Mine", (gridmodl.Criterion,), {"name": "mine", "problems": {"classes"}, **written})


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"cells": staticmethod(one)}, "cell"),
        ({"cell": staticmethod(one), "gird": staticmethod(one)}, "grid"),
        ({"cell": staticmethod(one), "parts": staticmethod(one)}, "part"),
        ({"cell": staticmethod(one), "flor": staticmethod(one)}, "floor"),
        ({"cell": staticmethod(one), "finished": staticmethod(one)}, "finish"),
        ({"cell": staticmethod(one), "problem": {"grid"}}, "problems"),
        ({"cell": staticmethod(one), "joins_pure_run": True}, "joins_pure_runs"),
        ({"cell": staticmethod(one), "group_by_share": True}, "groups_by_share"),
        ({"cell": staticmethod(one), "constant": {"a": float}}, "constants"),
        ({"cell": staticmethod(one), "option": {"a": 1.0}}, "options"),
        ({"cell": staticmethod(one), "param": lambda self, problem: {}}, "params"),
        ({"cell": staticmethod(one), "check_option": lambda self: None}, "check_options"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_misspelt_terms_and_declarations_are_named_before_anything_is_compiled(monkeypatch, written, meant):
    monkeypatch.setattr("gridmodl.jit.template.bind", None)
    (name,) = set(written) - {"cell"}
    message = f"Mine has '{name}', which no search knows; did you mean '{meant}'. If it is a helper, name it _{name}"
    for mine in (made(**written), type("Mine", (made(**written),), {"name": "heir"})):
        with pytest.raises(TypeError, match=message):
            optimize(X, Y, criterion=mine)
        with pytest.raises(AssertionError, match=message):
            gridmodl.testing.check_criterion(mine)


def test_a_criterion_that_has_no_name_because_it_is_misspelt():
    mine = type("Mine", (gridmodl.Criterion,), {"nam": "mine", "problems": {"classes"}, "cell": staticmethod(one)})
    with pytest.raises(TypeError, match="Mine has 'nam', which no search knows; did you mean 'name'"):
        criterion_for(mine.__new__(mine), "classes")


def test_a_misspelt_problem_is_answered_by_the_right_one():
    with pytest.raises(TypeError, match=r"known: classes, .*; did you mean 'classes'"):
        optimize(X, Y, criterion=made(cell=staticmethod(one), problems={"clases"}))


def test_a_criterion_without_terms_is_refused():
    with pytest.raises(TypeError, match="criterion 'mine' has no term, so that every partition would cost 0; write"):
        optimize(X, Y, criterion=made())


def test_helpers_of_any_other_name_are_the_author_s_own():
    helpers = [
        "_cells",
        "_cell",
        "helper",
        "cost_of_cell",
        "n_cells",
        "log_parts",
        "alpha",
        "reference",
        "title",
        "loss",
    ]
    mine = made(cell=staticmethod(one), **dict.fromkeys(helpers, staticmethod(one)))
    assert criterion_for(mine, "classes").name == "mine"


# Terms that write into what they are handed.


def writes_once(p, cell):
    cell.counts[0] += 1
    return 1.0


def sorts(p, cell):
    cell.counts.sort()
    return 1.0


def writes_into_p(p, cell):
    p.class_rows[0] = 7
    return 1.0


def writes_where_many(p, cell):
    if cell.rows > 3 and cell.counts[0] > 0:
        cell.counts[0] = 0
    return 1.0


@pytest.mark.parametrize("term", [writes_once, sorts, writes_into_p, writes_where_many], ids=lambda term: term.__name__)
def test_a_term_that_writes_into_what_it_is_handed_is_named(term):
    what = r"p\.class_rows" if term is writes_into_p else r"cell\.counts"
    message = f"term 'cell' of criterion 'mine' writes into {what}, which the search goes on with; keep"
    with pytest.raises(AssertionError, match=message):
        gridmodl.testing.check_criterion(made(cell=staticmethod(term)))
    with pytest.raises(TypeError, match=message):
        optimize(X, Y, criterion=made(cell=staticmethod(term)))


def test_a_term_that_writes_into_few_cells_is_found_on_random_data():
    """A term wrote into the list that the same check then made its array of, and nothing had changed."""

    def writes_where_three(p, cell):
        if cell.rows == 3:
            cell.counts[0] = 0
        return 1.0

    with pytest.raises(AssertionError, match=r"term 'cell' of criterion 'mine' writes into cell\.counts"):
        gridmodl.testing.check_criterion(made(cell=staticmethod(writes_where_three)))


def test_params_that_fail_name_the_criterion():
    class Failing(gridmodl.Criterion):
        name = "failing"
        problems = {"classes"}

        cell = staticmethod(lambda p, cell: 1.0)

        def params(self, problem):
            raise KeyError("no table")

    with pytest.raises(TypeError, match="params of criterion 'failing' failed: KeyError"):
        gridmodl.optimize([1.0, 2.0], [0, 1], criterion=Failing)


def test_a_term_that_fails_on_large_weights_alone_blames_the_weights():
    class Steep(gridmodl.Criterion):
        name = "steep"
        problems = {"classes"}

        @staticmethod
        def cell(p, cell):
            return math.exp(cell.rows / 1e8)

    assert gridmodl.optimize([1.0, 2.0], [0, 1], criterion=Steep, weights=[10**8, 10**8]).n_rows == 2 * 10**8
    with pytest.raises(ValueError, match=r"weights sum to 200000000000 rows, which criterion 'steep' .*536870912"):
        gridmodl.optimize([1.0, 2.0], [0, 1], criterion=Steep, weights=[10**11, 10**11])


def test_a_term_that_fails_on_a_pure_cell_is_named_before_it_compiles():
    class Log(gridmodl.Criterion):
        name = "log"
        problems = {"classes"}

        @staticmethod
        def cell(p, cell):
            return -math.log(cell.counts[0])

    with pytest.raises(TypeError, match="term 'cell' of criterion 'log'"):
        gridmodl.optimize([1.0, 2.0, 3.0], [0, 1, 0], criterion=Log)


# Models whose plugin is not installed.


class Gone(Criterion):
    """Found under a plugin's name, in all problems that models below ask for."""

    name = "gone"
    problems = {"classes", "grid", "joint"}
    scale = 1.0

    @staticmethod
    def cell(p, cell):
        cost = 1.0
        for n in cell.counts:
            cost -= n * math.log(n / (cell.rows + 1.0)) if n > 0 else 0.0
        return cost

    @staticmethod
    def predictive(p, cell, code):
        return (cell.counts[code] + 1.0) / (cell.rows + p.n_classes)


@pytest.fixture
def orphans(monkeypatch):
    """Models and an average that a plugin has found, read from their files without it."""
    rows = {"x": np.arange(60), "c": np.array(list("abcdef"))[np.arange(60) % 6]}
    target = np.arange(60) // 20 % 2
    with monkeypatch.context() as patch:
        found = plugins._registry()
        patch.setattr(plugins, "_registry", lambda: {**found, "gone": dict.fromkeys(Gone.problems, Gone)})
        files = {
            "one": optimize({"x": rows["x"]}, target, criterion="gone").to_json(),
            "grid": optimize(rows, target, criterion="gone", search="merge").to_json(),
            "joint": optimize(rows, criterion="gone", search="merge").to_json(),
        }
        average = gridmodl.average({"x": rows["x"]}, target, criterion="gone").to_json()
    models = {name: gridmodl.Model.from_json(text) for name, text in files.items()}
    return {**models, "average": gridmodl.Average.from_json(average), "rows": rows, "y": target}


NEEDING = {
    "explain": lambda them: them["one"].explain(),
    "explain with its data": lambda them: them["one"].explain(data={"x": them["rows"]["x"]}, target=them["y"]),
    "explain of a grid": lambda them: them["grid"].explain("x"),
    "edit": lambda them: them["one"].edit("x", merge=[0, 1]),
    "hierarchy": lambda them: them["joint"].hierarchy(),
    "coarsen": lambda them: them["joint"].coarsen(max_cells=2),
    "compare": lambda them: them["one"].compare({"x": them["rows"]["x"]}, them["y"]),
    "compare of a grid": lambda them: them["grid"].compare(them["rows"], them["y"]),
    "smoothing": lambda them: them["one"].predict_proba({"x": them["rows"]["x"]}, smoothing=True),
    "bands": lambda them: them["average"].band([1.0]),
    "sample of an average": lambda them: them["average"].sample(2),
}


@pytest.mark.parametrize("what", NEEDING)
def test_what_needs_the_criterion_of_an_absent_plugin_says_so(orphans, what):
    with pytest.raises(MissingCriterion, match=r"^criterion 'gone', which found the model, is not installed here"):
        NEEDING[what](orphans)


@pytest.mark.parametrize("name", ["one", "grid", "joint"])
def test_a_model_of_an_absent_plugin_cannot_be_checked_and_is_not_called_wrong(orphans, name):
    model = orphans[name]
    rows = {column: orphans["rows"][column] for column in model.partitions}
    target = None if name == "joint" else orphans["y"]
    said = "^the model cannot be checked here: criterion 'gone', which found the model, is not installed here"
    with pytest.raises(MissingCriterion, match=said):
        gridmodl.verify(model, rows, target)
    if name == "joint":
        return
    lazy = pl.LazyFrame({**rows, "y": target})
    with pytest.raises(MissingCriterion, match=said):
        gridmodl.verify(model, lazy, "y")


def test_a_model_of_a_class_that_is_not_installed_is_checked_in_its_process():
    class Own(Criterion):
        """A class of a notebook."""

        name = "own"
        problems: ClassVar = {"classes"}

        @staticmethod
        def cell(p, cell):
            return float(p.n_classes * 3 + (min(cell.counts[0], cell.counts[1])))

        @staticmethod
        def predictive(p, cell, c):
            return (cell.counts[c] + 2.0) / (cell.rows + 4.0)

    x = np.arange(40.0)
    y = x > 20
    model = gridmodl.optimize(x, y, criterion=Own())
    assert gridmodl.verify(model, x, y)
    assert not gridmodl.verify(replace(model, cost=model.cost - 1.0), x, y)
    np.testing.assert_allclose(model.predict_proba([1.0], smoothing=True), [[23 / 25, 2 / 25]])
    read = gridmodl.Model.from_json(model.to_json())
    with pytest.raises(MissingCriterion, match="criterion 'own', which found the model, is not installed here"):
        gridmodl.verify(read, x, y)


def test_what_needs_no_price_works_without_the_plugin(orphans):
    model, rows = orphans["one"], {"x": orphans["rows"]["x"]}
    assert model.predict_proba(rows).shape == (60, 2)
    assert "gone" in model.summary()
    assert "CASE" in model.to_sql("duckdb")
    assert model.compare(rows, orphans["y"], refit=False).columns["x"].drift.tolist() == [False]
    assert "gone" in model.to_html()
    assert orphans["average"].predict_proba(rows).shape == (60, 2)
