"""Lazy frames and `Counts`: columns and grids are counted on an engine and searched here."""
