"""The decoding loop and what it is made of: drafting, probabilities, rules, stopping."""
