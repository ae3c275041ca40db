"""
Few labels: how sure is a bound?
================================

Most rows have no label. They show where the data lie, but not their class.
"""

# %%
# 2,000 people, of whom about 100 were asked. In truth the answer changes at 35, and back at 60.

import numpy as np

import gridmodl
from gridmodl.plot import PartsDisplay, PosteriorDisplay

rng = np.random.default_rng(7)
ages = rng.uniform(20, 80, 2000).round(1)
answers = np.where((ages < 35) | (ages > 60), "no", "yes")
answers[rng.random(2000) < 0.1] = "yes"
answers[rng.random(2000) < 0.95] = "?"

# %%
# The best partition of the labelled rows, with its bounds at the median of the unlabelled ones around them.

model = gridmodl.optimize({"age": ages}, answers, unlabelled="?", placement="median")
print(model.partitions["age"].bounds)
PartsDisplay.from_model(model).plot()

# %%
# How sure is the first bound? The probability of each bound of the people below 50, averaged over all classes that the
# unlabelled rows may have. It is exactly flat between two labelled rows.

low = ages < 50
posterior = gridmodl.bound_posterior(ages[low], answers[low], unlabelled="?")
display = PosteriorDisplay.from_posterior(posterior, "age").plot()
display.ax_.set_xlim(30, 42)

# %%
# All about it: :doc:`/use/few_labels`.

# sphinx_gallery_thumbnail_number = 2
