"""Token ids as a person should see them: real characters, never a tokenizer's inner alphabet.

A character may be spread over several tokens. The text of such a token is '' until the one that
completes the character, which carries it; each of them also shows its bytes. So token texts joined are
the decoded text, and U+FFFD never appears.

A SentencePiece tokenizer puts a space before the first word of a text and takes it away again when it decodes.
The first token of a text is shown without it; a text that goes on (an output, a candidate) keeps its spaces.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property

from transformers import PreTrainedTokenizerBase
from transformers.convert_slow_tokenizer import bytes_to_unicode

from specdec.trace.record import TokenText

_BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")
_BYTE_OF_LETTER = {letter: byte for byte, letter in bytes_to_unicode().items()}


class TokenTexts:
    """Texts of one tokenizer's ids; an id is looked up once."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase):
        self._tokenizer = tokenizer
        self._alone: dict[int, TokenText] = {}

    def alone(self, token_id: int) -> TokenText:
        """The token out of context: the whole characters in it, or its bytes when it has a partial one."""
        if token_id not in self._alone:
            self._alone[token_id] = TextStream(self).push(token_id)
        return self._alone[token_id]

    def sequence(self, ids: Iterable[int]) -> list[TokenText]:
        """The tokens of one text from its beginning, in order; joined texts are the decoded text."""
        stream = TextStream(self)
        tokens = [stream.push(token_id) for token_id in ids]
        return [*map(self._opening, tokens[:1]), *tokens[1:]]

    def spelling(self) -> Callable[[int], str]:
        """Begin to spell a text that goes on from another: called with each id in turn, it says what that adds."""
        stream = TextStream(self)
        return lambda token_id: stream.push(token_id).text

    def is_special(self, token_id: int) -> bool:
        added = self._added.get(token_id)
        return added is not None and added.special

    def bytes_of(self, token_id: int) -> bytes:
        """The UTF-8 bytes that the token stands for; b'' for an id without a token."""
        if token_id in self._added:
            return self._added[token_id].content.encode()
        piece = self._tokenizer.convert_ids_to_tokens(token_id)
        if piece is None:
            return b""
        if self._byte_level:
            return _bytes_of_letters(piece)
        if match := _BYTE_TOKEN.fullmatch(piece):
            return bytes([int(match[1], 16)])
        return piece.replace("\u2581", " ").encode()

    def _opening(self, token: TokenText) -> TokenText:
        """The first token of a text, without the space that decoding takes away."""
        if not token.text.startswith(" "):
            return token
        decoded = self._tokenizer.decode([token.id], skip_special_tokens=False, clean_up_tokenization_spaces=False)
        if not token.text.endswith(decoded):
            return token
        return replace(token, text=decoded, bytes=token.bytes if decoded else token.text.encode().hex(" ").upper())

    @cached_property
    def _added(self) -> dict[int, object]:
        return self._tokenizer.added_tokens_decoder

    @cached_property
    def _byte_level(self) -> bool:
        backend = getattr(self._tokenizer, "backend_tokenizer", None)
        decoder = json.loads(backend.to_str())["decoder"] if backend else None
        return decoder is not None and any(part["type"] == "ByteLevel" for part in decoder.get("decoders", [decoder]))


def _bytes_of_letters(piece: str) -> bytes:
    """A piece of the byte-level alphabet as bytes; one with other letters, put in by hand, is its own text."""
    if not _BYTE_OF_LETTER.keys() >= set(piece):
        return piece.encode()
    return bytes(_BYTE_OF_LETTER[letter] for letter in piece)


class TextStream:
    """Reads ids one by one and says what each adds to the text."""

    def __init__(self, texts: TokenTexts):
        self._texts = texts
        self._decoder = codecs.getincrementaldecoder("utf-8")("ignore")

    def push(self, token_id: int) -> TokenText:
        data = self._texts.bytes_of(token_id)
        text = self._decoder.decode(data)
        partial = bool(self._decoder.getstate()[0]) or text.encode() != data
        return TokenText(
            id=token_id,
            text=text,
            special=self._texts.is_special(token_id),
            bytes=data.hex(" ").upper() if partial else None,
        )
