"""How sure a fact is, and what it rests on."""
