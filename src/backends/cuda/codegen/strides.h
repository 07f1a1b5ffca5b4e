// How the elements of a tensor lie against the dimensions of another.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace camshaft::cuda {

// Row-major strides.
std::vector<Dim> contiguousStrides(const Shape& shape);
// Strides of `from`, broadcast to `to` as NumPy does. Where only the run knows whether a dimension
// has size 1, the stride is an expression that is 0 then.
std::vector<Dim> broadcastStrides(const Shape& from, const Shape& to);
// Strides of `from` by the dimensions of its transpose, whose dimension i is order[i] of `from`.
std::vector<Dim> transposedStrides(const Shape& from, std::span<const int64_t> order);
// 1 where a size is 2 or more, else 0.
Dim oneWhereSeveral(const Dim& size);

// Dimensions of a tensor in order without those of size 1, neighbours joined where an operand with
// these strides walks them as one.
struct Run {
  Dim size, stride;
};
std::vector<Run> runsOf(const Shape& shape, const std::vector<Dim>& strides);

// Whether a size is a multiple of `factor` whatever its symbols are.
bool isMultiple(const Dim& dim, int64_t factor);

// Elements of the widest vector, at most 16 bytes, into which runs of each of these sizes divide.
// Threads that compute with them hold a few at most.
constexpr int kMostComputed = 8;
int vectorWidth(DataType type, std::initializer_list<Dim> runs, int most = 16);

}  // namespace camshaft::cuda
