"""gridmodl scorecard, and what other commands do with its files."""

from __future__ import annotations

import json

import duckdb
import numpy as np
import pandas as pd
import pyarrow.csv
from cli.commands import bad, good

from gridmodl import GridScorecard, Scorecard


def test_it_writes_what_the_library_finds(folder, tmp_path):
    path, page = tmp_path / "card.json", tmp_path / "card.html"
    text = good("scorecard", folder / "data.csv", "-t", "class", "--special", "age=-999", "-x", "id", "--pdo", 40,
                "--base-points", 500, "--rounded", "-o", path, "--html", page)  # fmt: skip
    assert "scorecard of" in text
    card = Scorecard.from_json(path)
    data = pyarrow.csv.read_csv(folder / "data.csv")
    inputs = data.select([name for name in data.column_names if name not in ("id", "class")])
    expected = GridScorecard(special={"age": [-999]}, pdo=40, base_points=500, rounded=True).fit(
        inputs, np.array(data["class"].to_pylist())
    )
    np.testing.assert_array_equal(card.score(inputs), expected.score_points(inputs))
    assert '"Cut-offs"' in page.read_text(encoding="utf-8")
    facts = json.loads(good("scorecard", folder / "data.csv", "-t", "class", "--event", "no", "--json", "-q"))
    assert facts["event"] == "no"


def test_columns_are_refined_unless_told_not_to(folder, tmp_path):
    data = pyarrow.csv.read_csv(folder / "data.csv")
    inputs, y = data.select(["age", "income", "city"]), np.array(data["class"].to_pylist())
    for option, refine in ((), True), (("--no-refine",), False):
        path = tmp_path / f"{refine}.json"
        good(
            "scorecard",
            folder / "data.csv",
            "-t",
            "class",
            "-c",
            "age,income,city",
            "--min-iv",
            0,
            "-o",
            path,
            "-q",
            *option,
        )
        expected = GridScorecard(refine=refine, min_iv=0.0).fit(inputs, y)
        np.testing.assert_array_equal(Scorecard.from_json(path).score(inputs), expected.score_points(inputs))


def test_other_commands_take_its_files(folder, tmp_path):
    path = tmp_path / "card.json"
    good("scorecard", folder / "data.csv", "-t", "class", "-c", "age,city,income", "--keep-all", "-o", path, "-q")
    card = Scorecard.from_json(path)
    data = pyarrow.csv.read_csv(folder / "data.csv").to_pandas()
    good("apply", path, folder / "data.csv", "-o", tmp_path / "scores.csv", "--keep-column", "id", "-q")
    found = pd.read_csv(tmp_path / "scores.csv")
    assert list(found) == ["id", "score"]
    np.testing.assert_allclose(found["score"], card.score(data), rtol=1e-15)
    every = [word for one in ("score", "points", "parts", "labels", "proba", "predict") for word in ("--as", one)]
    good("apply", path, folder / "data.csv", "-o", tmp_path / "all.parquet", "-q", *every)
    found = pd.read_parquet(tmp_path / "all.parquet")
    np.testing.assert_array_equal(found["points_age"], card.points(data, "pandas")["age"])
    np.testing.assert_array_equal(found["share_yes"], card.predict_proba(data)[:, 1])
    assert found["predicted"].tolist() == card.predict(data).tolist()
    assert set(found["label_age"].dropna()) <= set(card.partition("age").labels)
    assert "is not for a scorecard" in bad("apply", path, folder / "data.csv", "--as", "cell")
    assert "scorecard of" in good("show", path)
    assert json.loads(good("show", path, "--json"))["base"] == card.base
    assert good("show", path, "--table", "--csv").startswith("column,part,rows,share,event_rate,woe,points")
    assert len(json.loads(good("show", path, "--column", "age", "--json"))) >= card.partition("age").n_parts
    assert "no column" in bad("show", path, "--column", "agee")
    assert "--cells is for a grid" in bad("show", path, "--cells", code=2)
    query = good("sql", path, "-d", "duckdb", "--table", "data", "--as", "score")
    np.testing.assert_array_equal(duckdb.sql(query).df()["score"], card.score(data))
    assert "not for the query" in bad("sql", path, "-d", "duckdb", "--as", "parts", code=2)
    assert "holds a scorecard" in bad("edit", path, "--merge", "0,1")


def test_edited_parts_are_taken_as_given(folder, tmp_path):
    models, card = tmp_path / "models.json", tmp_path / "card.json"
    good("fit", folder / "data.csv", "-t", "class", "--each", "-c", "age,city", "-o", models, "-q")
    good("edit", models, "--column", "age", "--merge", "0,1", "-o", models, "-q")
    good("scorecard", folder / "data.csv", "-t", "class", "-c", "age,city", "--models", models, "--min-iv", 0,
         "--keep-all", "-o", card, "-q")  # fmt: skip
    from gridmodl import Models

    assert Scorecard.from_json(card).partition("age").labels == Models.from_json(models)["age"].partitions["age"].labels


def test_wrong_commands_are_told(folder):
    assert "y has 4 classes" in bad("scorecard", folder / "data.csv", "-t", "city")
    assert "both" in bad("scorecard", folder / "data.csv", "-t", "class", "--weights", "class", code=2)
    assert "pdo" in bad("scorecard", folder / "data.csv", "-t", "class", "--pdo", 0)


def test_copies_of_the_target_and_of_columns_are_named(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    size = y + rng.normal(size=300)
    frame = pd.DataFrame({"leak": 3 * y, "size": size, "double": 2 * size, "y": y})
    frame.to_csv(tmp_path / "data.csv", index=False)
    said, copy = "is it a copy of the target", "it is a copy of column 'size'"
    for command in ("scorecard", "fit"):
        each = ["--each"] * (command == "fit")
        file = tmp_path / f"{command}.json"
        text = good(command, tmp_path / "data.csv", "-t", "y", *each, "-o", file)
        facts = json.loads(good(command, tmp_path / "data.csv", "-t", "y", *each, "--json", "-q"))
        assert said in " ".join(text.split())
        assert said in " ".join(good("show", file).split())
        assert [said in note for note in facts["notes"]] == [True]
        if command == "scorecard":
            assert f"double is left out: {copy}" in text
            assert facts["left_out"] == {"double": copy}
    averages = good("average", tmp_path / "data.csv", "-t", "y")
    assert said in " ".join(averages.split())


def test_dates_beside_numbers_have_a_page(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta((40 * y + rng.integers(0, 60, 300)).astype(int), "D")
    frame = pd.DataFrame({"size": y + rng.normal(size=300), "day": days.strftime("%Y-%m-%d"), "y": y})
    frame.to_csv(tmp_path / "data.csv", index=False)
    page = tmp_path / "card.html"
    text = good("scorecard", tmp_path / "data.csv", "-t", "y", "--keep-all", "--html", page)
    assert "day" in text
    assert '"Cut-offs"' in page.read_text(encoding="utf-8")
