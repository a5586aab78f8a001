"""What drafts and verifies: the interface, its implementations, and where their weights come from."""
