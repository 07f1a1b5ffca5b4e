// Where moved elements come from.
template <class S>
__device__ __forceinline__ S zero() {
  return S{};
}

enum class PadMode { kConstant, kReflect, kEdge, kWrap };

// The position along a dimension that padding at `i` copies, or -1 for the padding value.
template <PadMode kMode>
__device__ __forceinline__ Index padSource(Index i, Index size) {
  if (i >= 0 && i < size) return i;
  if (kMode == PadMode::kConstant || size <= 0) return -1;
  if (kMode == PadMode::kEdge) return i < 0 ? 0 : size - 1;
  const Index period = kMode == PadMode::kWrap ? size : 2 * (size - 1);
  if (period == 0) return 0;  // one element to reflect
  const Index rest = i % period, at = rest < 0 ? rest + period : rest;
  return kMode == PadMode::kWrap || at <= period - at ? at : period - at;
}
