"""Models that hear speech, and words to wake up at, in what the program espeak-ng says."""

import functools
import shutil
import subprocess

import numpy
import onnxruntime
from task import CALIBRATION, Task, runner, share_of_labels, wheel, words

RATE = 16000
WINDOW, WINDOWS = 512, 31  # samples of sound, and of these in a clip for silero
WAKE_WORDS = {"alexa": "alexa", "hey_jarvis": "hey jarvis", "hey_rhasspy": "hey rhasspy"}
WAKE_VOICES = ["en-us", "en-gb", "en-us+f3", "en+m3", "en-us+f5", "en-gb+f2"]
CLIP = 3 * RATE
MEL, STEP = 76, 8  # columns of a spectrogram that an embedding is made of, and between two of them
WORD = 16  # embeddings


def said(text, voice, pitch, speed):
    """Between -1 and 1, at 16 kHz."""
    if not shutil.which("espeak-ng"):
        raise FileNotFoundError("the program espeak-ng is not installed")
    out = subprocess.run(["espeak-ng", "--stdout", "-v", voice, "-p", str(pitch), "-s", str(speed), text], check=True,
                         capture_output=True).stdout
    sound = numpy.frombuffer(out[44:], numpy.int16).astype(numpy.float32) / 32768
    return numpy.interp(numpy.arange(int(len(sound) * RATE / 22050)) * 22050 / RATE, numpy.arange(len(sound)), sound)


def speech(tests=96):
    """Clips of 31 windows, said at several pitches and speeds, louder and softer, in noise."""
    random, length = numpy.random.default_rng(2), WINDOWS * WINDOW
    samples, truths = [], []
    for i in range(CALIBRATION + tests):
        text = " ".join(random.choice(words(), 4))
        sound = said(text, ["en", "de", "fr", "es"][i % 4], 20 + i % 60, 120 + 3 * (i % 40))
        clean = numpy.zeros(length + 64)
        start = int(random.integers(0, 8000))
        sound = sound[:int(random.integers(4000, length - start))]
        clean[64 + start:64 + start + len(sound)] = sound * random.uniform(0.1, 1)
        clip = clean + random.normal(0, random.uniform(0.001, 0.02), len(clean))
        windows = numpy.stack([clip[WINDOW * j:WINDOW * j + WINDOW + 64] for j in range(WINDOWS)]).astype(numpy.float32)
        samples.append({"input": windows, "h": numpy.zeros((1, 1, 128), numpy.float32),
                        "c": numpy.zeros((1, 1, 128), numpy.float32)})
        loud = numpy.flatnonzero(numpy.abs(clean) > 0.1 * numpy.abs(clean).max()) - 64
        middles = WINDOW * (numpy.arange(WINDOWS) + 0.5)
        truths.append((middles > loud[0]) & (middles < loud[-1]))
    return Task(wheel("silero_vad") / "data/silero_vad_16k_sequence.onnx", samples, truths[CALIBRATION:], "windows",
                lambda outputs: outputs[0].ravel() > 0.5, share_of_labels)


def wake_word_model(name):
    return wheel("openwakeword") / f"resources/models/{name}.onnx"


@functools.cache
def wake_word_clips(count):
    """Spectrograms [windows, 76, 32, 1] of clips in which a wake word is said, or something else, and which."""
    random, spectrogram = numpy.random.default_rng(6), runner(wake_word_model("melspectrogram"))
    made = []
    for i in range(count):
        word = int(random.integers(-len(WAKE_WORDS), len(WAKE_WORDS)))
        text = list(WAKE_WORDS.values())[word] if word >= 0 else " ".join(random.choice(words(), 2))
        sound = said(text, WAKE_VOICES[i % len(WAKE_VOICES)], random.integers(20, 80), random.integers(110, 180))
        sound = (sound / numpy.abs(sound).max() * random.uniform(2000, 16000))[:2 * RATE]
        clip = random.normal(0, random.uniform(10, 300), CLIP)
        end = CLIP - int(random.integers(2000, 12000))
        clip[end - len(sound):end] += sound
        mel = numpy.squeeze(spectrogram({"input": clip.astype(numpy.float32)[None]})[0]) / 10 + 2
        windows = [mel[j:j + MEL] for j in range(0, len(mel) - MEL + 1, STEP)]
        made.append((numpy.stack(windows).astype(numpy.float32)[..., None],
                     [max(word, -1) == j for j in range(len(WAKE_WORDS))]))
    return made


def scores(run, name, embeddings):
    """For each 16 embeddings that follow each other, as many as a word may last."""
    frames = embeddings.reshape(-1, 96)
    return [run({name: frames[None, i:i + WORD]})[0].item() for i in range(len(frames) - WORD + 1)]


def wake_word_embeddings(tests=160):
    made = wake_word_clips(CALIBRATION + tests)
    listeners = [(runner(path), onnxruntime.InferenceSession(path).get_inputs()[0].name)
                 for path in (wake_word_model(f"{name}_v0.1") for name in WAKE_WORDS)]

    def answer(outputs):
        return [max(scores(*listener, outputs[0])) > 0.5 for listener in listeners]

    return Task(wake_word_model("embedding_model"), [{"input_1": windows} for windows, _ in made],
                [truth for _, truth in made[CALIBRATION:]], "wake words", answer, share_of_labels)


def wake_word_scores(name, tests=480):
    """The embeddings of a clip that the f32 model gives the highest score."""
    made = wake_word_clips(CALIBRATION + tests)
    embed, which = runner(wake_word_model("embedding_model")), list(WAKE_WORDS).index(name)
    path = wake_word_model(f"{name}_v0.1")
    run, key = runner(path), onnxruntime.InferenceSession(path).get_inputs()[0].name
    samples = []
    for windows, _ in made:
        frames = embed({"input_1": windows})[0].reshape(-1, 96)
        best = int(numpy.argmax(scores(run, key, frames)))
        samples.append({key: numpy.ascontiguousarray(frames[None, best:best + WORD])})
    return Task(path, samples, [truth[which] for _, truth in made[CALIBRATION:]], "wake words",
                lambda outputs: outputs[0].item() > 0.5, share_of_labels)
