"""Models for people: text, tables, HTML pages, notebooks and SQL."""
