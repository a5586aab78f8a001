"""Free texts: which paragraphs and sentences are taken from pages and catalogues."""

import struct

from specdec.distill.corpus import read_corpus

ENGLISH = "The bridge over the river was built by a small company that had never built one, and it is still in use for the slow trains."
GERMAN = "Die Brücke über den Fluss ist sehr alt. Niemand weiß, wer sie gebaut hat und wann das war."


def catalogue(messages: dict[str, str]) -> bytes:
    """A .mo file as gettext lays it out: two tables of (length, offset), then the texts."""
    pairs = sorted((key.encode(), text.encode()) for key, text in messages.items())
    at = 28 + 16 * len(pairs)
    tables, texts = [b"", b""], b""
    for column in (0, 1):
        for pair in pairs:
            tables[column] += struct.pack("<2I", len(pair[column]), at + len(texts))
            texts += pair[column] + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    return head + b"".join(tables) + texts


def test_pages_and_catalogues_give_paragraphs_and_sentences(tmp_path):
    (tmp_path / "page.html").write_text(f"<p>{ENGLISH}</p><p>Short.</p>")
    story = ENGLISH.replace("trains", "<b>carts</b>")
    header = {"": "Content-Type: text/plain; charset=UTF-8\n"}
    (tmp_path / "story.mo").write_bytes(catalogue(header | {f"female^{story}": GERMAN, "Go": "Rufen Sie mit <b> foo(1) auf."}))
    unfilled = {"": "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=INTEGER; plural=EXPRESSION;\n"}
    (tmp_path / "template.mo").write_bytes(catalogue(unfilled | {ENGLISH: GERMAN}))  # gettext refuses it
    corpus = read_corpus(tmp_path)
    assert corpus.paragraphs == [ENGLISH, ENGLISH.replace("trains", "carts")]
    assert corpus.sentences == ["Die Brücke über den Fluss ist sehr alt.", "Niemand weiß, wer sie gebaut hat und wann das war."]


def test_technical_sentences_are_left_out(tmp_path):
    (tmp_path / "index.de.html").write_text("<p>Das ist ein ganzer Satz, und er ist gut. Rufen Sie das mit foo(1) auf und lesen Sie es.</p>")
    assert read_corpus(tmp_path).sentences == ["Das ist ein ganzer Satz, und er ist gut."]
