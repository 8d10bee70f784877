"""Ratings by people: pairs that go out to them blind, and what they say together."""
