"""
A scorecard: points that add up
===============================

From a table of loans to points, cut-offs and reasons, with whole points that a person can add up.
"""

# %%
# Made data: who pays back depends on income, age and home; some incomes are missing.

import numpy as np
import pandas as pd

import gridmodl
from gridmodl.plot import EventDisplay

rng = np.random.default_rng(0)
n = 4000
loans = pd.DataFrame(
    {
        "income": rng.lognormal(8, 0.5, n).round(),
        "age": rng.integers(18, 80, n),
        "home": rng.choice(["owner", "tenant", "family"], n),
        "noise": rng.normal(size=n),
    }
)
loans.loc[::10, "income"] = np.nan
odds = -1.5 - 1.5 * (np.log(loans["income"].fillna(2000)) - 8) + 0.03 * (40 - loans["age"])
odds += loans["home"] == "tenant"
y = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "default", "paid")
new, y_new = loans[3000:], y[3000:]

model = gridmodl.GridScorecard(event="default", pdo=20, base_points=600, base_odds=50, rounded=True)
card = model.fit(loans[:3000], y[:3000]).scorecard_
print(card.summary())

# %%
# The points of each part. The column of noise is left out.

card.plot()

# %%
# The event rate by part over its rows, with the uncertainty of each rate: what a reviewer asks for first.
# ``statistic="woe"`` draws weights of evidence.

EventDisplay.from_model(card.models["age"]).plot()

# %%
# Scores of rows that the card has not seen, and what cut-offs would approve.

cutoffs = card.cutoffs(new, y_new, n=5)
table = cutoffs.table()[["cutoff", "approval_rate", "event_rate", "ks", "gini"]]
print(table.round(3).astype({"cutoff": int}).to_string(index=False))
cutoffs.plot()

# %%
# Why does the first row not have more points?

print(card.reasons(new[:1], 2).to_string(index=False, float_format="%.0f"))

# %%
# All about it: :doc:`/use/scorecard`.

# sphinx_gallery_thumbnail_number = 3
