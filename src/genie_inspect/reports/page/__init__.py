"""The page that `genie report` writes: what it shows, its pictures, its methods."""
