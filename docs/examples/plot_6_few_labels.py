"""
Few labels: how sure is a bound?
================================

Most rows have no label. They show where the data lie, but not their class.
"""

# %%
# 2,000 people, of whom about 100 were asked. In truth the answer changes at 45.

import numpy as np

import gridmodl
from gridmodl.plot import PartsDisplay, PosteriorDisplay

rng = np.random.default_rng(7)
ages = rng.uniform(20, 80, 2000).round(1)
answers = np.where(ages < 45, "no", "yes")
answers[rng.random(2000) < 0.1] = "yes"
answers[rng.random(2000) < 0.95] = "?"

# %%
# The best partition of the labelled rows, with its bound at the median of the unlabelled ones around it.

model = gridmodl.optimize({"age": ages}, answers, unlabelled="?", placement="median")
print(model.partitions["age"].bounds)
PartsDisplay.from_model(model).plot()

# %%
# The probability of each bound, averaged over all classes that the unlabelled rows may have. It is exactly flat
# between two labelled rows.

posterior = gridmodl.bound_posterior(ages, answers, unlabelled="?")
display = PosteriorDisplay.from_posterior(posterior, "age").plot()
display.ax_.set_xlim(40, 52)

# %%
# All about it: :doc:`/use/few_labels`.

# sphinx_gallery_thumbnail_number = 2
