"""Files that users name: written whole or not at all, read line by line."""
