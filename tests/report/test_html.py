"""The text of HTML pages: whole, safe, small, and with the numbers of the model."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from report import htmlpages
from report.htmlpages import EVIL, VALUES, Page, same_columns, table_of, without_number

import gridmodl
from gridmodl import Model, Models
from gridmodl.report.html.page import SCRIPTS, chart_script, script_json
from gridmodl.report.html.plain import MAX_TEXT, plain_number, plain_values
from gridmodl.report.html.variables import MAX_CLASSES
from gridmodl.report.pictures import OKABE_ITO

PROJECT = Path(__file__).parent.parent.parent


def section_of(model: Any) -> dict[str, Any]:
    return Page(model.to_html()).section


@pytest.mark.parametrize("name", htmlpages.PAGES)
def test_page_is_whole_and_asks_for_nothing(name: str) -> None:
    page = Page(htmlpages.text_of(name))
    tags = [tag for tag, _ in page.tags]
    assert {"html", "header", "nav", "main", "footer", "noscript", "h1"} <= set(tags)
    assert tags.count("script") == 3
    assert not {"link", "img", "iframe", "object", "embed", "base", "form", "b", "i"} & set(tags)
    for _, attributes in page.tags:
        assert not {"src", "srcset", "style", "action"} & set(attributes)
        assert not [attribute for attribute in attributes if attribute.startswith("on")]
        assert attributes.get("href", "#") == "#content" or attributes.get("href", "#") == "#"
    assert dict(page.tags)["html"] == {"lang": "en"}


@pytest.mark.parametrize("name", htmlpages.PAGES)
def test_policy_names_the_scripts_and_the_style_and_nothing_else(name: str) -> None:
    page = Page(htmlpages.text_of(name))
    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))

    def hash_of(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert rules["default-src"] == "'none'"
    assert rules["script-src"].split() == [hash_of(text) for text in page.texts["script"][1:]]
    assert rules["style-src"].split() == [hash_of(text) for text in page.texts["style"]]
    assert "unsafe" not in page.policy


def test_scripts_of_the_page_make_no_markup_and_no_code() -> None:
    own = Page(htmlpages.text_of("density")).texts["script"][2]
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "section.write", "eval(", "Function(", "fetch("):
        assert word not in own


def test_page_has_the_licences_of_what_is_in_it() -> None:
    (comment,) = Page(htmlpages.text_of("density")).comments
    for words in ("University of Washington Interactive Data Lab", "Mike Bostock", "BSD-3-Clause", "ISC", "MIT"):
        assert words in comment


@pytest.mark.parametrize("name", ["models", "hostile"])
def test_tables_of_models_are_theirs(name: str) -> None:
    made = htmlpages.ALL[name]()
    section = Page(htmlpages.text_of(name)).section
    assert [variable["worth"] for variable in section["variables"]] == pytest.approx(
        [model.level for model in made.values()], rel=1e-5
    )
    for (column, model), variable in zip(made.items(), section["variables"], strict=True):
        assert variable["name"] == str(column) if len(str(column)) <= MAX_TEXT else "…" in variable["name"]
        same_columns(table_of(section, variable["tables"][0]), model.table(frame="arrays"))


@pytest.mark.parametrize("name", ["grid", "joint", "numerical", "grouped", "semi"])
def test_tables_of_a_model_are_its_own(name: str) -> None:
    model = htmlpages.ALL[name]()
    section = Page(htmlpages.text_of(name)).section
    shown = {variable["name"]: variable for variable in section["variables"]}
    expected = [*(model.informative or model.partitions), *([model.target.name] if model.target is not None else [])]
    assert set(shown) == {str(column) for column in expected}
    for column in expected:
        same_columns(table_of(section, shown[str(column)]["tables"][0]), model.table(column, frame="arrays"))


def test_head_says_what_was_asked_and_found() -> None:
    model = htmlpages.grid()
    facts = dict(Page(htmlpages.text_of("grid")).section["facts"])
    assert facts["Problem"] == "two or more input columns, class target"
    assert facts["Criterion"] == "modl(selection=True)"
    assert (facts["Rows"], facts["Classes"], facts["Informative"]) == ("900", "3", "3 of 4 columns")
    assert facts["Level"] == f"{model.level:.4f}"
    assert facts["Cost"] == f"{model.cost:,.2f}"
    assert facts["Proof"] == "not proven"
    semi = htmlpages.semi()
    rows = dict(Page(htmlpages.text_of("semi")).section["facts"])["Rows"]
    assert rows == f"600, {semi.class_rows.sum()} of them labelled"


def test_many_models_say_whose_seconds_and_whose_woe_these_are() -> None:
    section = Page(htmlpages.text_of("models")).section
    assert dict(section["facts"])["Search"].endswith(" s summed over columns")
    assert section["variables"][0]["tables"][0]["note"] == (
        "Event: yes; woe, iv and lift are those of the event against the rest."
    )
    assert dict(section["facts"])["Event"] == "yes"


def test_columns_left_out_have_their_reasons() -> None:
    section = Page(htmlpages.text_of("grid")).section
    tables = {record["caption"]: table_of(section, record) for record in section["tables"]}
    assert tables["Columns left out"] == {"column": ["noise"], "reason": [htmlpages.grid().left_out["noise"]]}
    assert tables["Classes"]["rows"] == htmlpages.grid().class_rows.tolist()


def test_columns_without_a_model_have_their_reasons() -> None:
    model = next(iter(htmlpages.models().values()))
    section = section_of(Models({}, {"<b>": ValueError("no <i>numbers</i>")}))
    assert table_of(section, section["tables"][0])["reason"] == ["no <i>numbers</i>"]
    assert section["variables"] == []
    assert section_of(Models({"x": model}, {}))["variables"][0]["name"] == "x"


def test_hostile_names_are_data_only() -> None:
    text = htmlpages.text_of("hostile")
    page = Page(text)
    assert page.section["variables"][0]["name"] == EVIL
    label = "".join(page.section["variables"][0]["tables"][0]["data"][0])
    assert all(value[:20] in label or repr(value) in label for value in VALUES)
    assert "alert(2)" in page.texts["script"][0]
    for script in page.texts["script"][1:]:  # our own and Vega's, which are the same on every page
        text = text.replace(script, "")
    assert not re.search(r"<script>alert|<b>|<img|<!--\"", text)


def test_hostile_title_and_summary_are_text() -> None:
    text = htmlpages.hostile_models().to_html(title=f"{EVIL}\ud800")
    page = Page(text)
    assert page.texts["title"] == [f"{EVIL}?"]
    assert EVIL.strip() in page.texts["pre"][0]


def test_long_names_are_cut() -> None:
    model = htmlpages.semi()
    section = section_of(Models({"n" * 10_000: model}, {}))
    assert len(section["variables"][0]["name"]) == MAX_TEXT


def test_json_may_stand_in_a_script() -> None:
    record = {"<": ["</script>", "<!--", "&", "\u2028\u2029", "\ud800", 1.5, None]}
    text = script_json(record)
    assert not set(text) & set("<>&\u2028\u2029")
    assert text.isascii()
    assert json.loads(text) == record
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json(float("nan"))


def test_numbers_are_short_and_finite() -> None:
    assert plain_values(np.array([1.0, 0.123456789, np.nan, np.inf, -np.inf, 1e300])) == [
        1, 0.123457, None, "inf", "-inf", 1e300,
    ]  # fmt: skip
    assert plain_values(np.array([2**60, 3])) == [2**60, 3]
    assert isinstance(plain_number(3.0), int)
    assert plain_values([1, "a", None]) == ["1", "a", "None"]


def test_merges_are_those_of_the_hierarchy_with_the_labels_of_coarser_grids() -> None:
    model = htmlpages.joint()
    section = Page(htmlpages.text_of("joint")).section
    hierarchy, merges = model.hierarchy(), section["grid"]["merges"]
    assert [merge["cost"] for merge in merges] == [step.cost for step in hierarchy.steps]
    kept = [section["grid"]["information"], *(merge["information"] for merge in merges)]
    assert kept == pytest.approx(hierarchy.information, rel=1e-5, abs=1e-5)
    labels = {name: dict(enumerate(model.partitions[name].names)) for name in model.cells.names}
    for n, (merge, step) in enumerate(zip(merges, hierarchy.steps, strict=True), start=1):
        assert (merge["stays"], merge["goes"]) == (step.stays, step.goes)
        del labels[step.name][step.goes]
        labels[step.name][step.stays] = merge["label"]
        if n % 5 == 0 or n == len(merges):
            coarse = model.coarsen(max_parts=hierarchy.shape_at(n))
            for name, parts in labels.items():
                assert set(map(without_number, parts.values())) == set(
                    map(without_number, coarse.partitions[name].names)
                )


def test_missing_values_stay_in_the_labels_of_merges() -> None:
    x = np.where(np.arange(400) % 4 == 0, np.nan, np.arange(400) % 4)
    grid = section_of(gridmodl.optimize({"x": x, "y": np.arange(400) % 4}))["grid"]
    k = [variable["name"] for variable in grid["variables"]].index("x")
    assert grid["variables"][k]["labels"][0] == "missing"
    assert [merge["label"] for merge in grid["merges"] if merge["variable"] == k][-1] == "(-inf, inf) or missing"


def test_parts_without_rows_and_models_that_tell_nothing() -> None:
    own = Model.from_partitions([1.0, 2.0, 3.0, 4.0], list("aabb"), {"x0": [2.5, 10.0]})
    section = section_of(own)
    same_columns(table_of(section, section["variables"][0]["tables"][0]), own.table(frame="arrays"))
    nothing = gridmodl.optimize({"a": [1.0, 2.0, 1.0, 2.0], "b": [1.0, 1.0, 2.0, 2.0]})
    assert section_of(nothing)["variables"] == []
    assert section_of(nothing)["grid"] is None


def test_limits_are_among_the_facts() -> None:
    numbers, classes = np.arange(40.0), np.arange(40) // 20
    assert "Limits" not in dict(section_of(gridmodl.optimize(numbers, classes))["facts"])
    found = gridmodl.optimize(numbers, classes, min_rows=5, max_parts=3)
    assert dict(section_of(found)["facts"])["Limits"] == "at most 3 parts, at least 5 rows in each part"


def test_one_class_and_a_hundred() -> None:
    rng = np.random.default_rng(0)
    alone = gridmodl.optimize([1.0, 2.0, 3.0], ["a", "a", "a"])
    assert section_of(alone)["variables"][0]["chart"]["names"] == ["a"]
    assert "3 rows, 1 class\n" in alone.summary()
    label = rng.integers(0, 100, 3000)
    section = section_of(gridmodl.optimize(label + rng.random(3000), label))
    table = section["variables"][0]["tables"][0]
    assert len([key for key in table_of(section, table) if key.startswith("share_")]) == MAX_CLASSES
    first, event = f"The {MAX_CLASSES} largest of 100 classes are shown.", "Event: 99; lift is that of the event;"
    assert table["note"].startswith(f"{first} {event}")
    assert section["variables"][0]["chart"]["has_other"]
    assert len(section["tables"][0]["data"][0]) == 100


def test_densities_of_dates_and_durations() -> None:
    days = pd.Series(pd.to_datetime("2024-01-01") + pd.to_timedelta([*range(50), *range(400, 410)], unit="D"))
    chart = section_of(gridmodl.optimize_density(days))["variables"][0]["chart"]
    assert chart["is_date"]
    assert chart["edges"][0] == (days.min() - pd.Timedelta(hours=12)).value // 10**6  # half a step of the lattice
    assert chart["edges"] == sorted(chart["edges"])
    assert (chart["title"], chart["unit"]) == ("density per day", "")
    chart = section_of(gridmodl.optimize_density(days - days.min()))["variables"][0]["chart"]
    assert not chart["is_date"]
    assert (chart["edges"][0], chart["edges"][-1], chart["unit"]) == (-0.5, 409.5, "days")


@pytest.mark.parametrize("make", [gridmodl.optimize, gridmodl.optimize_density])
def test_tables_of_dates_name_the_unit_of_widths_and_densities(make: Any) -> None:
    days = np.concatenate([np.repeat(np.arange(50), 4), np.arange(50, 400, 3)])
    sections = [section_of(make(x)) for x in (days.astype("M8[D]").astype("M8[us]"), days.astype(float))]
    labels = [[one["label"] for one in section["heads"][0]] for section in sections]
    assert {"width, days", "density per day"} <= set(labels[0])
    assert {"width", "density"} <= set(labels[1])
    of_days, of_numbers = (table_of(section, section["variables"][0]["tables"][0]) for section in sections)
    assert of_days["width"] == pytest.approx(of_numbers["width"])
    assert of_days["density"] == pytest.approx(of_numbers["density"])


@pytest.mark.parametrize("name", ["grid", "joint", "numerical", "grouped", "semi"])
def test_model_that_was_read_makes_the_same_page(name: str) -> None:
    model = htmlpages.ALL[name]()
    assert Model.from_json(model.to_json()).to_html() == htmlpages.text_of(name)


def test_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("old")
    text = htmlpages.density().to_html(path)
    assert path.read_text(encoding="utf-8") == text
    assert htmlpages.density().to_html(str(path)) == text
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    with pytest.raises(OSError, match="nowhere"):
        htmlpages.density().to_html(tmp_path / "nowhere" / "page.html")


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    chart_script.cache_clear()
    with pytest.raises(ImportError, match=r"gridmodl\[html\]"):
        htmlpages.density().to_html()


def test_a_thousand_columns_are_below_20_megabytes() -> None:
    text = htmlpages.text_of("thousand")
    assert len(text.encode()) < 20e6
    assert len(Page(text).section["variables"]) == 1000


def test_wheel_has_the_template() -> None:
    wheel = pytest.importorskip("hatchling.builders.wheel", reason="needs hatchling, which builds the wheel")
    builder = wheel.WheelBuilder(str(PROJECT))
    packed = {file.distribution_path.replace("\\", "/") for file in builder.recurse_included_files()}
    parts = ["page.html", "style.css", "licences.txt", *(f"{name}.js" for name in SCRIPTS)]
    assert {f"gridmodl/report/html/template/{part}" for part in parts} <= packed


def test_classes_have_the_colours_of_plots_and_notebooks():
    page = gridmodl.optimize([1, 2], [0, 1]).to_html()
    (palette,) = re.findall(r"const PALETTE = (\[.*?\]);", page)
    assert [colour.upper() for colour in json.loads(palette)][:-1] == list(OKABE_ITO)


@pytest.mark.parametrize("name", ["drift", "hostile drift", "grid drift"])
def test_tables_of_a_comparison_are_its_own(name: str) -> None:
    found: gridmodl.Comparison = htmlpages.ALL[name]()
    section = Page(htmlpages.text_of(name)).section
    assert [variable["worth"] for variable in section["variables"]] == pytest.approx(
        [float(one.psi.max()) for one in sorted(
            found.all_parts, key=lambda one: ("drift" not in one.verdicts, -float(one.psi.max())))], rel=1e-5
    )  # fmt: skip
    by_name = {str(one.name): one for one in found.all_parts}
    for variable in section["variables"]:
        if variable["name"] in by_name:
            table = table_of(section, variable["tables"][0])
            assert table["rows_new"] == by_name[variable["name"]].new_rows[0].tolist()
    (overview,) = section["tables"]
    assert len(table_of(section, overview)["psi"]) == len(found.all_parts)
