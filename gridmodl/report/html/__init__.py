"""A model as one self-contained HTML file: no network, no server, no other file."""
