// An operand of an Einsum: its strides by the labels of the result, then by those summed over.
template <class T, int kLabels>
struct EinsumOperand {
  const T* x;
  Index strides[kLabels];
  __device__ __forceinline__ auto at(const Coordinates<kLabels>& labels) const {
    return toCompute(x[positionAt(labels, strides)]);
  }
};

// One result: the sum of products over labels kLabel and later, the first kResults labels being its
// coordinates.
template <class Sum, int kLabel, int kLabels, class... Operands>
__device__ __forceinline__ void einsum(Sum& sum, Coordinates<kLabels>& at,
                                       const Index (&sizes)[kLabels], const Operands&... operands) {
  if constexpr (kLabel == kLabels) {
    sum += (... * static_cast<Sum>(operands.at(at)));
  } else {
    for (Index i = 0; i < sizes[kLabel]; ++i) {
      at.c[kLabel] = i;
      einsum<Sum, kLabel + 1>(sum, at, sizes, operands...);
    }
  }
}
