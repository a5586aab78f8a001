"""What can be said exactly: laws by enumeration, closed forms, and the tests that would notice a wrong one."""
