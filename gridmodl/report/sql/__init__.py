"""Models as SQL: an expression for the part of one variable, and the query that applies a model to a table."""

from __future__ import annotations

from gridmodl.report.sql.expressions import expression_in
from gridmodl.report.sql.query import query_of_model, query_of_models

__all__ = ["expression_in", "query_of_model", "query_of_models"]
