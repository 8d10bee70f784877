"""What scorers have in common: readings, ratings, explanations, what is unscored and why."""
