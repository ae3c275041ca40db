"""From a table and options to a model: one column, or a grid."""
