"""Who judged what a log has scores of: each grader of a jury by itself, and whether a model judges what it wrote."""
