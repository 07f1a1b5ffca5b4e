#include "backends/cuda/codegen/strides.h"

#include <algorithm>

namespace camshaft::cuda {

std::vector<Dim> contiguousStrides(const Shape& shape) {
  std::vector<Dim> strides(shape.size());
  Dim stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) strides[i] = stride;
  return strides;
}

std::vector<Dim> broadcastStrides(const Shape& from, const Shape& to) {
  const std::vector<Dim> own = contiguousStrides(from);
  std::vector<Dim> strides(to.size(), Dim(0));
  const size_t skipped = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    const Dim& size = to[skipped + i];
    const bool isWhole = from[i] == size || size.isConstant(1);
    strides[skipped + i] = isWhole ? own[i] : own[i] * oneWhereSeveral(from[i]);
  }
  return strides;
}

std::vector<Dim> transposedStrides(const Shape& from, std::span<const int64_t> order) {
  const std::vector<Dim> own = contiguousStrides(from);
  std::vector<Dim> strides;
  for (int64_t axis : order) strides.push_back(own[axis]);
  return strides;
}

Dim oneWhereSeveral(const Dim& size) { return min(1, max(size - 1, 0)); }

std::vector<Run> runsOf(const Shape& shape, const std::vector<Dim>& strides) {
  std::vector<Run> runs;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].isConstant(1)) continue;
    if (!runs.empty() && runs.back().stride == strides[i] * shape[i])
      runs.back() = {runs.back().size * shape[i], strides[i]};
    else
      runs.push_back({shape[i], strides[i]});
  }
  return runs;
}

bool isMultiple(const Dim& dim, int64_t factor) {
  if (dim.isConstant()) return dim.value() % factor == 0;
  if (dim.constantPart() % factor != 0) return false;
  return std::all_of(dim.terms().begin(), dim.terms().end(),
                     [&](const Dim::Term& term) { return term.coefficient % factor == 0; });
}

int vectorWidth(DataType type, std::initializer_list<Dim> runs, int most) {
  int width = std::min(most, 128 / bitsOf(type));
  for (const Dim& size : runs)
    while (width > 1 && !isMultiple(size, width)) width /= 2;
  return width;
}

}  // namespace camshaft::cuda
