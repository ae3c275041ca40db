"""The models of many columns in one file."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gridmodl
from gridmodl.model.models import Models


@pytest.fixture(scope="module")
def models():
    rng = np.random.default_rng(0)
    x = rng.random(200)
    data = {"x": x, "noise": rng.random(200), 3: np.where(x < 0.3, "a", "b"), "bad": [object()] * 200}
    return gridmodl.optimize_each(data, x < 0.5, on_error="ignore")


def test_what_is_written_is_read(models, tmp_path):
    path = tmp_path / "models.json"
    assert models.to_json(path) == path.read_text(encoding="utf-8")
    again = Models.from_json(path)
    assert list(again) == list(models) == ["x", 3, "noise"]
    assert [again[name].to_json() for name in again] == [models[name].to_json() for name in models]
    assert list(again.errors) == ["bad"]
    assert again.summary() == models.summary()
    assert again.to_json() == models.to_json()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "gridmodl model"}, "no collection of gridmodl models"),
        ({"version": 7}, "a newer gridmodl is needed"),
        ({"version": True}, "version: is True"),
        ({"models": {}}, "models: must be a list"),
        ({"models": []}, "models: must not be empty"),
        ({"errors": ["x"]}, r"errors\[0\]: must be a list of a name and a reason"),
        ({"errors": [["x", "no"]]}, "names column 'x', which has a model"),
        ({"more": 1}, "unknown field 'more'"),
    ],
)
def test_what_is_refused(models, change, said):
    with pytest.raises(gridmodl.ModelFileError, match=said):
        Models.from_json(json.dumps(json.loads(models.to_json()) | change))


def test_each_model_is_checked_and_its_place_named(models):
    record = json.loads(models.to_json())
    record["models"][1]["n_rows"] = 7
    with pytest.raises(gridmodl.ModelFileError, match=r"models\[1\]: "):
        Models.from_json(json.dumps(record))
    record = json.loads(models.to_json())
    record["models"].append(record["models"][0])
    with pytest.raises(gridmodl.ModelFileError, match=r"models\[3\]: is of column 'x', which has a model already"):
        Models.from_json(json.dumps(record))


def test_a_grid_is_no_model_of_one_column():
    joint = gridmodl.Model.from_partitions({"a": [1, 2], "b": [3, 4]}, None, {"a": [1.5], "b": [3.5]})
    with pytest.raises(gridmodl.ModelFileError, match="must be of one column, got 2"):
        Models({"a": joint}, {}).to_json()
