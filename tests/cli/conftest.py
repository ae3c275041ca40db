"""A folder with data and models, called as in the examples of the help texts."""

from __future__ import annotations

import pyarrow.parquet
import pytest
from cli.commands import as_csv, good, table


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Files that no test may change."""
    made = tmp_path_factory.mktemp("cli")
    data, new = table(300, 0), table(40, 1)
    pyarrow.parquet.write_table(data, made / "data.parquet")
    pyarrow.parquet.write_table(new, made / "new.parquet")
    (made / "data.csv").write_text(as_csv(data), encoding="utf-8")
    (made / "new.csv").write_text(as_csv(new), encoding="utf-8")
    used = ["--columns", "age,city", "--target", "class"]
    good("fit", made / "data.csv", *used, "-o", made / "model.json", "--effort", 1)
    good("fit", made / "data.csv", "--columns", "age,city,income", "-t", "class", "--each", "-o", made / "models.json")
    good("fit", made / "data.csv", "--columns", "city,product", "-o", made / "joint.json")
    good("average", made / "data.csv", "-c", "age,income", "-t", "class", "-o", made / "averages.json")
    return made
