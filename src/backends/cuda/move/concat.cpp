// Concat: the output is rows, each a piece of every input's row.
#include "backends/cuda/families.h"
#include "backends/cuda/generated_params.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "ops/move.h"
#include "support/text.h"

namespace camshaft::cuda::move {
namespace {

// Each may bring where it begins and how long it is.
constexpr int kMostInputs = kMostArguments / 3 - 8;

Verdict supports(const Node& node, const BuildContext&) {
  if (node.ownInputs() > kMostInputs) return Verdict::no("joins too many tensors for one kernel");
  return Verdict{whyNotPrinted(node)};
}

// Piece i is elements begin to end of an output row.
struct Piece {
  int input;
  Dim begin, size;
  Dim end() const { return begin + size; }
};

std::vector<Piece> piecesOf(const Node& node) {
  const int64_t axis = node.as<ConcatAttrs>().axis;
  std::vector<Piece> pieces;
  Dim begin = 0;
  for (int i = 0; i < node.ownInputs(); ++i) {
    const Shape& shape = node.input(i)->shape();
    const Dim size = numElements({shape.begin() + axis, shape.end()});
    pieces.push_back({i, begin, size});
    begin += size;
  }
  return pieces;
}

// A binary search for the piece that column at[1] lies in.
void printSource(ElementKernel& kernel, std::span<const Piece> pieces) {
  if (pieces.size() == 1) {
    const Piece& piece = pieces.front();
    kernel.text.body += str("  from = x", piece.input, " + at[0] * ", kernel.size(piece.size),
                            " + (at[1] - ", kernel.size(piece.begin), ");\n");
    return;
  }
  const size_t half = pieces.size() / 2;
  kernel.text.body += str("  if (at[1] < ", kernel.size(pieces[half].begin), ") {\n");
  printSource(kernel, pieces.first(half));
  kernel.text.body += "  } else {\n";
  printSource(kernel, pieces.subspan(half));
  kernel.text.body += "  }\n";
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const DataType type = node.input(0)->dataType();
  const Shape& shape = node.output()->shape();
  const std::vector<Piece> pieces = piecesOf(node);
  int width = vectorWidth(type, {});
  for (const Piece& piece : pieces) width = vectorWidth(type, {piece.size}, width);
  const Shape outer(shape.begin(), shape.begin() + node.as<ConcatAttrs>().axis);

  ElementKernel kernel("concat", node, context, width, Results::kStored);
  kernel.printCoordinates({numElements(outer), pieces.back().end()});
  kernel.text.body += str("  const ", storageType(type), "* from;\n");
  printSource(kernel, pieces);
  kernel.text.body +=
      str("  const auto moved = loadVector<", width, ">(from);\n  store(first, moved.v);\n");
  return kernel.prepared();
}

constexpr Kernel kKernels[] = {{"cuda/concat", supports, prepare}};

}  // namespace

KernelList concatKernels() { return kKernels; }

}  // namespace camshaft::cuda::move
