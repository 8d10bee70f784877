"""A judge of one's own, fitted to votes: what it goes by, how it foretells stories held out, what votes it needs."""
