"""The same with optbinning, in its own environment: PYTHON -m reproduce.peers.scorecard_optbinning TABLE.csv.gz"""

import sys

import numpy as np
import pandas as pd
from optbinning import BinningProcess, Scorecard
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import train_test_split

data = pd.read_csv(sys.argv[1])
target = data.pop("class")
X, X_new, y, y_new = train_test_split(data, target, test_size=0.5, random_state=0, stratify=target)
event = sorted(set(y))[-1]
bad, bad_new = (y == event).to_numpy().astype(int), (y_new == event).to_numpy().astype(int)

# Bins of each column, columns, weights and points.
categories = [name for name in data if data[name].dtype == object]
enough = {"iv": {"min": 0.02}}
process = BinningProcess(list(data), categorical_variables=categories, selection_criteria=enough)
card = Scorecard(
    process, LogisticRegression(max_iter=1000), scaling_method="pdo_odds",
    scaling_method_params={"pdo": 20, "odds": 50, "scorecard_points": 600}, rounding=True,
)  # fmt: skip
card.fit(X.reset_index(drop=True), bad)
table = card.table(style="detailed")
print(f"event {event}; {table['Variable'].nunique()} of {data.shape[1]} columns")
print(table.head(6)[["Variable", "Bin", "Count", "Event rate", "Points"]].round(4).to_string(index=False))

# New rows: scores, and cut-offs by hand.
scores = card.score(X_new)
p = card.predict_proba(X_new)[:, 1]
false, true, _ = roc_curve(bad_new, -scores)
print(f"gini {2 * roc_auc_score(bad_new, p) - 1:.4f}, KS {(true - false).max():.4f}")
for share in (0.0, 0.2, 0.4, 0.6, 0.8):
    cutoff = np.quantile(scores, share)
    ok = scores >= cutoff
    rate, loss = bad_new[ok].mean(), p[ok].sum()
    print(f"cut-off {cutoff:.0f}: approved {ok.mean():.3f}, event rate {rate:.3f}, loss {loss:.1f}")

# Its Scorecard has save and load, counterfactuals and monitoring; reasons and a query are left to you.
