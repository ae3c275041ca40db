"""
SQL: parts and probabilities in a database
==========================================

A model as one query. The rows stay where they are, and the result is that of Python, to the bit.
"""

# %%
# A table in DuckDB, and a model of one of its columns.

import duckdb
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer

import gridmodl

tumours = load_breast_cancer(as_frame=True)
rows = tumours.data[["worst radius"]].assign(diagnosis=tumours.target_names[tumours.target])
model = gridmodl.optimize(rows[["worst radius"]], rows["diagnosis"], event="malignant")
query = model.to_sql("duckdb", "rows", keep=["diagnosis"])
print(query)

# %%
# The query inside another: rows and malignant ones of each part, counted by the database.

counts = duckdb.sql(f"""
    SELECT "part_worst radius" AS part, count(*) AS rows, avg((diagnosis = 'malignant')::INT) AS rate
    FROM ({query}) GROUP BY part ORDER BY part
""").df()
print(counts.to_string(index=False))

labels = model.partitions["worst radius"].labels
figure, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
bars = ax.barh(labels, counts["rate"], color="tab:blue")
ax.bar_label(bars, [f"{rate:.0%} of {n}" for rate, n in zip(counts["rate"], counts["rows"], strict=True)], padding=3)
ax.set(xlim=(0, 1.25), xticks=[], xlabel="share of malignant rows in the part", title="counted by DuckDB")
ax.spines[["top", "right", "bottom"]].set_visible(False)

# %%
# The same in Python.

print(np.bincount(model.transform(rows[["worst radius"]]).ravel()))

# %%
# All about it: :doc:`/use/sql`.
