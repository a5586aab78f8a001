"""The tab "Drafting": what makes a draft worth its cost?"""
