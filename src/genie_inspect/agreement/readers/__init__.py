"""Readers held against the answers on record: do their answers belong to the documents that they were given?"""
