"""Rich displays, a room for each kind of thing: a table from classes to what shows them.

A display never runs a step, never waits for a server longer than a moment, and says the same each
time as long as nothing has changed. `formatters` registers the tables, and catches what fails.
"""
