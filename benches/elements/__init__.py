"""Instructions that each class of elements costs a packet."""
