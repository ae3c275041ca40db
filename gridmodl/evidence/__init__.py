"""Classifiers that add up what each column says of the classes."""
