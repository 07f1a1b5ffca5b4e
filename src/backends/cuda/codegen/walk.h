// Index text: where kernels that walk a tensor, as a whole or in parts such as rows and columns,
// read and write it and others that broadcast to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/strides.h"

namespace camshaft::cuda {

// Dimensions of a tensor that one running index of device code counts through, the last fastest.
struct WalkPart {
  std::string index;
  std::vector<size_t> axes;
};

// The axes from `first` up to `last`, as a part has them.
std::vector<size_t> axesFrom(size_t first, size_t last);

// Where an operand is for the walked element at coordinates c: offset + strides . c, in elements.
struct Access {
  std::vector<Dim> strides;
  Dim offset = 0;
  Access(std::vector<Dim> strides, Dim offset = 0)
      : strides(std::move(strides)), offset(std::move(offset)) {}
};

// The parts together hold every dimension. A vector of a thread runs along the last part, from a
// multiple of its width on.
class Walk {
 public:
  Walk(KernelText& kernel, Shape shape, std::vector<WalkPart> parts)
      : kernel_(kernel), shape_(std::move(shape)), parts_(std::move(parts)) {}
  // All dimensions by one index.
  static Walk linear(KernelText& kernel, const Shape& shape, std::string index) {
    return Walk(kernel, shape, {{std::move(index), axesFrom(0, shape.size())}});
  }

  // Sees dimension `axis` as [axis / inner, inner]; the parts count dimensions after all splits.
  void split(size_t axis, const Dim& inner);

  // An operand's place, its strides one per dimension before splits; `lane` is added to the last
  // part's index.
  std::string position(const Access& access, std::string_view lane = {});
  // Whether `width` neighbours along the last part are neighbours in memory that one access can
  // move.
  bool hasVectors(const Access& access, int width) const;

  // Prints the reading of `width` elements of `pointer` and returns the text of element `lane`,
  // as computed with. `name` is for what has to be kept until then.
  std::string load(const std::string& pointer, const Access& access, int width,
                   const std::string& name);

 private:
  std::vector<Run> runsAlong(const WalkPart& part, const Access& access) const;

  KernelText& kernel_;
  Shape shape_;
  std::vector<WalkPart> parts_;
  std::vector<std::pair<size_t, Dim>> splits_;
};

// One part for each dimension: names[0], names[1], ...
std::vector<WalkPart> partPerAxis(const std::vector<std::string>& names);

// Sizes as the list that device code takes for an array: "{768, size0}".
std::string sizesText(KernelText& kernel, const std::vector<Dim>& sizes);

}  // namespace camshaft::cuda
