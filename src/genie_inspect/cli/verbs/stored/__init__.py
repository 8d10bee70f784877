"""The commands about what models have said and will be asked: on disk, and in files for engines."""
