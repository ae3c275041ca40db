"""Apply models to lazy frames: expressions that the engine of the frame evaluates, so that nothing is collected."""
