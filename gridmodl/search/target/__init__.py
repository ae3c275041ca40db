"""Searches of several inputs together with a target that is partitioned too."""
