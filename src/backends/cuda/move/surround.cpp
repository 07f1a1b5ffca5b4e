// Pad, Tile and Trilu: outputs whose coordinates lead to one input element, or to none.
#include <algorithm>

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "backends/cuda/pointwise/pointwise.h"
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

// The position along dimension d that coordinate `at` copies.
std::string padSource(ElementKernel& kernel, const Node& node, const PaddedDim& dim,
                      const std::string& at) {
  if (!dim.isPadded) return at;
  return str("padSource<PadMode::", modeName(node.as<PadAttrs>().mode), ">(", at, " - ",
             kernel.size(dim.begin), ", ", kernel.size(dim.in), ")");
}

Prepared preparePad(const Node& node, const PrepareOptions& options) {
  const std::vector<PaddedDim> dims = paddedDims(node);
  Shape in, out;
  for (const PaddedDim& dim : dims) {
    in.push_back(dim.in);
    out.push_back(dim.out);
  }
  const std::vector<Dim> strides = contiguousStrides(in);
  const DataType type = node.input(0)->dataType();
  const int width = vectorWidth(type, {out.back()});
  ElementKernel kernel("pad", node, options, out, width);
  kernel.text.include("move/surround.cuh");
  kernel.text.body += str(
      "  const ", storageType(type),
      " padding = ", node.hasInput(1) ? "x1[0]" : str("zero<", storageType(type), ">()"), ";\n");
  const size_t last = dims.size() - 1;
  std::string row = "0", isPadding = "false";
  for (size_t i = 0; i < last; ++i) {
    kernel.text.body +=
        str("  const Index s", i, " = ", padSource(kernel, node, dims[i], str("c", i)), ";\n");
    row += str(" + s", i, " * ", kernel.size(strides[i]));
    if (dims[i].isPadded) isPadding += str(" || s", i, " < 0");
  }
  kernel.text.body +=
      str("  const Index row = ", row, ";\n  const bool isPaddingRow = ", isPadding, ";\n");
  if (!dims[last].isPadded) {
    kernel.text.body += str("  Vector<", storageType(type), ", ", width,
                            "> moved;\n  if (!isPaddingRow) moved = loadVector<", width,
                            ">(x0 + row + c", last, ");\n");
    return kernel.finish("", "isPaddingRow ? padding : moved.v[lane]", LaneValue::kStored);
  }
  const std::string source = padSource(kernel, node, dims[last], str("c", last, " + lane"));
  return kernel.finish(str("    const Index source = ", source, ";\n"),
                       "isPaddingRow || source < 0 ? padding : x0[row + source]",
                       LaneValue::kStored);
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

Prepared prepareTile(const Node& node, const PrepareOptions& options) {
  const Repetition tiled = repetitionOf(node);
  const std::vector<Dim> strides = contiguousStrides(tiled.in);
  const int width = vectorWidth(node.input(0)->dataType(), {tiled.in.back()});
  ElementKernel kernel("tile", node, options, tiled.out, width);
  std::string from = "c0 * " + kernel.size(strides[0]);
  for (size_t i = 1; i < tiled.in.size(); ++i)
    from += str(" + c", i, " % ", kernel.size(tiled.in[i]), " * ", kernel.size(strides[i]));
  kernel.text.body += str("  const auto moved = loadVector<", width, ">(x0 + (", from, "));\n");
  return kernel.finishMoved();
}

Prepared prepareTrilu(const Node& node, const PrepareOptions& options) {
  const auto& attrs = node.as<TriluAttrs>();
  const Shape& shape = node.input(0)->shape();
  const DataType type = node.input(0)->dataType();
  const Dim &rows = shape[shape.size() - 2], &columns = shape.back();
  const Shape outer(shape.begin(), shape.end() - 2);
  const int width = vectorWidth(type, {columns});
  ElementKernel kernel("trilu", node, options, {numElements(outer), rows, columns}, width);
  kernel.text.include("move/surround.cuh");
  kernel.text.body += str("  const auto moved = loadVector<", width, ">(x0 + first);\n");
  return kernel.finish(
      "",
      str("c2 + lane - c1 ", attrs.upper ? ">= " : "<= ", kernel.size(attrs.diagonal),
          " ? moved.v[lane] : zero<", storageType(type), ">()"),
      LaneValue::kStored);
}

bool triluInPlace(const Node& node, int input) {
  return input == 0 && node.input(0)->type == node.output()->type;
}

constexpr Kernel kPad[] = {{"cuda/pad", movesElements, preparePad}};
constexpr Kernel kTile[] = {{"cuda/tile", movesElements, prepareTile}};
constexpr Kernel kTrilu[] = {{"cuda/trilu", movesElements, prepareTrilu, nullptr, triluInPlace}};

}  // namespace

KernelList padKernels() { return kPad; }
KernelList tileKernels() { return kTile; }
KernelList triluKernels() { return kTrilu; }

}  // namespace camshaft::cuda::move
