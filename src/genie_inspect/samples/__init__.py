"""What a sample of Inspect is to us: the prompt that it answers, its document, what solvers leave in its store."""
