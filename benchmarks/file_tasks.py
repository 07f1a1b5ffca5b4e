"""A model that tells what files are, on those of this machine."""

import collections
import json
import pathlib
import sys
import sysconfig

import numpy
from task import CALIBRATION, Task, wheel

FOLDERS = [sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["purelib"], f"{sys.base_prefix}/share",
           "/usr/include", "/usr/share", "/usr/lib"]
FILES_OF_A_FOLDER, FILES_OF_A_KIND, FILES_IN_A_BATCH = 100000, 24, 8


def files(tests=80):
    """Files of many kinds, up to 24 of each; a label is right that has the name's extension."""
    folder = wheel("magika")
    labels = json.loads((folder / "models/standard_v3_3/config.min.json").read_text())["target_labels_space"]
    known = json.loads((folder / "config/content_types_kb.min.json").read_text())
    labels_of = collections.defaultdict(set)
    for number, label in enumerate(labels):
        for extension in known[label]["extensions"]:
            labels_of[f".{extension}"].add(number)
    kinds = collections.defaultdict(list)
    for root in FOLDERS:
        for file in sorted(pathlib.Path(root).rglob("*"))[:FILES_OF_A_FOLDER]:
            if file.suffix in labels_of and file.is_file() and not file.is_symlink() and file.stat().st_size > 200:
                kinds[file.suffix].append(file)
    random = numpy.random.default_rng(3)
    chosen = [group[i] for _, group in sorted(kinds.items()) for i in random.permutation(len(group))[:FILES_OF_A_KIND]]
    chosen = [chosen[i] for i in random.permutation(len(chosen))[:FILES_IN_A_BATCH * (CALIBRATION + tests)]]
    rows, truths = [], []
    for file in chosen:
        content = file.read_bytes()
        begin, end = content[:4096].lstrip()[:1024], content[-4096:].rstrip()[-1024:]
        row = numpy.full(2048, 256, numpy.int32)
        row[:len(begin)] = numpy.frombuffer(begin, numpy.uint8)
        row[2048 - len(end):] = numpy.frombuffer(end, numpy.uint8)
        rows.append(row)
        truths.append(labels_of[file.suffix])
    batches = range(0, len(rows) - FILES_IN_A_BATCH + 1, FILES_IN_A_BATCH)

    def share(answers, truths):
        pairs = [pair for answer, truth in zip(answers, truths) for pair in zip(answer, truth)]
        return float(numpy.mean([label in truth if isinstance(truth, set) else label == truth
                                 for label, truth in pairs]))

    return Task(folder / "models/standard_v3_3/model.onnx",
                [{"bytes": numpy.stack(rows[i:i + FILES_IN_A_BATCH])} for i in batches],
                [truths[i:i + FILES_IN_A_BATCH] for i in batches][CALIBRATION:], "labels",
                lambda outputs: outputs[0].argmax(-1), share)
