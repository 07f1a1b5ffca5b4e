"""What a layer does, in words: the operator, and what is fused with it."""

from __future__ import annotations

from dataclasses import dataclass
import re
from typing import Any

OPERATORS = {
    "Conv": "convolution", "ConvInteger": "convolution of 8-bit integers", "ConvTranspose": "transposed convolution",
    "MatMul": "matrix product", "MatMulInteger": "matrix product of 8-bit integers",
    "MatMulNBits": "matrix product with weights of few bits", "NormMatMul": "matrix product of normalised rows",
    "MomentMatMul": "matrix product, and moments of its rows", "RowMoments": "moments of rows",
    "Einsum": "Einstein sum", "Pool": "pooling",
    "Softmax": "softmax", "LayerNorm": "layer normalisation", "GroupNorm": "group normalisation",
    "PointwiseNorm": "normalisation of what it computes first", "Attention": "attention", "Transpose": "transpose",
    "PointwiseParts": "tensors put together from computed parts",
    "Reduce": "reduction", "Concat": "concatenation", "Slice": "slice", "Pad": "padding", "Gather": "lookup",
    "GatherND": "lookup", "GatherElements": "lookup", "Resize": "resize", "Recurrent": "recurrent layer",
    "Copy": "copy between host and device", "BindDims": "sizes read from a tensor", "TopK": "largest elements",
    "NonMaxSuppression": "non-maximum suppression", "ArgReduce": "index of the largest or smallest",
}
FUNCTIONS = {
    "relu": "ReLU", "silu": "SiLU", "gelu": "GELU", "gelu_tanh": "GELU (tanh)", "hard_swish": "hard swish",
    "hard_sigmoid": "hard sigmoid", "sigmoid": "sigmoid", "tanh": "tanh", "exp": "exponential", "log": "logarithm",
    "sqrt": "square root", "rsqrt": "reciprocal square root", "erf": "error function", "neg": "negation",
    "abs": "absolute value", "leaky_relu": "leaky ReLU", "elu": "ELU", "softplus": "softplus", "mish": "Mish",
    "not": "negation", "floor": "floor", "ceil": "ceiling", "sin": "sine", "cos": "cosine", "where": "selection",
    "pow": "power", "reciprocal": "reciprocal", "round": "rounding", "clip": "clipping",
}
COMPARISONS = {"equal", "less", "greater", "less_equal", "greater_equal", "and", "or", "xor", "not_equal"}
TOKEN = re.compile(r"[(),]|[^(),\s]+")


@dataclass
class Term:
    """A function of terms, or a leaf: an input "x1:f32" or a number "0.5:f32"."""

    name: str
    terms: tuple[Term, ...] = ()

    @property
    def input(self) -> int | None:
        match = re.fullmatch(r"x(\d+)(:\w+)?", self.name)
        return int(match[1]) if match and not self.terms else None

    @property
    def number(self) -> float | None:
        try:
            return float(self.name.partition(":")[0])
        except ValueError:
            return None

    def has(self, index: int) -> bool:
        return self.input == index or any(term.has(index) for term in self.terms)

    def inputs(self) -> set[int]:
        own = set() if self.input is None else {self.input}
        return own.union(*(term.inputs() for term in self.terms))


def parse(text: str) -> Term | None:
    """Of an expression's text; None where it is none."""
    tokens = TOKEN.findall(text)
    position = 0

    def term() -> Term:
        nonlocal position
        name, position = tokens[position], position + 1
        if name in "(),":
            raise ValueError
        terms = []
        if position < len(tokens) and tokens[position] == "(":
            while tokens[position] != ")":
                position += 1
                terms.append(term())
            position += 1
        return Term(name, tuple(terms))

    try:
        whole = term()
        return whole if position == len(tokens) else None
    except (IndexError, ValueError, RecursionError):
        return None


def _hard_sigmoid(term: Term) -> Term | None:
    """The argument of relu(min(a * x + b, 1)), or min(max(a * x + b, 0), 1)."""
    def bounded(term: Term, name: str, bound: float) -> Term | None:
        if term.name == name and len(term.terms) == 2 and term.terms[1].number == bound:
            return term.terms[0]
        return None

    inner = bounded(term.terms[0], "min", 1) if term.name == "relu" else None
    if inner is None and (middle := bounded(term, "min", 1)):
        inner = bounded(middle, "max", 0)
    if inner and inner.name == "add" and inner.terms[1].number == 0.5 and inner.terms[0].name == "mul":
        return inner.terms[0].terms[0]
    return None


def _quantised(term: Term) -> tuple[Term, str] | None:
    """What cast(clip(round(x / scale)), i8) quantises, and to what."""
    if term.name != "cast" or len(term.terms) != 2 or term.terms[1].name not in ("i8", "u8", "i4", "u4"):
        return None
    inner, names = term.terms[0], set()
    while inner.name in ("min", "max", "round", "add") and inner.terms:
        names.add(inner.name)
        inner = inner.terms[0]
    if "round" not in names:
        return None
    if inner.name in ("div", "mul") and inner.terms[1].number is not None:
        inner = inner.terms[0]
    return inner, {"i8": "8-bit integers", "u8": "8-bit integers", "i4": "4 bits", "u4": "4 bits"}[term.terms[1].name]


def steps(term: Term, constants: list[bool]) -> list[str]:
    """What happens to input 0, first to last. `constants[i]`: whether input i + 1 is one."""
    done: list[str] = []
    while term.input != 0:
        if gate := _hard_sigmoid(term):
            done.append("hard sigmoid")
            term = gate
        elif quantised := _quantised(term):
            term, what = quantised
            done.append(f"quantisation to {what}")
        elif not term.terms or not term.has(0):
            break
        else:
            term, what = _step(term, constants)
            done.append(what)
    return _tidy(list(reversed([step for step in done if step])))


def _step(term: Term, constants: list[bool]) -> tuple[Term, str]:
    """The operand that leads to input 0, and what is done to it."""
    main = next(each for each in term.terms if each.has(0))
    others = [each for each in term.terms if each is not main]
    if term.name == "cast":
        return main, ""
    if term.name in ("add", "sub", "mul", "div") and others:
        return main, _arithmetic(term.name, others[0], constants)
    if term.name in ("min", "max") and others and others[0].number is not None:
        return main, "clipping"
    if term.name in COMPARISONS:
        return main, "comparison"
    return main, FUNCTIONS.get(term.name, term.name.replace("_", " "))


def _arithmetic(name: str, other: Term, constants: list[bool]) -> str:
    if other.has(0):
        return "sum with its input" if name in ("add", "sub") else "product with its input"
    reads = other.inputs()
    is_constant = all(0 < i <= len(constants) and constants[i - 1] for i in reads)
    if name in ("add", "sub"):
        if not reads:
            return "shift"
        return "bias" if is_constant else "residual sum" if name == "add" else "difference"
    return "scale" if is_constant else "product with another tensor" if name == "mul" else "quotient"


def _tidy(steps: list[str]) -> list[str]:
    """A scale and a shift are one thing, and what is done twice running is said once."""
    tidy: list[str] = []
    for step in steps:
        if step == "shift" and tidy and tidy[-1] == "scale":
            tidy[-1] = "scale and shift"
        elif not tidy or tidy[-1] != step:
            tidy.append(step)
    return tidy


def _sizes(values: Any) -> str:
    return "×".join(map(str, values)) if isinstance(values, list) else ""


def _shape_words(layer: dict[str, Any]) -> str:
    """"3×3", "depthwise 5×5, stride 2": what tells convolutions and pools apart."""
    shapes = layer.get("ConstantShapes")
    kernel = layer.get("Kernel")
    if layer.get("LayerType", "").startswith("Conv") and isinstance(shapes, list) and len(shapes) > 1 and shapes[1]:
        spatial = len(shapes[1]) - 2
        kernel = shapes[1][2:2 + spatial]
    words = []
    if isinstance(kernel, list):
        words.append(_sizes(kernel))
    groups = layer.get("Groups", 1)
    if isinstance(groups, int) and groups > 1:
        depthwise = isinstance(shapes, list) and len(shapes) > 1 and shapes[1] and shapes[1][1] == 1
        words.insert(0, "depthwise" if depthwise else f"{groups} groups,")
    strides = layer.get("Strides")
    text = " ".join(words)
    if text and isinstance(strides, list) and any(stride != 1 for stride in strides):
        text += f", stride {strides[0] if len(set(strides)) == 1 else _sizes(strides)}"
    return text


def fused(layer: dict[str, Any]) -> list[str]:
    """What is computed behind the layer's own operator, first to last."""
    parts = []
    shapes = layer.get("ConstantShapes")
    if layer["LayerType"].startswith("Conv") and isinstance(shapes, list) and len(shapes) > 2 and shapes[2]:
        if layer["LayerType"] in ("Conv", "ConvTranspose"):
            parts.append("bias")
    term = parse(str(layer.get("Epilogue", "")))
    if term:
        constants = layer.get("EpilogueConstants")
        parts += steps(term, constants if isinstance(constants, list) else [])
    return parts


def operator_words(layer: dict[str, Any]) -> str:
    kind = layer["LayerType"]
    name = OPERATORS.get(kind) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).lower()
    if kind == "Pointwise":
        term = parse(str(layer.get("Expr", "")))
        if quantised := term and _quantised(term):
            return f"quantisation to {quantised[1]}"
        done = [step.removeprefix("residual ") for step in steps(term, [])] if term else []
        return "elementwise: " + ", ".join(done) if done else "elementwise"
    if kind in ("Pool", "Reduce") and isinstance(layer.get("Kind"), str):
        name = f"{layer['Kind']} {name}"
    return name


def sentence(layer: dict[str, Any]) -> str:
    """"Convolution 3×3, stride 2, with its bias, SiLU and the residual sum in one kernel."."""
    words = " ".join(filter(None, (operator_words(layer), _shape_words(layer))))
    parts = [_with_article(part) for part in fused(layer)]
    if parts:
        listed = parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
        words += f"{',' if ',' in words else ''} with {listed} in one kernel"
    return words[:1].upper() + words[1:] + "."


def _with_article(part: str) -> str:
    if part == "bias":
        return "its bias"
    if part.startswith(("residual", "product", "sum", "quotient", "difference")):
        return f"the {part}"
    if part.startswith(("scale", "shift")):
        return f"a {part}"
    return part


def title(layer: dict[str, Any]) -> str:
    """For a node of the graph: "Conv 3×3 + SiLU + sum"."""
    short = {"residual sum": "sum", "product with another tensor": "product", "scale and shift": "affine",
             "quantisation to 8-bit integers": "quantise", "sum with its input": "sum"}
    kind = layer["LayerType"]
    name = "Conv int8" if kind == "ConvInteger" else "ConvT" if kind == "ConvTranspose" else "MatMul int8" if kind == "MatMulInteger" else kind
    if kind == "Pointwise":
        words = operator_words(layer).removeprefix("elementwise: ")
        text = " + ".join(short.get(word, word) for word in words.split(", "))
        return text[:1].upper() + text[1:]
    size = _shape_words(layer).partition(",")[0]
    if kind.startswith("Conv") and size.startswith("depthwise"):
        size = size.replace("depthwise", "dw")
    parts = [short.get(part, part) for part in fused(layer) if part not in ("bias", "scale")]
    return " + ".join([f"{name} {size}".strip(), *parts])
