"""From a raw table to a scorecard with SQL, with gridmodl: python -m reproduce.peers.scorecard_gridmodl TABLE.csv.gz"""

import sys

import duckdb
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

import gridmodl

data = pd.read_csv(sys.argv[1])
target = data.pop("class")
X, X_new, y, y_new = train_test_split(data, target, test_size=0.5, random_state=0, stratify=target)

# Parts of each column, columns, weights and points.
model = gridmodl.GridScorecard(event=sorted(set(y))[-1], pdo=20, base_points=600, base_odds=50, rounded=True)
card = model.fit(X, y).scorecard_
print(f"event {card.event}; {len(card.models)} of {data.shape[1]} columns, base {card.base:.0f}")
parts = card.table()[["column", "part", "rows", "event_rate", "points"]]
print(parts.head(6).round(4).to_string(index=False))
print("left out:", dict(list(card.left_out.items())[:2]))

# New rows: scores, cut-offs, and why the first row has not more points.
cutoffs = card.cutoffs(X_new, y_new, n=5)
print(f"gini {cutoffs.gini:.4f}, KS {cutoffs.ks:.4f} at {cutoffs.best:.0f} points")
shown = ["cutoff", "approval_rate", "event_rate", "ks", "expected_loss"]
print(cutoffs.table()[shown].round(3).to_string(index=False))
print(card.reasons(X_new[:1], 3)[["rank", "column", "part", "points", "lost"]].to_string(index=False))

# The card in a database, in a file, on a page.
rows = X_new
in_sql = duckdb.execute(card.to_sql("duckdb", "rows")).df()["score"].to_numpy()
print("SQL and Python differ by", np.abs(np.sort(in_sql) - np.sort(card.score(rows))).max())
again = gridmodl.Scorecard.from_json(card.to_json())
print("JSON and Python differ by", np.abs(again.score(rows) - card.score(rows)).max())
print(f"page of {len(card.to_html(sections=[cutoffs])) // 1000} kB")

# Later: drift of the columns and of their event rates; the same parts, counted anew.
print(repr(card.compare(X_new, y_new)))
print("refitted:", card.refit(X_new, y_new).cutoffs(X_new, y_new))
