"""``gridmodl scorecard``, and what ``apply``, ``show`` and ``sql`` do with its files."""
