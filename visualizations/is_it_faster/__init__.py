"""The tab that answers: is it faster, where, and why?"""
