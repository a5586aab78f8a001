"""A handout for a class: two pages to fill in by hand, and the same pages filled in, from one seed."""
