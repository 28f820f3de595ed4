"""What depends on the machine, in one table."""
