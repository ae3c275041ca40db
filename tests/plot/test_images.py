"""Each picture is that which was looked at; `plot_cases.py` says how to store them anew."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.image import imread
from plot.plot_cases import CASES, IMAGES, LINKAGE, intervals, joint_display, picture

from gridmodl import plot

NEAR = 0.01  # root of the mean square, of colours from 0 to 1; matplotlib 3.9 and 3.11 draw the same to the last pixel


def distance(name, pixels):
    stored = imread(IMAGES / f"{name}.png")[..., :3]
    assert stored.shape == pixels.shape
    return float(np.sqrt(np.mean((stored - pixels) ** 2)))


@pytest.mark.parametrize("name", CASES)
def test_it_is_as_stored(name):
    assert distance(name, picture(CASES[name])) < NEAR


def test_every_stored_image_is_of_a_case():
    assert {path.stem for path in IMAGES.glob("*.png")} == set(CASES)


def test_other_rows_are_another_picture():
    partition = intervals(2)
    partition.counts[0] = partition.counts[0, ::-1]
    try:
        assert distance("parts_two", picture(plot.PartsDisplay(partition, ["no", "yes"], 0.2).plot)) > NEAR
    finally:
        partition.counts[0] = partition.counts[0, ::-1]  # a view of what other cases draw


def test_another_tree_is_another_picture():
    display = joint_display()
    display.x_linkage = LINKAGE * [1, 1, 0.7, 1]
    display.x_linkage[-1, 2] = 1.0
    assert distance("grid_joint", picture(display.plot)) > NEAR / 4  # thin lines are few pixels
    assert distance("grid_joint", picture(CASES["grid_joint"])) < NEAR / 40
