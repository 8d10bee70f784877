"""A judge of one's own in a folder: whose verdicts it foretells, from which scores, and how well."""
