"""SD4: the softmax, and what stands around it."""
