"""Models of votes whose terms are shrunk towards 0 by as much as the votes themselves say: of raters, tests, scores."""
