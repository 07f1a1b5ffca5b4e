// Pad, Tile and Trilu: outputs whose coordinates lead to one input element, or to none.
#include <algorithm>

#include "backends/cuda/codegen/element_kernel.h"
#include "backends/cuda/families.h"
#include "ops/move.h"
#include "support/text.h"

namespace camshaft::cuda::move {
namespace {

// One dimension of a padded tensor; neighbours without padding are joined.
struct PaddedDim {
  Dim in, out, begin = 0;
  bool isPadded = false;
};

std::vector<PaddedDim> paddedDims(const Node& node) {
  const auto& attrs = node.as<PadAttrs>();
  const Shape& in = node.input(0)->shape();
  const Shape& out = node.output()->shape();
  std::vector<PaddedDim> dims;
  for (size_t i = 0; i < in.size(); ++i) {
    const bool isPadded = !attrs.begin[i].isConstant(0) || !attrs.end[i].isConstant(0);
    if (isPadded || dims.empty() || dims.back().isPadded) {
      dims.push_back({in[i], out[i], attrs.begin[i], isPadded});
    } else {
      dims.back().in *= in[i];
      dims.back().out *= out[i];
    }
  }
  if (dims.empty()) dims.push_back({1, 1});
  return dims;
}

std::string_view modeName(PadMode mode) {
  static constexpr std::string_view kNames[] = {"kConstant", "kReflect", "kEdge", "kWrap"};
  return kNames[static_cast<int>(mode)];
}

Prepared preparePad(const Node& node, const BuildContext& context, int64_t) {
  const std::vector<PaddedDim> dims = paddedDims(node);
  Shape in, out;
  for (const PaddedDim& dim : dims) {
    in.push_back(dim.in);
    out.push_back(dim.out);
  }
  const std::vector<Dim> strides = contiguousStrides(in);
  const DataType type = node.input(0)->dataType();
  const int width = vectorWidth(type, {out.back()});
  ElementKernel kernel("pad", node, context, width, Results::kStored);
  kernel.printCoordinates(out);
  kernel.text.include("move/surround.cuh");
  std::string list;
  for (size_t i = 0; i < dims.size(); ++i)
    list += str(i == 0 ? "" : ", ", "{", kernel.size(dims[i].begin), ", ", kernel.size(dims[i].in),
                ", ", kernel.size(strides[i]), ", ", dims[i].isPadded, "}");
  kernel.text.body +=
      str("  using Element = ", storageType(type), ";\n  const PaddedDim dims[] = {", list,
          "};\n  pad<PadMode::", modeName(node.as<PadAttrs>().mode), ", ", width, ", ",
          dims.back().isPadded, ">(x0, ", node.hasInput(1) ? "x1[0]" : "Element{}",
          ", dims, at, first, store);\n");
  return kernel.prepared();
}

// Dimensions of the input and how often each is repeated; those repeated once belong to the
// dimension before them.
struct Repetition {
  Shape in, out;
};

Repetition repetitionOf(const Node& node) {
  const auto& repeats = node.as<TileAttrs>().repeats;
  const Shape& shape = node.input(0)->shape();
  Repetition result{{1}, {1}};
  for (size_t i = 0; i < shape.size(); ++i) {
    if (repeats[i].isConstant(1)) {
      result.in.back() *= shape[i];
      result.out.back() *= shape[i];
    } else {
      result.in.push_back(shape[i]);
      result.out.push_back(shape[i] * repeats[i]);
    }
  }
  return result;
}

Prepared prepareTile(const Node& node, const BuildContext& context, int64_t) {
  const Repetition tiled = repetitionOf(node);
  const int width = vectorWidth(node.input(0)->dataType(), {tiled.in.back()});
  ElementKernel kernel("tile", node, context, width, Results::kStored);
  kernel.printCoordinates(tiled.out);
  kernel.text.include("move/surround.cuh");
  kernel.text.body +=
      str("  tile<", width, ">(x0, ", sizesText(kernel.text, tiled.in), ", ",
          sizesText(kernel.text, contiguousStrides(tiled.in)), ", at, first, store);\n");
  return kernel.prepared();
}

Prepared prepareTrilu(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<TriluAttrs>();
  const Shape& shape = node.input(0)->shape();
  const Dim &rows = shape[shape.size() - 2], &columns = shape.back();
  const Shape outer(shape.begin(), shape.end() - 2);
  const int width = vectorWidth(node.input(0)->dataType(), {columns});
  ElementKernel kernel("trilu", node, context, width, Results::kStored);
  kernel.printCoordinates({numElements(outer), rows, columns});
  kernel.text.include("move/surround.cuh");
  kernel.text.body += str("  trilu<", attrs.upper, ", ", width, ">(x0, ",
                          kernel.size(attrs.diagonal), ", at, first, store);\n");
  return kernel.prepared();
}

bool triluInPlace(const Node& node, int input) {
  return input == 0 && node.input(0)->type == node.output()->type;
}

constexpr Kernel kPad[] = {{"cuda/pad", isPrinted, preparePad}};
constexpr Kernel kTile[] = {{"cuda/tile", isPrinted, prepareTile}};
constexpr Kernel kTrilu[] = {{"cuda/trilu", isPrinted, prepareTrilu, nullptr, triluInPlace}};

}  // namespace

KernelList padKernels() { return kPad; }
KernelList tileKernels() { return kTile; }
KernelList triluKernels() { return kTrilu; }

}  // namespace camshaft::cuda::move
