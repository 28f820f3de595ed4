"""What a packet costs as flows become many."""
