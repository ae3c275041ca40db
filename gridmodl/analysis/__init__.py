"""Questions asked of a model: what else it could be, what it rests on, how sure it is."""
