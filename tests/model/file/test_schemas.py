"""The published JSON Schemas: they take every file that gridmodl writes, and refuse nothing that it reads."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from model.file import test_model_file as written
from model.file.old_answers import answers_of, questions
from model.file.test_model_file import (
    MUTATIONS,
    TARGET_MUTATIONS,
    WITHOUT_CLASSES,
    categorical,
    model_of,
    numerical,
    of_problem,
)

import gridmodl
from gridmodl import DensityModel, Model, Models
from gridmodl.density import records as densities
from gridmodl.model.file import ModelFileError, collections, partitions, proofs, records, values
from gridmodl.model.file.schemas import VERSIONS
from gridmodl.model.file.tags import KNOWN_TAGS
from gridmodl.search.proof import Certificate

OLD = sorted((Path(__file__).parent / "old").glob("*.json"))
KINDS = [(kind, version) for kind, versions in VERSIONS.items() for version in versions]
VALIDATORS = {key: Draft202012Validator(gridmodl.json_schema(*key)) for key in KINDS}
BY_NAME = {(kind, repr(version)): validator for (kind, version), validator in VALIDATORS.items()}


def is_valid(text, kind="model"):
    record = json.loads(text)
    key = (kind, repr(record.get("version")))
    return BY_NAME[key].is_valid(record) if key in BY_NAME else False


def assert_valid(text, kind="model"):
    record = json.loads(text)
    VALIDATORS[kind, record["version"]].validate(record)


def fields_of(schema, choice=slice(None), base=None):
    """The names of all fields that an object may have, in it and in what it refers to."""
    base = schema if base is None else base
    found = set(schema.get("properties", ()))
    for other in [*schema.get("allOf", ()), *schema.get("oneOf", ())[choice]]:
        name, _, path = other["$ref"].partition("#/")
        home = inside = STORED[name] if name else base
        for key in path.split("/") if path else ():
            inside = inside[key]
        found |= fields_of(inside, base=home)
    return found


STORED = {schema["$id"]: schema for key in KINDS for schema in
          [gridmodl.json_schema(*key), *gridmodl.json_schema(*key)["$defs"].values()] if "$id" in schema}  # fmt: skip


@pytest.mark.parametrize("key", KINDS)
def test_it_is_a_schema_that_stands_alone(key):
    schema = gridmodl.json_schema(*key)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:gridmodl:schema:{key[0]}:{key[1]}"
    assert schema["title"]
    for field, about in schema["properties"].items():
        assert "description" in about or "const" in about or "$ref" in about, field
    references = {text.split("#")[0] for text in all_references(schema)} - {""}
    assert references <= {schema["$id"], *schema["$defs"]}


def all_references(given_):
    if isinstance(given_, dict):
        if "$ref" in given_:
            yield given_["$ref"]
        given_ = list(given_.values())
    for child in given_ if isinstance(given_, list) else ():
        yield from all_references(child)


def test_the_fields_are_those_that_are_read():
    known = {1: records.FIELDS_1, 2: records.FIELDS_2, 3: records.FIELDS_3}
    known |= {4: records.FIELDS_5, 5: records.FIELDS_5, 6: records.FIELDS}
    for version, fields in known.items():
        schema = STORED[f"urn:gridmodl:schema:model:{version}"]
        assert fields_of(schema) == {*fields, *(["target_name", "unproven"] if version == 6 else [])}
        assert VERSIONS["model"] == tuple(records.READERS)
    of_version = {1: partitions.PARTITION_FIELDS_2, 3: partitions.PARTITION_FIELDS_4}
    of_version |= {5: partitions.PARTITION_FIELDS_5, 6: partitions.PARTITION_FIELDS}
    for version, fields in of_version.items():
        schema = STORED[f"urn:gridmodl:schema:partition:{version}"]
        more = {1: set(), 3: {"unlabelled"}}.get(version, {"unlabelled", "log_value_factorials"})
        more |= {"names"} if version == 6 else set()
        widths = {"widths", "step", "domain", "lowest", "highest"} if version == 6 else set()
        assert fields_of(schema, slice(0, 1)) == {*fields["numerical"], *more, *widths}
        others = {"others"} if version == 6 else set()
        assert fields_of(schema, slice(1, 2)) == {*fields["categorical"], *more, *others}
        assert ("ordinal" in fields) == (version == 6)
    assert fields_of(schema, slice(2, 3)) == {*fields["ordinal"], *more}
    three, four, five, six = (STORED[f"urn:gridmodl:schema:model:{version}"] for version in (3, 4, 5, 6))
    for schema in (three, five, six):
        optimum = schema["$defs"]["fields"]["properties"]["optima"]["items"]["properties"]
        assert set(optimum) == set(records.OPTIMUM)
    assert set(STORED["urn:gridmodl:schema:model:2"]["properties"]["optima"]["items"]["properties"]) == set(
        records.OPTIMUM_2
    )
    assert set(four["$defs"]["certificate"]["properties"]) == set(proofs.CERTIFICATE_FIELDS_5)
    assert set(six["$defs"]["certificate"]["properties"]) == set(proofs.CERTIFICATE_FIELDS)
    assert set(gridmodl.json_schema("density")["properties"]) == set(densities.FIELDS)
    assert VERSIONS["density"][-1] == densities.VERSION
    assert set(gridmodl.json_schema("models")["properties"]) == set(collections.FIELDS)
    assert VERSIONS["models"][-1] == collections.VERSION


def test_the_values_are_those_that_are_read():
    defs = STORED["urn:gridmodl:schema:value:1"]["$defs"]
    assert set(defs["tagged"]["properties"]) == set(KNOWN_TAGS)
    assert defs["dtype"]["pattern"].strip("^$").replace("(", "(?:").replace("(?:?:", "(?:") == (
        values._DTYPE.pattern.replace("([<>]?)", "[<>]?").replace("(", "(?:").replace("(?:?:", "(?:")
    )


@settings(max_examples=25, deadline=None)
@given(written.models())
def test_any_model_that_is_written_is_valid(model):
    assert_valid(model.to_json())


@pytest.mark.parametrize("problem", WITHOUT_CLASSES)
def test_models_without_classes_are_valid(problem):
    model = of_problem(problem)
    assert_valid(replace(model, optima=(replace(model, cost=3.0),)).to_json())


def test_models_with_certificates_and_unlabelled_rows_are_valid():
    proven = replace(model_of(numerical()), certificate=Certificate("slopes", 2.0, (0.5,), (1.0,), 5, 2, "auto"))
    assert_valid(proven.to_json())
    semi = replace(numerical(counts=[[1, 1], [1, 1], [1, 1]]), unlabelled=np.array([1, 0, 2]))
    assert_valid(replace(model_of(semi), problem="semi", n_rows=9).to_json())
    assert_valid(gridmodl.optimize(np.arange(8.0), np.repeat([0, 1], 4)).to_json())


def test_stability_over_periods_is_valid():
    x, month = np.tile(np.arange(8), 60), np.arange(480) // 120
    y = np.where(month == 3, x < 4, x >= 4)
    model = gridmodl.optimize(x, y, stable_over=month)
    assert model.stability.broken == ["3"]
    assert_valid(model.to_json())
    record = json.loads(model.to_json())
    record["stability"]["breaks"][0]["period"] = "4"
    with pytest.raises(gridmodl.ModelFileError, match="must be of periods that are compared"):
        Model.from_json(json.dumps(record))
    record["stability"] = None
    with pytest.raises(gridmodl.ModelFileError, match="there is no stability over periods"):
        Model.from_json(json.dumps(record))


def test_values_of_every_type_are_valid():
    values = [
        "a", "\ud800", 2**80, float("inf"), b"a", dt.date(2020, 1, 1), dt.datetime(2020, 1, 1), True, 1.5, -7, None,
        dt.datetime(2020, 1, 1, tzinfo=written.PARIS), dt.timedelta(-1, 5, 6), Decimal("2.50"), (1, ("a", None)),
        np.float32(0.1), np.datetime64("2020-01-01"), pd.Timestamp(5), pd.Timestamp(7, tz="UTC"), pd.Timedelta(5),
        *written.INTERVALS_AND_PERIODS, Fraction(1, 3), UUID(int=5), dt.time(1), dt.time(1, tzinfo=dt.UTC),
    ]  # fmt: skip
    assert_valid(model_of(categorical(groups=[(value,) for value in values])).to_json())
    for bounds in (
        np.array([1, 2], "M8[us]"),
        np.array([1, 2], "m8[ns]"),
        np.array([1, 2**63], "u8"),
        np.array([0.1], ">f4"),
    ):
        assert_valid(model_of(numerical(bounds=bounds, special=bounds[:1], missing=0)).to_json())


def test_densities_and_collections_are_valid():
    density = gridmodl.optimize_density(np.array([0.0, 0.1, 0.2, 0.25, 0.3, 5.0, 9.0]))
    assert_valid(density.to_json(), "density")
    models = Models({"x": model_of(numerical()), "c": model_of(categorical())}, {("a", 1): ValueError("why\ud800")})
    assert_valid(models.to_json(), "models")
    assert_valid(Models({"x": model_of(numerical())}, {}).to_json(), "models")


@pytest.mark.parametrize(("path", "value", "message"), MUTATIONS)
def test_what_the_schema_refuses_is_refused(path, value, message):
    """And what the reader takes, the schema takes."""
    text = written.mutated(path, value)
    try:
        Model.from_json(text)
    except ModelFileError:
        return
    assert_valid(text)


def test_the_schema_refuses_most_of_what_is_refused():
    """What it cannot see is that counts add up, bounds ascend, and numbers of parts exist."""
    refused = [not is_valid(written.mutated(path, value)) for path, value, message in MUTATIONS[::4] if message]
    assert np.mean(refused) > 0.55
    for problem, path, value, _ in TARGET_MUTATIONS:
        record = json.loads(of_problem(problem).to_json())
        inside = record
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = value
        if not is_valid(json.dumps(record)):
            with pytest.raises(ModelFileError):
                Model.from_json(json.dumps(record))


def test_the_schema_refuses_most_values_that_no_gridmodl_wrote():
    validator = Draft202012Validator(STORED["urn:gridmodl:schema:value:1"])
    refused = [value for value in written.BAD_VALUES if not validator.is_valid(value)]
    assert len(refused) > 30
    for value in refused:
        with pytest.raises(ModelFileError):
            Model.from_json(written.mutated(("partitions", 1, "groups", 1, 0), value))


@settings(max_examples=80, deadline=None)
@given(written.paths, written.junk)
def test_junk_that_is_read_is_valid(path, value):
    if path[-1] in ("groups", "special") and path not in ((*written.C, "groups"), (*written.X, "special")):
        return
    text = written.mutated(path, value)
    try:
        Model.from_json(text)
    except ModelFileError:
        return
    assert_valid(text)


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.stem)
def test_files_of_old_versions_are_read_and_valid(path):
    """Each was written by the gridmodl of its time."""
    record = json.loads(path.read_text(encoding="utf-8"))
    kind, version = path.stem.split("-")[:2]
    assert record["version"] == int(version)
    VALIDATORS[kind, record["version"]].validate(record)
    read = {"model": Model, "models": Models, "density": DensityModel}[kind].from_json(path)
    assert read.summary()
    again = json.loads(read.to_json())
    VALIDATORS[kind, records.VERSION].validate(again)
    pairs = zip(again["models"], record["models"], strict=True) if kind == "models" else [(again, record)]
    for new, old in pairs:
        check_rewritten(new, old)


def check_rewritten(new, old):
    """All that an old file says is said again."""
    assert new["version"] == records.VERSION
    for field in set(old) - {"version", "partitions", "partition", "optima", "target", "certificate"}:
        assert new[field] == old[field]
    if old.get("certificate") is not None:  # it had no limits of later versions
        more = {"missing": "limited", "min_events": [], "min_difference": 0.0, "fixed": [], "allowed": None}
        more |= {"min_period_rows": None, "order": None}
        assert new["certificate"] == {**more, **old["certificate"]}
    for kept in ("partition", "target"):
        if isinstance(old.get(kept), dict):
            check_partition(new[kept], old[kept])
    for one, other in zip(new.get("partitions", []), old.get("partitions", []), strict=True):
        check_partition(one, other)
    for one, other in zip(new.get("optima", []), old.get("optima", []), strict=True):
        assert one["cost"] == other["cost"]


def check_partition(new, old):
    """The sum of log n! means something where values are counted, and only of categorical variables."""
    is_read = old["kind"] == "categorical" and old.get("n_values") is not None
    fields = set(old) - (set() if is_read else {"log_value_factorials"})
    assert {field: new[field] for field in fields} == {field: old[field] for field in fields}
    assert new["value_rows"] == old.get("value_rows")
    if old["kind"] == "numerical":
        assert new["default"] == (0 if old["missing"] is None else None)


ANSWERS = {
    version: json.loads((Path(__file__).parent / "old" / "answers" / f"version-{version}.json").read_text())
    for version in (4, 5)
}


@pytest.mark.parametrize("name", ANSWERS[4])
def test_old_files_cost_what_they_did(name):
    """Costs of merges and of alternatives, as the gridmodl of version 4 had them, from the file alone."""
    old = Model.from_json(Path(__file__).parent / "old" / f"{name}.json")
    for model in (old, Model.from_json(old.to_json())):
        for question, costs in ANSWERS[4][name].items():
            if question == "merges":
                found = [merge.cost for merge in model.hierarchy().steps]
            elif question == "cost":
                found = model.cost
            else:
                found = [one.cost for one in model.explain(question.removeprefix("explain ")).alternatives]
            assert found == pytest.approx(costs, rel=1e-12)


@pytest.mark.parametrize("name", ANSWERS[5])
def test_old_files_answer_as_they_did(name):
    """Parts, cells and predictions, of missing and unknown values too, as the gridmodl of version 5 had them."""
    file, _, column = name.partition(" ")
    path = Path(__file__).parent / "old" / f"{file}.json"
    old = Models.from_json(path)[column] if column else Model.from_json(path)
    for model in (old, Model.from_json(old.to_json())):
        assert answers_of(model) == ANSWERS[5][name]


def test_the_questions_have_values_that_no_part_holds():
    data = [questions(Model.from_json(path)) for path in OLD if path.stem.startswith("model-5")]
    columns = [pd.Series(column) for one in data for column in one.values()]
    assert all(column.isna().any() for column in columns)
    assert sum((column == "never seen").any() for column in columns) > 3


def test_there_are_old_files_of_each_version():
    versions = {tuple(path.stem.split("-")[:2]) for path in OLD}
    assert versions == {(kind, str(version)) for kind, known in VERSIONS.items() for version in known[:-1]}


def test_a_field_of_another_version_is_refused():
    (path,) = (path for path in OLD if path.stem == "model-1-numerical")
    record = json.loads(path.read_text(encoding="utf-8"))
    for change in ({"cells": None}, {"version": 2}, {"version": 4}, {"extra": 1}):
        text = json.dumps(record | change)
        assert not is_valid(text)
        with pytest.raises(ModelFileError):
            Model.from_json(text)
    del record["cost"]
    with pytest.raises(ValidationError, match="'cost' is a required property"):
        assert_valid(json.dumps(record))


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        (
            {"kind": "grid"},
            "kind must be one of 'model', 'models', 'density', 'average', 'averages', 'evidence', 'scorecard', got",
        ),
        ({"kind": None}, "kind must be one of"),
        ({"version": 7}, "version must be one of 1, 2, 3, 4, 5, 6 for kind 'model', got 7"),
        ({"version": True}, "version must be one of"),
        ({"version": 1.0}, "version must be one of 1, 2, 3, 4, 5, 6 for kind 'model', got 1.0"),
        ({"kind": "density", "version": 2}, "version must be one of 1, 5, 6 for kind 'density'"),
    ],
)
def test_schemas_that_there_are_not(facts, message):
    with pytest.raises(ValueError, match=message):
        gridmodl.json_schema(**facts)
