// Text for kernels that walk a tensor in parts, such as rows and columns, and read others that
// broadcast to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/codegen/kernel_text.h"

namespace camshaft::cuda {

// Dimensions of a tensor that one running index of device code counts through, the last fastest.
struct WalkPart {
  std::string index;
  std::vector<size_t> axes;
};

// The parts together hold every dimension. A vector of a thread runs along the last part.
class Walk {
 public:
  Walk(KernelText& kernel, Shape shape, std::vector<WalkPart> parts)
      : kernel_(kernel), shape_(std::move(shape)), parts_(std::move(parts)) {}

  // Sees dimension `axis` as [axis / inner, inner]; the parts count dimensions after all splits.
  void split(size_t axis, const Dim& inner);

  // Where an operand with these strides, one per dimension before splits, is read; `lane` is added
  // to the last part's index.
  std::string position(const std::vector<Dim>& strides, std::string_view lane = {});
  // Whether `width` neighbours along the last part, counted from a multiple of it, are neighbours
  // in memory that one access can move.
  bool hasVectors(const std::vector<Dim>& strides, int width) const;

  // Prints the reading of `width` elements of `pointer` and returns the text of element `lane`,
  // as computed with. `name` is for what has to be kept until then.
  std::string load(const std::string& pointer, const std::vector<Dim>& strides, int width,
                   const std::string& name);

 private:
  struct Run {
    Dim size, stride;
  };
  std::vector<Dim> splitStrides(std::vector<Dim> strides) const;
  std::vector<Run> runsOf(const WalkPart& part, const std::vector<Dim>& strides) const;

  KernelText& kernel_;
  Shape shape_;
  std::vector<WalkPart> parts_;
  std::vector<std::pair<size_t, Dim>> splits_;
};

// The inputs of a node's epilogue as operands of the kernel, after its own.
void declareEpilogue(KernelText& kernel, const Node& node);

// Prints the store of `width` results of output 0 with the epilogue applied, as
//   const auto store = [&](Index INDEX, const T (&results)[width]) { ... };
// `walk` walks that output; its other indices are variables that stand before.
void printStore(KernelText& kernel, const Node& node, Walk& walk, std::string_view index,
                int width);

// Prints, as `load`, the reading of `width` elements of `pointer` into an array of compute type:
//   const auto load = [&](Index INDEX, T (&values)[width]) { ... };
void printLoad(KernelText& kernel, Walk& walk, std::string_view index, DataType type,
               const std::vector<Dim>& strides, int width);

// Why the node's types or epilogue cannot be printed; empty when they can.
std::string whyNotPrinted(const Node& node);

// The axes from `first` up to `last`, as a part has them.
std::vector<size_t> axesFrom(size_t first, size_t last);

}  // namespace camshaft::cuda
