"""The handout on paper: two A4 pages, and two for its key."""

from __future__ import annotations

import re

import pytest

from visualizations.handout.printing import pdf_of
from visualizations.handout.sheet import answer_key, handout
from visualizations.text import spoken

A4 = (595, 842)  # points


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("seed", [7, 12])
def test_it_prints_on_two_pages(page, seed, language):
    with spoken((language,)):
        papers = [handout(seed), answer_key(seed)]
    for paper in papers:
        pdf = pdf_of(page, paper)
        assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 2
        sizes = re.findall(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", pdf)
        assert sizes and all((round(float(w)), round(float(h))) == A4 for w, h in sizes)
    assert page.requests == []
