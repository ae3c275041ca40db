"""Models as SQL: an expression for the part of one variable, and the whole query that applies a model to a table.

Text of the user's reaches a query only as a quoted name or a quoted literal.
"""

from __future__ import annotations

from gridmodl.report.sql.expressions import expression_in
from gridmodl.report.sql.query import query_of_model, query_of_models

__all__ = ["expression_in", "query_of_model", "query_of_models"]
