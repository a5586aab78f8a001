"""The page in several languages: which one the reader sees is chosen in the browser."""

from visualizations.components.languages.component import LanguageSwitch, Page, languages_head

__all__ = ["LanguageSwitch", "Page", "languages_head"]
