"""How training scales: a sentence, tables, and curves over numbers of workers."""
