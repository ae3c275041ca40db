"""The package as installed from its folder, without kernels: it changes nothing, and gridmodl says why."""

from __future__ import annotations

import warnings
from importlib.metadata import version

import gridmodl
from gridmodl.jit.shipped import shipped_kernels


def test_the_version_is_that_of_gridmodl():
    assert version("gridmodl-kernels") == gridmodl.__version__


def test_without_kernels_nothing_is_used_and_nothing_is_said():
    shipped_kernels.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = shipped_kernels()
    assert found.is_installed
    assert found.hashes == {}
    assert "without kernels" in str(found.refusal)
    assert gridmodl.price([1, 2, 3, 4], ["a", "a", "b", "b"], {"x0": [2.5]}) > 0
