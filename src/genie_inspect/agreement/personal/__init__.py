"""A judge of one's own, fitted to votes: what it goes by, what it foretells of stories held out, what votes it needs."""
