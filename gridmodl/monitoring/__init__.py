"""New rows held against the rows that a model was made from: drift of columns, of event rates, and its price."""
