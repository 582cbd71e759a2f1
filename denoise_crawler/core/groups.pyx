# cython: language_level=3
"""The number that spreads the keys of a table, which no page can know."""

from os import urandom

# a page cannot choose words that meet in few slots; no result depends on which slots they have
multiplier = int.from_bytes(urandom(8), "little") | 1
