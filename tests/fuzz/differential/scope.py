"""A graph that grows node by node. Every node runs in ONNX Runtime when it is added, so that types, shapes
and values of all tensors are known while the next one is chosen.

A tensor has one value per lane. Lanes are the runs that a case will have (one for static sizes, several for
sizes that a run decides), and for each run the plain values and some in which every rounded result was moved
by a few units in the last place: where these differ from the plain ones, rounding decides, and by how much.
"""

import numpy
from onnx import defs, helper

from . import oracle, values

NOISY = 3  # lanes with noise, for each run
NOISE = 6  # in halves of a unit in the last place
# How an operator's results are noised: not, by rounding, by rounding of sums, by that of long or cancelling
# ones, and by one step where how quantised results are rounded is left open.
EXACT, ROUNDED, APPROXIMATE, LOOSE, STEP = "exact", "rounded", "approximate", "loose", "step"


class Reject(Exception):
    """What was about to be added cannot be: another choice is made."""


class Tensor:
    """`lanes[run]` is [plain, noisy, noisy, ...], or None in runs that ONNX Runtime refuses before here."""

    def __init__(self, scope, name, dtype, lanes, kind):
        self.root, self.name, self.dtype, self.lanes, self.kind = scope.root, name, dtype, lanes, kind
        self.used = False

    @property
    def plain(self):
        return self.lanes[0][0]

    @property
    def shape(self):
        return self.plain.shape

    @property
    def rank(self):
        return self.plain.ndim

    @property
    def dims(self):
        """Each dimension's size in every run; 0 stands in where a run has none."""
        if self.root.careless:
            return [(size,) * len(self.lanes) for size in self.shape]
        return [tuple(lane[0].shape[i] if lane else 0 for lane in self.lanes) for i in range(self.rank)]

    @property
    def fixed(self):
        """Whether all runs have the same shape."""
        return all(len(set(dim)) == 1 for dim in self.dims)

    @property
    def full(self):
        """Whether no run has it empty."""
        return all(min(dim) > 0 for dim in self.dims)

    def sizes(self, axis):
        """All sizes along an axis, whether or not the choice is a careless one."""
        return {lane[0].shape[axis] for lane in self.lanes if lane}

    def known(self, axis):
        """The size along an axis where all runs have the same, else 0."""
        return self.dims[axis][0] if len(set(self.dims[axis])) == 1 else 0

    @property
    def constant(self):
        return self.kind == "constant"


class Scope:
    """A graph, or the body of a node in one (`parent`)."""

    def __init__(self, random, opset, runs=1, parent=None, noisy=NOISY):
        self.random, self.opset, self.runs, self.parent, self.noisy = random, opset, runs, parent, noisy
        # Noise has its own numbers, so that a graph can be made again with more of it.
        self.noise = parent.noise if parent else numpy.random.default_rng(1)
        self.root = parent.root if parent else self
        self.nodes, self.constants, self.inputs, self.tensors = [], [], [], []
        if not parent:
            self.count = 0
            self.symbols = {}  # name: size in each run
            self.chosen = {}  # dims by input's name
            self.careless = False  # whether choices look at the first run alone, whatever becomes of the others

    def fresh(self, prefix):
        self.root.count += 1
        return f"{prefix}{self.root.count}"

    def visible(self):
        """Tensors that a node here may read; those of enclosing graphs come first."""
        return (self.parent.visible() if self.parent else []) + self.tensors

    # Choosing

    def chance(self, probability):
        return self.random.random() < probability

    def one_of(self, options):
        return options[int(self.random.integers(len(options)))]

    def between(self, low, high):
        return int(self.random.integers(low, high + 1))

    def has(self, operator, domain=""):
        runtimes_own = domain or operator == "SimplifiedLayerNormalization"
        return runtimes_own or defs.has(operator, self.opset, domain)

    def need(self, condition):
        if not condition:
            raise Reject

    # Leaves

    def const(self, array, dtype=None):
        """An initialiser. Python lists are shapes and axes: int64."""
        array = numpy.asarray(array, numpy.int64) if isinstance(array, (list, tuple, int)) else numpy.asarray(array)
        dtype = dtype or array.dtype.name
        tensor = Tensor(self, self.fresh("c"), dtype, [[array] * (1 + self.noisy)] * self.runs, "constant")
        self.constants.append(values.constant(array, dtype, tensor.name))
        tensor.array = array
        return tensor

    def size(self):
        """A dimension: a number, or sizes by run."""
        if self.runs == 1 or self.chance(0.5):
            return (self.one_of((1, 2, 3, 4, 4, 5, 7)),) * self.runs
        if self.root.symbols and self.chance(0.6):
            return self.one_of(list(self.root.symbols.values()))
        return self.root.new_symbol()

    def new_symbol(self):
        base = self.one_of((2, 3, 4, 4, 5, 7))
        sizes = [base] + [self.one_of((1, 1, base, self.between(2, 8))) for _ in range(self.runs - 1)]
        if self.runs > 3 and self.chance(0.6):
            sizes[-1] = 0
        name = self.fresh("n")
        self.symbols[name] = tuple(sizes)
        return self.symbols[name]

    def input(self, dtype, dims, low=None, high=None):
        """A new input of the whole graph, with values from `low` to `high`."""
        if dtype in values.STORED_AS:
            raise Reject
        dims = [dim if isinstance(dim, tuple) else (dim,) * self.runs for dim in dims]
        lanes = []
        for run in range(self.runs):
            array = values.random_array(self.random, dtype, [dim[run] for dim in dims], low, high)
            lanes.append([array] * (1 + self.noisy))
        root = self.root
        tensor = Tensor(root, root.fresh("x"), dtype, lanes, "input")
        root.inputs.append(tensor)
        root.tensors.append(tensor)
        root.chosen[tensor.name] = [root.spell(dim) for dim in dims]
        return tensor

    def spell(self, dim):
        """A number, or a symbol that has these sizes: mostly a known one."""
        if len(set(dim)) == 1 and not self.chance(0.05 if self.runs > 1 else 0):
            return dim[0]
        known = [name for name, sizes in self.symbols.items() if sizes == dim]
        if known and self.chance(0.7):
            return self.one_of(known)
        name = self.fresh("n")
        self.symbols[name] = dim
        return name

    def operand(self, dtype, dims, low=None, high=None):
        """A tensor of this shape: there already, a new input, or a constant."""
        dims = [dim if isinstance(dim, tuple) else (dim,) * self.runs for dim in dims]
        if self.runs > 1 and dims and self.chance(0.2):
            return self.input(dtype, self.loosened(dims), low, high)
        if low is None and self.chance(0.5):
            there = [t for t in self.visible() if t.dtype == dtype and t.dims == dims]
            if there:
                return self.one_of(there)
        if all(len(set(dim)) == 1 for dim in dims) and self.chance(0.5) or dtype in values.STORED_AS:
            self.need(all(len(set(dim)) == 1 for dim in dims))
            return self.const(values.random_array(self.random, dtype, [dim[0] for dim in dims], low, high), dtype)
        return self.input(dtype, dims, low, high)

    def loosened(self, dims):
        """The same sizes in the first run, under a symbol that goes its own way in the others: broadcasts of
        sizes that only a run knows, and runs that must be refused."""
        at = self.between(0, len(dims) - 1)
        own = tuple(self.one_of((1, 1, size, size, size + 1)) if run else size for run, size in enumerate(dims[at]))
        return dims[:at] + [own] + dims[at + 1:]

    def weight(self, dtype, shape, low=None, high=None):
        """A constant as most weights are; now and then anything else of that shape."""
        if self.chance(0.8):
            return self.const(values.random_array(self.random, dtype, shape, low, high), dtype)
        return self.operand(dtype, list(shape), low, high)

    def pick(self, dtypes=values.FLOATS, rank=None, where=None, most=5):
        """A tensor of one of these types, of `rank` (a number or a range of two), that `where` accepts;
        results that nothing has read yet are preferred, and a new input where nothing fits."""
        low, high = (rank, rank) if isinstance(rank, int) else rank or (0, most)
        fitting = [t for t in self.visible() if t.dtype in dtypes and low <= t.rank <= high and t.kind != "constant"
                   and (where is None or where(t))]
        if fitting and self.chance(0.85):
            unread = [t for t in fitting if not t.used]
            return self.one_of(unread if unread and self.chance(0.6) else fitting)
        plain = [dtype for dtype in dtypes if dtype in values.PLAIN]
        self.need(plain)
        dtype = plain[0] if self.chance(0.5) else self.one_of(plain)
        for _ in range(8):
            tensor = self.input(dtype, [self.size() for _ in range(self.between(max(low, 0), high))])
            if where is None or where(tensor):
                return tensor
            self.root.inputs.remove(tensor)
            self.root.tensors.remove(tensor)
        raise Reject

    # Growing

    def node(self, operator, inputs, outputs=1, kind=ROUNDED, domain="", **attributes):
        """Adds a node that ONNX Runtime computes, or rejects it. A list of tensors, or the only one."""
        self.need(self.has(operator, domain))
        names = [self.fresh("t") for _ in range(outputs)]
        made = helper.make_node(operator, [t.name if t else "" for t in inputs], names,
                                name=self.fresh(operator.lower() + "_"), domain=domain,
                                **{key: value for key, value in attributes.items() if value is not None})
        tensors = self.add([made], [t for t in inputs if t], names, kind)
        return tensors[0] if outputs == 1 else tensors

    def add(self, nodes, reads, names, kind):
        """Runs `nodes`, which read the tensors `reads`, in all lanes, and adds them with their outputs `names`."""
        self.need(kind != STEP or not self.parent)  # a body runs as a whole: nothing in it can be moved by a step
        distinct = list({t.name: t for t in reads}.values())
        given = [t for t in distinct if not t.constant]
        constants = [values.constant(t.array, t.dtype, t.name) for t in distinct if t.constant]
        try:
            inputs = [(t.name, t.dtype, t.rank) for t in given]
            session = oracle.NodeSession(nodes, inputs, constants, names, self.opset)
        except oracle.Refused as refused:
            self.root.refused = str(refused)
            raise Reject from None
        lanes = [self.run_lane(session, given, run, kind) for run in range(self.runs)]
        tensors = [Tensor(self, name, dtype, [lane and [one[i] for one in lane] for lane in lanes], "result")
                   for i, (name, dtype) in enumerate(zip(names, session.types))]
        self.need(all(len({lane[0].ndim for lane in t.lanes if lane}) == 1 for t in tensors))
        for tensor in distinct:
            tensor.used = True
        self.nodes.extend(nodes)
        self.tensors.extend(tensors)
        return tensors

    def run_lane(self, session, given, run, kind):
        """[[outputs] for the plain and each noisy lane] of a run; None where ONNX Runtime refuses it."""
        if any(t.lanes[run] is None for t in given):
            return None
        results = []
        for noisy in range(1 + self.noisy):
            read = [t.lanes[run][noisy] for t in given]
            if noisy and kind in (APPROXIMATE, LOOSE):  # what is rounded inside is as if what is read were
                read = [noised(self.noise, array, t.dtype, ROUNDED) for array, t in zip(read, given)]
            try:
                arrays = session.run(read)
            except oracle.Refused as refused:
                self.root.refused = str(refused)
                # Elsewhere than in the first run a refusal is something to test, but rarely.
                # Not by the data: where only the shape is read, Camshaft computes no more than that, and lengths
                # of sequences are taken as at most what there is.
                shapes = not any(word in str(refused) for word in ("index", "indices element", "sequence_lens",
                                                                   "sequence length"))
                if noisy == 0 and run > 0 and shapes and self.chance(0.5) and not self.parent:
                    return None
                raise Reject from None
            if noisy == 0:
                self.accept(arrays, session.types)
            elif kind != EXACT:
                arrays = [noised(self.noise, a, t, kind) for a, t in zip(arrays, session.types)]
            results.append(arrays)
        return results

    def accept(self, arrays, types):
        for array, dtype in zip(arrays, types):
            if array.size > 4096 or array.ndim > 7:
                raise Reject
            if array.size == 0 or dtype == "bool":
                continue
            if is_wild(array, dtype):
                raise Reject


def is_wild(array, dtype):
    """Values that nothing should be computed from: not finite, close to overflow."""
    if values.is_float(dtype):
        with numpy.errstate(invalid="ignore"):
            return not numpy.isfinite(array).all() or numpy.abs(array).max() > values.LARGEST.get(dtype, 1e5)
    return array.dtype.itemsize >= 4 and numpy.abs(array.astype(numpy.float64)).max() > 2**24


def noised(random, array, dtype, kind):
    """`array` with each element moved as rounding might move it, and by a part of the largest where the
    operator sums or approximates."""
    if array.size == 0:
        return array
    if not values.is_float(dtype):
        return stepped(random, array) if kind == STEP else array
    step = NOISE * values.ROUNDING[dtype] * (20 if kind == LOOSE else 1)
    wide = array.astype(numpy.float64)
    reach = numpy.abs(wide)
    if kind in (APPROXIMATE, LOOSE):
        reach = reach + 0.25 * numpy.sqrt(numpy.mean(wide * wide)) + 0.02
    moved = wide + reach * random.uniform(-step, step, array.shape)
    if kind == LOOSE:  # what is next to nothing may be nothing
        moved = numpy.where((numpy.abs(wide) < reach * step) & (random.random(array.shape) < 0.5), 0, moved)
    return numpy.asarray(moved, array.dtype)


def stepped(random, array):
    """Integers moved by one, up or down."""
    if array.dtype == bool:
        return array
    limits = numpy.iinfo(array.dtype)
    moved = array.astype(numpy.int64) + random.choice((-1, 1), array.shape)
    return numpy.asarray(numpy.clip(moved, limits.min, limits.max), array.dtype)
