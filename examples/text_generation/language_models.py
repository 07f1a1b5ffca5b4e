"""Language models as ONNX graphs: GPT-2's blocks, and Llama's with weights of 16 bits, of a few, or with products of
floats of 8 bits.

The weights are random numbers; what counts is the graph. Inputs are `tokens` [batch, length] and, for each layer, the
keys and values of the tokens before, `past_key_0` [batch, heads, past, size] and so on. Outputs are `logits`
[batch, length, vocabulary] and the keys and values for the next step, `present_key_0` and so on.
"""

import dataclasses
import math

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


@dataclasses.dataclass(frozen=True)
class Config:
    layers: int = 2
    hidden: int = 64
    heads: int = 4
    kv_heads: int = 2
    inner: int = 128  # width of the feed-forward network
    vocabulary: int = 97
    positions: int = 256  # that rotary embeddings are tabulated for
    type: str = "float32"
    bits: int = 0  # of Llama's weights; 0: the type's own
    block: int = 32  # weights with one scale
    float8: bool = False  # Llama's products are of f8e4m3, quantised and dequantised
    caches: str = ""  # "int8" or "float8": Llama's are, with one scale; else of the type
    epsilon: float = 1e-5

    @property
    def size(self):
        return self.hidden // self.heads

    @property
    def element(self):
        return TensorProto.FLOAT16 if self.type == "float16" else TensorProto.FLOAT

    @property
    def cache_element(self):
        return {"int8": TensorProto.INT8, "float8": TensorProto.FLOAT8E4M3FN}.get(self.caches, self.element)


class Maker:
    """Collects nodes and weights; `node` returns the name of the first result."""

    def __init__(self, config, seed=0):
        self.config = config
        self.random = numpy.random.default_rng(seed)
        self.nodes, self.weights, self.count = [], [], 0

    def node(self, operator, *inputs, outputs=None, domain="", **attributes):
        if not outputs:
            self.count += 1
            outputs = [f"{operator.lower()}_{self.count}"]
        self.nodes.append(helper.make_node(operator, list(inputs), outputs, domain=domain,
                                           name=outputs[0], **attributes))
        return outputs[0]

    def constant(self, values):
        self.count += 1
        self.weights.append(numpy_helper.from_array(numpy.ascontiguousarray(values), f"weight_{self.count}"))
        return self.weights[-1].name

    def repeated(self, draw, shape):
        """draw(count)'s numbers in a shape; of large ones, the same million again and again."""
        count = math.prod(shape)
        return numpy.resize(draw(min(count, 1 << 20)), shape)

    def normal(self, *shape, scale):
        def draw(count):
            return (self.random.standard_normal(count, numpy.float32) * scale).astype(self.config.type)
        return self.constant(self.repeated(draw, shape))

    def product(self, x, inputs, outputs, name=None):
        """x by random weights [inputs, outputs], of the config's bits where it has any."""
        config, names = self.config, [name] if name else None
        if config.float8:
            return self.node("MatMul", self.quantised(x), self.float8_weights(inputs, outputs), outputs=names)
        if not config.bits:
            return self.node("MatMul", x, self.normal(inputs, outputs, scale=inputs**-0.5), outputs=names)
        blocks, number_bytes = -(-inputs // config.block), config.block * config.bits // 8
        packed = self.repeated(lambda count: self.random.integers(0, 256, count, numpy.uint8),
                               (outputs, blocks, number_bytes))
        spread = 2**config.bits / 12**0.5  # of evenly spread numbers
        scales = self.random.uniform(0.5, 1.5, (outputs, blocks)) / spread / inputs**0.5
        return self.node("MatMulNBits", x, self.constant(packed), self.constant(scales.astype(config.type)),
                         outputs=names, domain="com.microsoft", K=inputs, N=outputs, bits=config.bits,
                         block_size=config.block)

    def quantised(self, x):
        """x as f8e4m3 makes it, with a scale for numbers up to nine."""
        scale = self.constant(numpy.array(0.02, self.config.type))
        zero = self.float8(numpy.zeros((), numpy.uint8))
        return self.node("DequantizeLinear", self.node("QuantizeLinear", x, scale, zero), scale)

    def float8_weights(self, inputs, outputs):
        sizes = self.random.integers(0x28, 0x58, (inputs, outputs), numpy.uint8)  # 0.25 to 7.5
        signs = self.random.integers(0, 2, (inputs, outputs), numpy.uint8)
        scales = self.random.uniform(0.5, 1.5, outputs) / 3 / inputs**0.5
        return self.node("DequantizeLinear", self.float8(sizes | signs << 7),
                         self.constant(scales.astype(self.config.type)), axis=1)

    def float8(self, bits):
        self.count += 1
        self.weights.append(helper.make_tensor(f"weight_{self.count}", TensorProto.FLOAT8E4M3FN, bits.shape,
                                               bits.tobytes(), raw=True))
        return self.weights[-1].name

    def model(self, name, inputs, outputs):
        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.weights)
        has_float8 = self.config.float8 or self.config.caches == "float8"
        opsets = [helper.make_opsetid("", 21 if self.config.float8 else 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10 if has_float8 else 8)


def cache_names(layers):
    """[(past, present)] of all keys and values."""
    return [(f"past_{kind}_{layer}", f"present_{kind}_{layer}")
            for layer in range(layers) for kind in ("key", "value")]


def interface(config, kv_heads, more_inputs=()):
    """Descriptions of the inputs and outputs that all models have."""
    cache = ["batch", kv_heads, "past", config.size]
    grown = ["batch", kv_heads, "total", config.size]
    inputs = [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["batch", "length"]), *more_inputs]
    outputs = [helper.make_tensor_value_info("logits", config.element, ["batch", "length", config.vocabulary])]
    for past, present in cache_names(config.layers):
        inputs.append(helper.make_tensor_value_info(past, config.cache_element, cache))
        outputs.append(helper.make_tensor_value_info(present, config.cache_element, grown))
    return inputs, outputs


def gpt2(config, seed=0):
    """Blocks of GPT-2 as exporters write them: the cache joined with the step's own keys and values."""
    make = Maker(config, seed)
    hidden, heads, size = config.hidden, config.heads, config.size
    zero, one = (make.constant(numpy.array(n, numpy.int64)) for n in (0, 1))
    two = make.constant(numpy.array(2, numpy.int64))
    past = make.node("Gather", make.node("Shape", "past_key_0"), two)
    length = make.node("Gather", make.node("Shape", "tokens"), one)
    total = make.node("Add", past, length)
    places = make.node("Range", past, total, one)
    x = make.node("Add", make.node("Gather", make.normal(config.vocabulary, hidden, scale=0.5), "tokens"),
                  make.node("Gather", make.normal(config.positions, hidden, scale=0.1), places))
    column = make.node("Unsqueeze", places, make.constant(numpy.array([1])))
    ahead = make.node("Greater", make.node("Range", zero, total, one), column)  # [length, total]
    lowest = make.constant(numpy.array(-1e4, config.type))
    mask = make.node("Where", ahead, lowest, make.constant(numpy.array(0, config.type)))

    def norm(value):
        return make.node("LayerNormalization", value, make.constant(numpy.ones(hidden, config.type)),
                         make.constant(numpy.zeros(hidden, config.type)), epsilon=config.epsilon)

    def dense(value, inputs, outputs):
        return make.node("Add", make.product(value, inputs, outputs), make.normal(outputs, scale=0.02))

    split = make.constant(numpy.array([0, 0, heads, size]))
    merge = make.constant(numpy.array([0, 0, hidden]))
    scale = make.constant(numpy.array(size**-0.5, config.type))
    for layer in range(config.layers):
        qkv = dense(norm(x), hidden, 3 * hidden)
        parts = [f"{part}_{layer}" for part in "qkv"]
        make.node("Split", qkv, make.constant(numpy.array([hidden] * 3)), outputs=parts, axis=2)
        q, k, v = (make.node("Transpose", make.node("Reshape", part, split), perm=[0, 2, 1, 3]) for part in parts)
        k = make.node("Concat", f"past_key_{layer}", k, outputs=[f"present_key_{layer}"], axis=2)
        v = make.node("Concat", f"past_value_{layer}", v, outputs=[f"present_value_{layer}"], axis=2)
        scores = make.node("MatMul", q, make.node("Transpose", k, perm=[0, 1, 3, 2]))
        seen = make.node("Softmax", make.node("Add", make.node("Mul", scores, scale), mask), axis=3)
        mixed = make.node("Transpose", make.node("MatMul", seen, v), perm=[0, 2, 1, 3])
        x = make.node("Add", x, dense(make.node("Reshape", mixed, merge), hidden, hidden))
        inner = dense(norm(x), hidden, config.inner)
        wide = make.node("Erf", make.node("Mul", inner, make.constant(numpy.array(0.5**0.5, config.type))))
        wide = make.node("Add", wide, make.constant(numpy.array(1, config.type)))
        gelu = make.node("Mul", make.node("Mul", inner, wide), make.constant(numpy.array(0.5, config.type)))
        x = make.node("Add", x, dense(gelu, config.inner, hidden))
    make.node("MatMul", norm(x), make.normal(hidden, config.vocabulary, scale=hidden**-0.5), outputs=["logits"])
    return make.model("gpt2", *interface(config, heads))


def rotations(config):
    """Cosines and sines [positions, size / 2]."""
    speeds = 10000.0 ** -(numpy.arange(0, config.size, 2) / config.size)
    angles = numpy.outer(numpy.arange(config.positions), speeds)
    return numpy.cos(angles), numpy.sin(angles)


def llama(config, seed=0):
    """Blocks of Llama as ONNX Runtime's model builder writes them.

    `last` i32 [batch] is the place of each sample's last token, `total` i32 the number of tokens with this step's.
    """
    make = Maker(config, seed)
    hidden, kv_width = config.hidden, config.kv_heads * config.size
    cosines, sines = (make.constant(table.astype(config.type)) for table in rotations(config))
    x = make.node("Gather", make.normal(config.vocabulary, hidden, scale=0.5), "tokens")

    def norm(value):
        """Of the root mean square, in f32."""
        wide = make.node("Cast", value, to=TensorProto.FLOAT)
        two = make.constant(numpy.array(2, numpy.float32))
        mean = make.node("ReduceMean", make.node("Pow", wide, two), axes=[-1])
        safe = make.node("Add", mean, make.constant(numpy.array(config.epsilon, numpy.float32)))
        even = make.node("Cast", make.node("Div", wide, make.node("Sqrt", safe)), to=config.element)
        return make.node("Mul", even, make.constant(numpy.ones(hidden, config.type)))

    scales, quantised = [], {}
    if config.caches:
        scale = make.constant(numpy.array([0.02], numpy.float32))
        scales = ["", "", "", scale, scale]  # behind positions, a bias and sinks
        quantised = {"k_quant_type": "PER_TENSOR", "v_quant_type": "PER_TENSOR", "kv_cache_bit_width": 8}
    for layer in range(config.layers):
        even = norm(x)
        q = make.product(even, hidden, hidden)
        k, v = (make.product(even, hidden, kv_width) for _ in "kv")
        mixed = make.node("GroupQueryAttention", q, k, v, f"past_key_{layer}", f"past_value_{layer}", "last",
                          "total", cosines, sines, *scales, domain="com.microsoft", num_heads=config.heads,
                          kv_num_heads=config.kv_heads, do_rotary=1, **quantised,
                          outputs=[f"mixed_{layer}", f"present_key_{layer}", f"present_value_{layer}"])
        x = make.node("Add", x, make.product(mixed, hidden, hidden))
        even = norm(x)
        gate, up = (make.product(even, hidden, config.inner) for _ in range(2))
        gate = make.node("Mul", gate, make.node("Sigmoid", gate))
        x = make.node("Add", x, make.product(make.node("Mul", gate, up), config.inner, hidden))
    make.product(norm(x), hidden, config.vocabulary, "logits")
    more = [helper.make_tensor_value_info("last", TensorProto.INT32, ["batch"]),
            helper.make_tensor_value_info("total", TensorProto.INT32, [])]
    return make.model("llama", *interface(config, config.kv_heads, more))


def save(model, path):
    """With the weights in a file beside it, where they are too large for one."""
    weight_bytes = sum(len(weight.raw_data) for weight in model.graph.initializer)
    onnx.save_model(model, str(path), save_as_external_data=weight_bytes > 1 << 30, location=path.name + ".data")
