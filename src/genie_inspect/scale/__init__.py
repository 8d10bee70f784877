"""Many judgments by engines that take files: requests out, replies in, caches joined."""
