"""Free texts to build prompts from, read from a folder of unpacked packages.

The bundled student used these Debian packages (bookworm), unpacked with `dpkg -x` into one folder:
debian-handbook, python3-doc, debian-faq, dict-foldoc, fortunes, fortunes-de, manpages-de, wordnet-base, and the
German catalogues (*.mo) of wesnoth-1.16-* with the stories of a game.
Their licences (GPL, CC-BY-SA, PSF, WordNet, public domain) allow the use; no text is shipped.
"""

from __future__ import annotations

import gettext
import gzip
import html
import re
from dataclasses import dataclass
from pathlib import Path

TAG = re.compile(r"<[^>]+>")
BLOCK = re.compile(r"<(?:p|li|dd)\b[^>]*>(.*?)</(?:p|li|dd)>", re.DOTALL | re.IGNORECASE)
OTHER_LANGUAGE = re.compile(r"/[a-z]{2}-[A-Z]{2}/|\.[a-z]{2}(-[a-z]+)?\.html$")
GERMAN_WORDS = re.compile(r"\b(?:der|die|das|und|ist|nicht|ein|eine|zu|mit|wird|werden|auf|sich|den|wenn)\b")
TECHNICAL = re.compile(r"[\\()=<>_/»«{}|@]|\b[A-Z]{2,}")
ENGLISH_WORDS = re.compile(r"\b(?:the|of|and|is|to|in|that|with|for|you|it|a)\b")


@dataclass(frozen=True)
class Corpus:
    """What prompts are made of.

    Attributes:
        paragraphs: English prose, each 120 to 2,000 characters.
        sentences: German sentences of 25 to 220 characters.
        people, places, things: names from WordNet, for questions.
    """

    paragraphs: list[str]
    sentences: list[str]
    people: list[str]
    places: list[str]
    things: list[str]


def read_corpus(folder: Path) -> Corpus:
    """All texts below `folder`, in a fixed order, without repeats."""
    english: dict[str, None] = {}
    german: dict[str, None] = {}
    for page in sorted(folder.rglob("*.html")):
        is_german = "de-DE" in page.parts or page.name.endswith(".de.html")
        is_english = not OTHER_LANGUAGE.search(page.as_posix()) or "en-US" in page.parts
        if not (is_german or is_english):
            continue
        for block in _blocks(page):
            _sort_in(block, english, german)
    for cookie in sorted((folder / "usr/share/games/fortunes").rglob("*")):
        if cookie.is_file() and not cookie.is_symlink() and cookie.suffix != ".dat":
            for block in _text(cookie).split("\n%\n"):
                _sort_in(re.sub(r"\s+", " ", block.split("\n\t\t--")[0]), english, german)
    for dictionary in sorted((folder / "usr/share/dictd").glob("foldoc.dict.dz")):
        for block in _text(dictionary).split("\n\n"):
            _sort_in(re.sub(r"\s+", " ", re.sub(r"[{}]", "", block)), english, german)
    for manual in sorted((folder / "usr/share/man/de").rglob("*.gz")):
        prose = [line for line in _text(manual).splitlines() if line and not line.startswith((".", "'"))]
        _sort_in(re.sub(r"\\(?:f.|-|&|\(..|\[.*?\])", "", " ".join(prose)), {}, german)
    for catalogue in sorted(folder.rglob("*.mo")):
        for original, translation in _messages(catalogue):
            for paragraph in original.split("\n\n"):
                _sort_in(_plain(paragraph), english, {})
            _sort_in(_plain(translation), {}, german)
    people, places, things = _names(folder / "usr/share/wordnet/data.noun")
    return Corpus(list(english), list(german), people, places, things)


def _text(path: Path) -> str:
    raw = path.read_bytes()
    if path.suffix in {".gz", ".dz"}:
        raw = gzip.decompress(raw)
    return raw.decode("utf-8", errors="ignore")


def _messages(catalogue: Path) -> list[tuple[str, str]]:
    """The catalogue's messages with their translations, those with plural forms left out; none of a catalogue that
    cannot be read, as where nobody has filled in its form for plurals."""
    try:
        with catalogue.open("rb") as file:
            found = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    except (ValueError, OSError):
        return []
    return [(original, text) for original, text in found.items() if isinstance(original, str) and original]


def _plain(message: str) -> str:
    """A message without its context (up to ^), its markup and its placeholders."""
    return re.sub(r"\s+", " ", TAG.sub("", re.sub(r"^[^^ ]*\^|\$\w+\|?", "", message)))


def _blocks(page: Path) -> list[str]:
    found = BLOCK.findall(_text(page))
    return [re.sub(r"\s+", " ", html.unescape(TAG.sub("", block))).strip() for block in found]


def _sort_in(text: str, english: dict[str, None], german: dict[str, None]) -> None:
    text = text.strip()
    words = max(1, len(text.split()))
    if len(GERMAN_WORDS.findall(text)) > max(1, 0.12 * words):
        for sentence in re.split(r"(?<=[.!?]) (?=[A-ZÄÖÜ])", text):
            if 25 <= len(sentence) <= 220 and not TECHNICAL.search(sentence) and len(sentence.split()) >= 4:
                german[sentence] = None
    elif len(ENGLISH_WORDS.findall(text)) > 0.15 * words and 120 <= len(text) <= 2000:
        english[text] = None


def _names(nouns: Path) -> tuple[list[str], list[str], list[str]]:
    """People, places and common things of WordNet's noun file, told apart by the number of their lexicographer file."""
    people: dict[str, None] = {}
    places: dict[str, None] = {}
    things: dict[str, None] = {}
    if not nouns.is_file():
        return [], [], []
    for line in nouns.read_text(encoding="utf-8", errors="ignore").splitlines():
        fields = line.split(" ")
        if line.startswith("  ") or len(fields) < 5:
            continue
        name = fields[4].replace("_", " ")
        proper = name[:1].isupper()
        if fields[1] == "18" and proper and " " in name:
            people[name] = None
        elif fields[1] == "15" and proper:
            places[name] = None
        elif fields[1] in {"05", "06", "08", "13", "20", "27"} and not proper and name.count(" ") <= 1:
            things[name] = None
    return list(people), list(places), list(things)
