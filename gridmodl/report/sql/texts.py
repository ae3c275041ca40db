"""Texts as SQL literals; nothing in them can end the literal that they stand in."""

from __future__ import annotations


def plain_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def postgres_text(text: str) -> str:
    """Backslashes mean themselves only under a setting of the server; marked with E they never do."""
    if "\\" not in text:
        return plain_text(text)
    return "E" + plain_text(text.replace("\\", "\\\\"))


def snowflake_text(text: str) -> str:
    return plain_text(text.replace("\\", "\\\\"))


def bigquery_text(text: str) -> str:
    """A line must not end inside of a literal: all that cannot be printed is escaped."""
    escaped = "".join(_bigquery_character(character) for character in text)
    return f"'{escaped}'"


def _bigquery_character(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    return character if character.isprintable() else f"\\U{ord(character):08x}"
