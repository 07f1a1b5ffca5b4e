"""A model of Hugging Face's as an engine, exported by optimum: from_hugging_face.py [NAME_OR_FOLDER] [-o ENGINE]

Models that classify texts. Without a name a small BERT is made first. The engine takes one to eight texts of up to 128
tokens and must agree with PyTorch.
"""

import argparse
import pathlib
import tempfile

import numpy as np
import torch
import transformers
from optimum.exporters.onnx import main_export

import camshaft

TASK = "text-classification"
TEXTS = ["w1 w2 w3", "w4 w5 w6 w7 w8 w9 w10 w11 w12", "w13"]


def made_model():
    """The folder of a small BERT whose words are w0, w1, …"""
    folder = pathlib.Path(tempfile.mkdtemp())
    config = transformers.BertConfig(vocab_size=500, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                                     intermediate_size=128)
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{i}" for i in range(495))]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("model.engine"))
    arguments = parser.parse_args()
    name = arguments.name or made_model()
    exported = pathlib.Path(tempfile.mkdtemp())
    main_export(str(name), exported, task=TASK)

    tokenizer = transformers.AutoTokenizer.from_pretrained(name)
    inputs = tokenizer.model_input_names
    shapes = {each: "1x1..4x64..8x128" for each in inputs}
    session = camshaft.load(camshaft.build(exported / "model.onnx", arguments.output, shapes=shapes))

    model = transformers.AutoModelForSequenceClassification.from_pretrained(name).eval()
    for texts in (TEXTS[:1], TEXTS[1:2], TEXTS):
        tokens = tokenizer(texts, padding=True, return_tensors="np")
        with torch.no_grad():
            wanted = model(**{each: torch.from_numpy(tokens[each]) for each in inputs}).logits.numpy()
        found = session({each: tokens[each] for each in inputs})["logits"]
        error = np.abs(found - wanted).max() / np.abs(wanted).max()
        print(f"{len(texts)} x {tokens['input_ids'].shape[1]} tokens: differs from PyTorch by {error:.1e}")
        if error > 1e-4:
            raise SystemExit("the engine is not what the model is")
    print(f"{arguments.output}: {arguments.output.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
