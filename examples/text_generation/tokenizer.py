"""Byte-level BPE, as GPT-2's and Llama-3's tokenizer.json have it: text to tokens and back."""

import json
import pathlib
import re

# Words with the space before them, numbers, runs of other signs. Python's re has no classes of Unicode: letters are
# word characters that are neither digits nor underscores.
GPT2_WORDS = re.compile(r"'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


def byte_letters():
    """A printable letter for each byte: itself, or one from 256 on."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + i) for i, byte in enumerate(others)}


class Tokenizer:
    def __init__(self, vocabulary, merges, special=None):
        """Tokens by their letters, pairs in the order they are merged, and tokens that are never cut."""
        self.vocabulary, self.special = vocabulary, special or {}
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.letters = byte_letters()
        self.bytes = {letter: byte for byte, letter in self.letters.items()}
        self.texts = {token: text for text, token in {**vocabulary, **self.special}.items()}
        self.known = {}  # words that were cut before

    @classmethod
    def from_file(cls, path):
        described = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        model = described["model"]
        if model.get("type", "BPE") != "BPE":
            raise ValueError(f"{path}: its model is {model['type']}, and only BPE is read here")
        merges = [tuple(pair.split(" ")) if isinstance(pair, str) else tuple(pair) for pair in model["merges"]]
        special = {token["content"]: token["id"] for token in described.get("added_tokens", [])}
        return cls(model["vocab"], merges, special)

    def _parts(self, word):
        parts = list(word)
        while len(parts) > 1:
            pairs = list(zip(parts, parts[1:], strict=False))
            best = min(pairs, key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            merged, i = [], 0
            while i < len(parts):
                is_best = tuple(parts[i:i + 2]) == best
                merged.append("".join(parts[i:i + 2]) if is_best else parts[i])
                i += 2 if is_best else 1
            parts = merged
        return parts

    def _encode_plain(self, text):
        tokens = []
        for found in GPT2_WORDS.findall(text):
            word = "".join(self.letters[byte] for byte in found.encode())
            if word not in self.known:
                parts = [word] if word in self.vocabulary else self._parts(word)
                self.known[word] = [self.vocabulary[part] for part in parts]
            tokens += self.known[word]
        return tokens

    def encode(self, text):
        if not self.special:
            return self._encode_plain(text)
        longest_first = sorted(self.special, key=len, reverse=True)
        tokens = []
        for part in re.split("(" + "|".join(map(re.escape, longest_first)) + ")", text):
            tokens += [self.special[part]] if part in self.special else self._encode_plain(part)
        return tokens

    def decode(self, tokens):
        data = bytearray()
        for token in tokens:
            text = self.texts[token]
            data += text.encode() if text in self.special else bytes(self.bytes[letter] for letter in text)
        return data.decode(errors="replace")
