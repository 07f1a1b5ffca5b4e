"""Text from language models: a prompt in one run, then a token a run, with the caches where they are.

    python3 generate.py --make gpt2 --tokens 32                   # a small model with random weights
    python3 generate.py --make llama --top-k 40 --top-p 0.9
    python3 generate.py model.onnx --tokenizer tokenizer.json --prompt "Once upon a time"

Models are those of language_models.py, and exports with the same kinds of inputs: token ids, past and present keys and
values of each layer, and what tells where the tokens stand (attention_mask, position_ids; last and total of
GroupQueryAttention). Caches have a fixed room and are one buffer for past and present: a run writes the new rows alone.
GroupQueryAttention is made for that; caches that models grow by Concat become such ones when they are parsed.
"""

import argparse
from collections.abc import Callable
import pathlib
import re
import sys
import tempfile
import time

import numpy
import onnx

import camshaft as trt

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import language_models  # noqa: E402
from sampling import Sampler, greedy  # noqa: E402
from tokenizer import Tokenizer  # noqa: E402

TOKENS = ("tokens", "input_ids")
CACHES = re.compile(r"past|present")
# Values of what tells where tokens stand, of the number of tokens before and in this step.
PLACES: dict[str, Callable[[int, int], numpy.ndarray]] = {
    "last": lambda before, length: numpy.array([before + length - 1], numpy.int32),
    "seqlens_k": lambda before, length: numpy.array([before + length - 1], numpy.int32),
    "total": lambda before, length: numpy.array(before + length, numpy.int32),
    "total_sequence_length": lambda before, length: numpy.array(before + length, numpy.int32),
    "past_length": lambda before, length: numpy.array(before, numpy.int64),
    "position_ids": lambda before, length: numpy.arange(before, before + length)[None],
    "attention_mask": lambda before, length: numpy.ones((1, before + length), numpy.int64),
}


def presents(names):
    """The output that continues each cache: past_key_values.0.key by present.0.key, past_key_0 by present_key_0."""
    def kind(name):
        return re.sub(r"key_values|past|present|[._]", "", name)

    outputs = {kind(name): name for name in names if "present" in name}
    return {name: outputs[kind(name)] for name in names if "past" in name and name not in PLACES}


class Decoder:
    """An engine for steps of 1 to `most` tokens, with room for `room` in its caches."""

    def __init__(self, path, room, most, device=trt.DeviceType.CPU, fixed_caches=True):
        self.room, self.most = room, most
        logger = trt.Logger(trt.Logger.ERROR)
        builder = trt.Builder(logger)
        network = builder.create_network()
        parser = trt.OnnxParser(network, logger)
        if fixed_caches:
            parser.set_flag(trt.OnnxParserFlag.CAMSHAFT_FIXED_CACHES)
        if not parser.parse_from_file(str(path)):
            raise ValueError("; ".join(parser.get_error(i).desc() for i in range(parser.num_errors)))
        inputs = {tensor.name: tensor for tensor in map(network.get_input, range(network.num_inputs))}
        outputs = [network.get_output(i).name for i in range(network.num_outputs)]
        unknown = [name for name in inputs if name not in TOKENS and name not in PLACES and not CACHES.search(name)]
        if unknown:
            raise ValueError(f"{path}: no value is known for its inputs {', '.join(unknown)}")
        # An input tells how much of a fixed cache holds something; elsewhere its size says so.
        self.is_fixed = any(name in inputs for name in ("last", "seqlens_k", "past_length"))
        self.caches = presents([*inputs, *outputs])
        self.tokens = next(name for name in inputs if name in TOKENS)
        self.logits = next(name for name in outputs if name not in self.caches.values())
        config = builder.create_builder_config()
        config.default_device_type = device
        for lengths in ((1, 1, 1), (1, most, most)) if most > 1 else ((1, 1, 1),):  # of one token, and of a prompt
            config.add_optimization_profile(self._profile(builder, inputs, lengths))
        plan = builder.build_serialized_network(network, config)
        if plan is None:
            raise RuntimeError(f"{path} could not be built; the log says why")
        self.engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
        self.contexts = {}  # by profile
        self.reset()

    def _profile(self, builder, inputs, lengths):
        profile = builder.create_optimization_profile()
        befores = (0, 0 if lengths[1] > 1 else self.room // 2, self.room - 1)
        for name, tensor in inputs.items():
            if name in self.caches:
                held = [self.room] * 3 if self.is_fixed else befores
                shapes = [[1 if size < 0 and i == 0 else size for i, size in enumerate(tensor.shape)] for _ in held]
                for shape, size in zip(shapes, held, strict=True):
                    shape[2] = size
            elif name == self.tokens:
                shapes = [[1, length] for length in lengths]
            else:
                values = [PLACES[name](before, length) for before, length in zip(befores, lengths, strict=True)]
                shapes = [list(value.shape) for value in values]
                if name in ("total", "total_sequence_length", "past_length"):
                    profile.set_shape_input(name, *([min(value.item(), self.room)] for value in values))
                    continue
            profile.set_shape(name, *map(tuple, shapes))
        return profile

    def reset(self):
        """Caches that hold nothing."""
        self.before, self.buffers = 0, {}
        for past in self.caches:
            shape = [1 if size < 0 and i == 0 else size for i, size in enumerate(self.engine.get_tensor_shape(past))]
            shape[2] = self.room
            kind = trt.nptype(self.engine.get_tensor_dtype(past))
            is_shared = self.engine.get_aliased_input_tensor(self.caches[past]) == past
            self.buffers[past] = [numpy.zeros(shape, kind) for _ in range(1 if is_shared else 2)]

    def _context(self, length):
        profile = 0 if length == 1 else 1
        if profile not in self.contexts:
            context = self.contexts[profile] = self.engine.create_execution_context()
            context.set_optimization_profile_async(profile, 0)
        return self.contexts[profile]

    def step(self, tokens):
        """Logits [vocabulary] of what follows these tokens."""
        length = len(tokens)
        if self.before + length > self.room:
            raise ValueError(f"{self.before + length} tokens are more than the {self.room} that caches have room for")
        context = self._context(length)
        held = [numpy.array([tokens], numpy.int64)]
        context.set_input_shape(self.tokens, held[0].shape)
        context.set_tensor_address(self.tokens, held[0].ctypes.data)
        for name, value_of in PLACES.items():
            if self.engine.get_tensor_mode(name) != trt.TensorIOMode.INPUT:
                continue
            kind = trt.nptype(self.engine.get_tensor_dtype(name))
            held.append(numpy.array(value_of(self.before, length), kind))
            context.set_input_shape(name, held[-1].shape)
            context.set_tensor_address(name, held[-1].ctypes.data)
        for past, present in self.caches.items():
            buffers = self.buffers[past]
            shape = list(buffers[0].shape)
            shape[2] = self.room if self.is_fixed else self.before
            context.set_input_shape(past, shape)
            context.set_tensor_address(past, buffers[0].ctypes.data)
            context.set_tensor_address(present, buffers[-1].ctypes.data)
            buffers.reverse()  # what is written now is read next
        logits = numpy.empty(tuple(context.get_tensor_shape(self.logits)),
                             trt.nptype(self.engine.get_tensor_dtype(self.logits)))
        context.set_tensor_address(self.logits, logits.ctypes.data)
        if not context.execute_async_v3(0):
            raise RuntimeError("the step failed; the log says why")
        self.before += length
        return logits[0, -1]


def generate(decoder, prompt, count, choose=greedy, end=None):
    """Yields up to `count` tokens that follow the prompt, until `end` comes."""
    for start in range(0, len(prompt), decoder.most):
        logits = decoder.step(prompt[start:start + decoder.most])
    for i in range(count):
        token = choose(logits)
        yield token
        if token == end or i + 1 == count:
            return
        logits = decoder.step([token])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", help="an ONNX model with caches")
    parser.add_argument("--make", choices=["gpt2", "llama"], help="a small model with random weights instead")
    parser.add_argument("--tokenizer", help="tokenizer.json of byte-level BPE; without, prompts are numbers")
    parser.add_argument("--prompt", default="1 2 3")
    parser.add_argument("--tokens", type=int, default=32, help="to generate")
    parser.add_argument("--room", type=int, default=256, help="tokens that caches have room for")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--top-k", type=int, default=0)
    parser.add_argument("--top-p", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if bool(options.model) == bool(options.make):
        parser.error("give a model, or --make one")
    return options


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(options.model or pathlib.Path(folder) / "model.onnx")
        if options.make:
            config = language_models.Config(positions=options.room)
            onnx.save_model(getattr(language_models, options.make)(config), str(path))
        tokenizer = Tokenizer.from_file(options.tokenizer) if options.tokenizer else None
        prompt = tokenizer.encode(options.prompt) if tokenizer else [int(word) for word in options.prompt.split()]
        decoder = Decoder(path, options.room, most=min(128, max(1, len(prompt))))
    is_greedy = options.top_k == 0 and options.top_p == 1 and options.temperature == 1
    choose = greedy if is_greedy else Sampler(options.temperature, options.top_k, options.top_p, options.seed)
    start, tokens, times = time.perf_counter(), [], []
    for token in generate(decoder, prompt, options.tokens, choose):
        tokens.append(token)
        times.append(time.perf_counter() - start)
    print(tokenizer.decode(prompt + tokens) if tokenizer else " ".join(map(str, tokens)))
    seconds = times[-1] - times[0]
    speed = f"{(len(tokens) - 1) / seconds:.1f} tokens/s" if seconds > 0 else "one token"
    print(f"prompt of {len(prompt)} in {times[0] * 1e3:.1f} ms, then {speed}", file=sys.stderr)


if __name__ == "__main__":
    main()
