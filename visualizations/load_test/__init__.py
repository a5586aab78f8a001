"""A crowd at the page: many visitors ask a running app at once, as their pages would, and every answer is checked."""
