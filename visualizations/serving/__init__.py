"""Models lent to visitors, and the checks of what a visitor asks for."""

from visualizations.serving.heap import few_arenas

few_arenas()  # before there are threads: one for every run will come
