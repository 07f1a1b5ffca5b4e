// One sequence of a recurrent layer by one block. The kernel's constants say which layer: gates are
// in ONNX's order, i o f c or z r h. Inputs left out are null.
struct RecurrentSizes {
  Index steps, batch, inputs;
};

template <class S>
__device__ __forceinline__ Real valueOr0(const S* from, long long at) {
  return from ? Real(toCompute(from[at])) : Real(0);
}

// sums[row] = bias[row] + matrix[row] . vector for rows [begin, end), a row by a warp, kWidth
// elements at once by a lane.
template <int kWidth, class M, class B, class V>
__device__ void multiply(const M* matrix, const B* bias, const V* vector, int begin, int end,
                         int length, Real* sums) {
  for (int row = begin + threadIdx.x / 32; row < end; row += kThreads / 32) {
    const M* from = matrix + static_cast<long long>(row) * length;
    Real sum = 0;
#pragma unroll 4
    for (int i = threadIdx.x % 32 * kWidth; i < length; i += 32 * kWidth) {
      const auto a = loadVector<kWidth>(from + i);
      const auto b = loadVector<kWidth>(vector + i);
#pragma unroll
      for (int lane = 0; lane < kWidth; ++lane)
        sum += Real(toCompute(a.v[lane])) * Real(toCompute(b.v[lane]));
    }
    sum = warpReduce(sum, Sum{});
    if (threadIdx.x % 32 == 0) sums[row] = sum + valueOr0(bias, row);
  }
}

// What one step reads and changes, in shared memory.
struct RecurrentState {
  Real *h, *c, *resetH;         // [kHidden]
  Real *fromInput, *fromState;  // [kGates * kHidden]
  __device__ __forceinline__ explicit RecurrentState(Real* memory)
      : h(memory),
        c(h + kHidden),
        resetH(c + kHidden),
        fromInput(resetH + kHidden),
        fromState(fromInput + kGates * kHidden) {}
  __device__ __forceinline__ Real gate(int g, int j) const {
    return fromInput[g * kHidden + j] + fromState[g * kHidden + j];
  }
};

// Clipping bounds the gates, not the cell. Peepholes are in the order i o f.
template <class P>
__device__ void stepLstm(const RecurrentState& state, int direction, const P* peepholes) {
  for (int j = threadIdx.x; j < kHidden; j += kThreads) {
    const Real old = state.c[j];
    const auto gate = [&](int g, Real seen) {
      const Real peephole = valueOr0(peepholes, (direction * 3 + g) * kHidden + j);
      return activate(direction, 0, clipped(state.gate(g, j) + peephole * seen));
    };
    const Real in = gate(0, old), forget = kInputForget ? 1 - in : gate(2, old);
    const Real cell = forget * old + in * activate(direction, 1, clipped(state.gate(3, j)));
    state.c[j] = cell;
    state.h[j] = gate(1, cell) * activate(direction, 2, cell);
  }
}

template <class R, class B>
__device__ void stepGru(const RecurrentState& state, int direction, const R* weights,
                        const B* bias) {
  if (!kLinearBeforeReset) {  // the last gate sees the state after its reset
    for (int j = threadIdx.x; j < kHidden; j += kThreads)
      state.resetH[j] = activate(direction, 0, clipped(state.gate(1, j))) * state.h[j];
    __syncthreads();
    multiply<kStateWidth>(weights, bias, state.resetH, 2 * kHidden, 3 * kHidden, kHidden,
                          state.fromState);
    __syncthreads();
  }
  for (int j = threadIdx.x; j < kHidden; j += kThreads) {
    const Real update = activate(direction, 0, clipped(state.gate(0, j)));
    const Real reset =
        kLinearBeforeReset ? activate(direction, 0, clipped(state.gate(1, j))) : Real(1);
    const int last = 2 * kHidden + j;
    const Real next =
        activate(direction, 1, clipped(state.fromInput[last] + reset * state.fromState[last]));
    state.h[j] = (1 - update) * next + update * state.h[j];
  }
}

template <class X, class W, class R, class B, class L, class H, class C, class P, class Y, class YC>
__device__ void walkSequence(const RecurrentSizes& sizes, const X* x, const W* weights,
                             const R* recurrentWeights, const B* bias, const L* lengths,
                             const H* initialH, const C* initialC, const P* peepholes, Y* y,
                             Y* finalH, YC* finalC) {
  extern __shared__ __align__(16) unsigned char memory[];
  const RecurrentState state(reinterpret_cast<Real*>(memory));
  const long long batch = blockIdx.x, direction = blockIdx.y;
  const long long stateAt =
      (kBatchFirst ? batch * kDirections + direction : direction * sizes.batch + batch) * kHidden;
  const long long rows = kGates * kHidden;
  const W* w = weights + direction * rows * sizes.inputs;
  const R* r = recurrentWeights + direction * rows * kHidden;
  const B* inputBias = bias ? bias + direction * 2 * rows : bias;
  const B* stateBias = bias ? inputBias + rows : bias;
  const long long asked = lengths ? static_cast<long long>(lengths[batch]) : sizes.steps;
  const Index length = asked < 0 ? Index(0) : asked > sizes.steps ? sizes.steps : Index(asked);

  for (int j = threadIdx.x; j < kHidden; j += kThreads) {
    state.h[j] = valueOr0(initialH, stateAt + j);
    state.c[j] = valueOr0(initialC, stateAt + j);
  }
  for (Index i = 0; i < sizes.steps; ++i) {
    const bool isPast = i >= length;  // the end of this sequence, where y is zero
    const Index t = !isPast && (kIsReverse || direction == 1) ? length - 1 - i : i;
    const long long xAt =
        (kBatchFirst ? batch * sizes.steps + t : t * sizes.batch + batch) * sizes.inputs;
    const long long yAt = (kBatchFirst ? (batch * sizes.steps + t) * kDirections + direction
                                       : (t * kDirections + direction) * sizes.batch + batch) *
                          kHidden;
    __syncthreads();
    if (!isPast) {
      multiply<kInputWidth>(w, inputBias, x + xAt, 0, rows, sizes.inputs, state.fromInput);
      multiply<kStateWidth>(r, stateBias, state.h, 0, rows, kHidden, state.fromState);
      __syncthreads();
      if (kIsLstm)
        stepLstm(state, direction, peepholes);
      else if (kIsGru)
        stepGru(state, direction, r, stateBias);
      else
        for (int j = threadIdx.x; j < kHidden; j += kThreads)
          state.h[j] = activate(direction, 0, clipped(state.gate(0, j)));
    }
    for (int j = threadIdx.x; j < kHidden; j += kThreads)  // what this thread wrote itself
      y[yAt + j] = toStorage<Y>(isPast ? Real(0) : state.h[j]);
  }
  for (int j = threadIdx.x; j < kHidden; j += kThreads) {
    finalH[stateAt + j] = toStorage<Y>(state.h[j]);
    if (finalC) finalC[stateAt + j] = toStorage<YC>(state.c[j]);
  }
}
