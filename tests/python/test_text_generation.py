"""examples/text_generation: the tokens it generates beside ONNX Runtime's, its tokenizer and its sampling."""

import json
import pathlib
import subprocess
import sys

import numpy
import onnxruntime
import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "examples/text_generation"
sys.path.insert(0, str(FOLDER))

import generate  # noqa: E402
import language_models  # noqa: E402
from sampling import Sampler, greedy  # noqa: E402
from tokenizer import Tokenizer, byte_letters  # noqa: E402

PROMPT = [5, 77, 3, 21, 9]


def greedy_tokens(model, config, kv_heads, count):
    """By ONNX Runtime, with caches that grow."""
    session = onnxruntime.InferenceSession(model.SerializeToString())
    names = {described.name for described in session.get_inputs()}
    element = numpy.int8 if config.caches else numpy.float32
    caches = {past: numpy.zeros((1, kv_heads, 0, config.size), element)
              for past, _ in language_models.cache_names(config.layers)}
    tokens, step, before = [], PROMPT, 0
    for _ in range(count):
        feeds = {"tokens": numpy.array([step]), **caches}
        feeds |= {name: generate.PLACES[name](before, len(step)) for name in ("last", "total") if name in names}
        logits, *grown = session.run(None, feeds)
        before += len(step)
        tokens.append(int(numpy.argmax(logits[0, -1])))
        step, caches = tokens[-1:], dict(zip(caches, grown, strict=True))
    return tokens


@pytest.mark.parametrize(("name", "bits", "caches", "fixed"), [
    ("gpt2", 0, "", True), ("gpt2", 0, "", False), ("llama", 0, "", True), ("llama", 4, "", True),
    ("llama", 0, "int8", True)])
def test_tokens_are_those_of_onnx_runtime(tmp_path, name, bits, caches, fixed):
    config = language_models.Config(bits=bits, caches=caches, positions=64)
    model = getattr(language_models, name)(config, seed=3)
    language_models.save(model, tmp_path / "model.onnx")
    decoder = generate.Decoder(tmp_path / "model.onnx", room=64, most=4, fixed_caches=fixed)
    wanted = greedy_tokens(model, config, config.heads if name == "gpt2" else config.kv_heads, 20)
    assert list(generate.generate(decoder, PROMPT, 20)) == wanted
    decoder.reset()
    assert list(generate.generate(decoder, PROMPT, 20)) == wanted
    assert decoder.is_fixed == fixed
    assert all((decoder.engine.get_aliased_input_tensor(present) == past) == fixed
               for past, present in decoder.caches.items())
    with pytest.raises(ValueError, match="more than the 64"):
        decoder.step([1] * 60)


def test_program(tmp_path):
    done = subprocess.run([sys.executable, FOLDER / "generate.py", "--make", "llama", "--tokens", "6", "--top-k", "5"],
                          capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 6 and "tokens/s" in done.stderr and "[E]" not in done.stderr


def test_tokenizer_merges_in_order(tmp_path):
    letters = byte_letters()
    vocabulary = {letter: i for i, letter in enumerate(letters.values())}
    merges = ["h e", "l l", "he ll", "Ġ w", "o r", "Ġw or"]
    for pair in merges:
        vocabulary[pair.replace(" ", "")] = len(vocabulary)
    described = {"model": {"type": "BPE", "vocab": vocabulary, "merges": merges},
                 "added_tokens": [{"id": 999, "content": "<|end|>"}]}
    (tmp_path / "tokenizer.json").write_text(json.dumps(described), encoding="utf-8")
    tokenizer = Tokenizer.from_file(tmp_path / "tokenizer.json")
    tokens = tokenizer.encode("hello world<|end|>")
    assert [tokenizer.texts[token] for token in tokens] == ["hell", "o", "Ġwor", "l", "d", "<|end|>"]
    for text in ("hello world<|end|>", "naïve 日本\n\n  x_1 it's 42!", ""):
        assert tokenizer.decode(tokenizer.encode(text)) == text
    described["model"]["type"] = "Unigram"
    (tmp_path / "tokenizer.json").write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(ValueError, match="Unigram"):
        Tokenizer.from_file(tmp_path / "tokenizer.json")


def test_sampling():
    logits = numpy.log(numpy.array([0.1, 0.5, 0.3, 0.1]))
    assert greedy(logits) == 1

    def drawn(**options):
        sampler = Sampler(**options)
        return {sampler(logits) for _ in range(200)}

    assert drawn() == {0, 1, 2, 3}
    assert drawn(top_k=2) == {1, 2}
    assert drawn(top_p=0.6) == {1, 2}
    assert drawn(top_p=0.4) == {1}
    assert drawn(temperature=0.01) == {1}
    with pytest.raises(ValueError, match="top_p"):
        Sampler(top_p=0)
