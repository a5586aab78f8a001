"""The tab that answers: why does it change nothing?"""
