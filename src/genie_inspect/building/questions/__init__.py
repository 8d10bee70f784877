"""Questions about documents: written, filtered, kept in files."""
