// Kernels in which every thread moves a few neighbouring output elements from positions it
// computes, applies the node's epilogue and stores them with one instruction.
#pragma once

#include <string>
#include <string_view>

#include "backends/cuda/codegen/kernel_text.h"

namespace camshaft::cuda {

// No where elements are of a type that device code lacks, or where the epilogue cannot be printed.
Verdict movesElements(const Node& node);

// Elements of this type that one access moves, at most 16 bytes, where rows of each size divide
// into them.
int vectorWidth(DataType type, std::initializer_list<Dim> rowSizes);

// Coordinates PREFIX0, PREFIX1, ... in `shape` of the element at the linear position `linear`.
void printCoordinates(KernelText& kernel, const Shape& shape, std::string_view linear,
                      std::string_view prefix);

// What a lane's value is: an element as stored, moved bit by bit where there is no epilogue, or
// a number of the compute type.
enum class LaneValue { kStored, kComputed };

// Declares the node's inputs as x0, x1, ... and its result as y; prints how results are stored.
class ElementStore {
 public:
  ElementStore(KernelText& kernel, const Node& node, int width);

  // Stores `width` results from output element `first` on. Of each, `value` is the text, which may
  // use `lane` and what `laneStatements` declare.
  void print(const std::string& laneStatements, const std::string& value, LaneValue kind);

 private:
  KernelText& kernel_;
  const Node& node_;
  int width_;
};

// The whole kernel where threads take the outputs in order: the family prints where `first`,
// with coordinates c0, c1, ... in `view`, comes from. `view` is the output's shape, or dimensions
// of it joined.
class ElementKernel {
 public:
  ElementKernel(std::string_view what, const Node& node, const PrepareOptions& options, Shape view,
                int width);

  std::string size(const Dim& dim) { return text.size(dim); }
  Prepared finish(const std::string& laneStatements, const std::string& value, LaneValue kind);
  // The usual end: vectors loaded as `moved`.
  Prepared finishMoved() { return finish("", "moved.v[lane]", LaneValue::kStored); }

  KernelText text;

 private:
  ElementStore store_;
  Dim threads_;
};

}  // namespace camshaft::cuda
