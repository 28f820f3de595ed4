"""What a packet costs in a guest of the real kernel."""
