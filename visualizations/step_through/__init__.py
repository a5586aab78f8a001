"""The tab that answers: what happened at this token?"""
