"""Instructions a packet, against a committed baseline."""
