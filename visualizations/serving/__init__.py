"""Models lent to visitors, and the checks of what a visitor asks for."""
