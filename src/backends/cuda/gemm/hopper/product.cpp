#include "backends/cuda/gemm/hopper/product.h"

#include <algorithm>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/strides.h"
#include "backends/cuda/gemm/hopper/byte_weights.h"
#include "backends/cuda/gemm/hopper/geometry.h"
#include "ops/gemm.h"
#include "ops/gemm_int8.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr int kMostOperands = 8;  // GemmParams::extra

Shape leading(const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); }

bool isOneMatrix(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end() - 2,
                     [](const Dim& dim) { return dim.isConstant(1); });
}

bool isByte(DataType type) { return type == DataType::kI8 || type == DataType::kU8; }

std::string whyNotTypes(DataType a, DataType b) {
  if ((isByte(a) && isByte(b)) || (isFloat8(a) && isFloat8(b))) return {};
  if (a == b && (a == DataType::kF16 || a == DataType::kBF16 || a == DataType::kF32)) return {};
  return str("multiplies two of f16, bf16, f32, of floats or integers of 8 bits, not ", a, " by ",
             b);
}

std::string whyNotLayout(const HopperProduct& p) {
  const int64_t bytes = bitsOf(p.typeA) / 8, unit = 16 / bytes;
  if (!isMultiple(p.transposedA ? p.m : p.k, unit))
    return "needs rows of the first operand that are a multiple of 16 bytes";
  if (!isMultiple(p.transposedB ? p.k : p.n, unit))
    return "needs rows of the second operand that are a multiple of 16 bytes";
  if (bytes != 2 && (p.transposedA || !p.transposedB))
    return "reads elements of one or four bytes along K only";
  // A run that has fewer steps than parts of K, or none, would have to be refused.
  if (!p.k.isConstant()) return "needs to know while building how much there is to add up";
  if (p.k.isConstant(0)) return "has nothing to add up";
  return {};
}

// Weights take the norm's scale, and constants of columns what it subtracts and adds.
std::string whyNotNorm(const Node& node, const HopperProduct& p) {
  if (p.typeA != DataType::kF16 && p.typeA != DataType::kBF16) return "normalises f16 and bf16";
  for (int input : {1, NormMatMulAttrs::kScale, NormMatMulAttrs::kBias})
    if (node.hasInput(input) && !node.input(input)->isConstant()) return "normalises by constants";
  return {};
}

// Quantised ReLUs have it, and models still state it.
bool isKnownZero(const Value& zero) {
  return zero.isConstant() && !zero.isOpaque() &&
         readElement(zero.dataType(), zero.view().data, 0) == 0;
}

// What becomes of the zero points of a MatMulInteger, none of which is left to the kernel but A's.
std::string whyNotZeroPoints(const Node& node, HopperProduct& p) {
  const Value *b = node.input(1), *zeroA = node.input(2), *zeroB = node.input(3);
  if (zeroA && !isOneNumber(*zeroA)) return "takes one zero point for all of the first operand";
  if ((zeroA || zeroB) && !p.packsB) return "needs a constant second operand beside zero points";
  if (zeroB && (!zeroB->isConstant() || !liesAlong(*zeroB, b->rank() - 1, b->rank())))
    return "takes constant zero points of the second operand, one for each column at most";
  if (p.packsB) {
    const std::optional<DataType> type = byteWeightType(*b, zeroB);
    if (!type) return "needs weights that are 8-bit integers without their zero points too";
    p.typeB = *type;
  }
  if (zeroA && !isKnownZero(*zeroA))
    p.zeroA = zeroA->isConstant() ? ZeroPoint::kConstant : ZeroPoint::kRunTime;
  return {};
}

MatMulAttrs matricesOf(const Node& node) {
  MatMulAttrs attrs;
  if (node.op == &ops::MatMul || node.op == &ops::MomentMatMul) attrs = node.as<MatMulAttrs>();
  if (node.op == &ops::NormMatMul) attrs.transposeB = node.as<NormMatMulAttrs>().transposeB;
  return attrs;
}

// Sizes, and how matrices lie.
std::string whyNotMatrices(const Node& node, HopperProduct& p) {
  const MatMulAttrs attrs = matricesOf(node);
  const Value& b = *node.inputs[1];
  const Shape &shapeA = node.inputs[0]->shape(), &shapeB = b.shape();
  const size_t rankA = shapeA.size(), rankB = shapeB.size();
  p.transposedA = attrs.transposeA;
  p.m = shapeA[rankA - (attrs.transposeA ? 1 : 2)];
  p.k = shapeA[rankA - (attrs.transposeA ? 2 : 1)];
  p.n = shapeB[rankB - (attrs.transposeB ? 2 : 1)];
  const bool isOneB = isOneMatrix(shapeB);
  p.packsB = isOneB && b.isConstant() && (!attrs.transposeB || p.normalises);
  p.transposedB = attrs.transposeB || p.packsB;
  if (isOneB && !p.transposedA) {
    p.hasFlatRows = !isOneMatrix(shapeA);
    p.m *= numElements(leading(shapeA));
    return {};
  }
  const Shape items = leading(node.output()->shape());
  p.batch = numElements(items);
  p.batchA = !isOneMatrix(shapeA);
  p.batchB = !isOneB;
  if ((p.batchA && leading(shapeA) != items) || (p.batchB && leading(shapeB) != items))
    return "repeats an operand along some dimensions of the batch only";
  return {};
}

}  // namespace

HopperProduct hopperProductOf(const Node& node) {
  HopperProduct p;
  p.typeA = node.inputs[0]->dataType();
  p.typeB = node.inputs[1]->dataType();
  p.normalises = node.op == &ops::NormMatMul;
  p.keepsMoments = node.op == &ops::MomentMatMul;
  p.refusal = whyNotTypes(p.typeA, p.typeB);
  if (p.refusal.empty()) p.refusal = whyNotMatrices(node, p);
  if (p.refusal.empty()) p.refusal = whyNotLayout(p);
  if (p.refusal.empty() && p.normalises) p.refusal = whyNotNorm(node, p);
  if (p.refusal.empty() && node.op == &ops::MatMulInteger) p.refusal = whyNotZeroPoints(node, p);
  return p;
}

bool hasWholeColumns(const Node& node, const HopperProduct& product) {
  return isMultiple(product.n, bitsOf(node.output()->dataType()) == 8 ? 16 : 8);
}

bool hasQuads(const Node& node, const HopperProduct& product) {
  return product.packsB && bitsOf(node.output()->dataType()) == 8 && hasWholeColumns(node, product);
}

namespace {

// Where an operand of the epilogue is read for a row and its columns from `at` on.
struct Access {
  std::string row;          // index of its row, "" when it has one row only
  bool hasColumns = false;  // else one element per row
  bool isWhole = false;     // an element for each of the result
  bool isAccessible = true;
};

Access accessOf(const Shape& from, const Shape& to, const HopperProduct& product) {
  Access access;
  if (from.empty()) return access;
  access.hasColumns = from.back() == to.back() && !from.back().isConstant(1);
  if (!access.hasColumns && !from.back().isConstant(1)) access.isAccessible = false;
  const Shape fromRows(from.begin(), from.end() - 1), toRows(to.begin(), to.end() - 1);
  const auto isOne = [](const Dim& dim) { return dim.isConstant(1); };
  if (std::all_of(fromRows.begin(), fromRows.end(), isOne)) return access;
  if (fromRows == toRows || (fromRows.size() < toRows.size() &&
                             std::equal(fromRows.rbegin(), fromRows.rend(), toRows.rbegin()) &&
                             std::all_of(toRows.begin(), toRows.end() - fromRows.size(), isOne))) {
    access.row = "(long long)at.batch * p.m + at.row";
    access.isWhole = access.hasColumns;
  } else if (std::all_of(fromRows.begin(), fromRows.end() - 1, isOne) &&
             fromRows.back() == toRows.back()) {
    if (!product.hasFlatRows)
      access.row = "(long long)at.row";
    else if (fromRows.back().isConstant())
      access.row = str("(long long)(at.row % ", fromRows.back().value(), ")");
    else
      access.isAccessible = false;
  } else {
    access.isAccessible = false;
  }
  return access;
}

// Where operand `index` is read for a place.
std::string addressText(int index, DataType type, const Access& access) {
  std::string at = access.isWhole ? "at.start" : access.row;
  if (access.hasColumns && !access.isWhole)
    at = at.empty() ? "at.column" : str("(", at, ") * p.n + at.column");
  return str("static_cast<const ", storageType(type), "*>(p.extra[", index - 1, "])",
             at.empty() ? "" : str(" + (", at, ")"), access.hasColumns ? " + at.ahead" : "");
}

// Statements that load operand `index` for kWidth columns; returns the element's name in the loop.
std::string printLoad(std::string& body, int index, DataType type, const Access& access,
                      bool isVector) {
  const std::string name = str("x", index);
  body += str("  const ", storageType(type), "* const ", name, " = ",
              addressText(index, type, access), ";\n");
  if (!access.hasColumns) {
    body += str("  const auto fixed", index, " = toCompute(*", name, ");\n");
    return str("fixed", index);
  }
  if (isVector) {
    body += str("  const auto vector", index, " = readElements<kWidth>(", name, ");\n");
    return str("elementAt(vector", index, ", i)");
  }
  return str("toCompute(", name, "[i < at.columns ? i : 0])");
}

// Operands of the epilogue in the order of GemmParams::extra, and the statements that load them.
struct OperandText {
  bool isVector;
  Residual from;
  DataType output;
  bool hasTiles;  // of a residual whose elements have as many bytes as the output's
  int count = 0;
  int residual = 0;
  std::string loads, touches;

  // Returns the element's name in the loop over columns.
  std::string add(DataType type, const Access& access) {
    const int index = ++count;
    if (hasTiles && residual == 0 && access.isWhole && bitsOf(type) == bitsOf(output)) {
      residual = index;
      if (from == Residual::kFetched) {
        loads += str("  const auto vector", index, " = residualOf<", storageType(type),
                     ", kWidth>(at);\n");
        return str("elementAt(vector", index, ", i)");
      }
    }
    touches +=
        str(" ^ *reinterpret_cast<const unsigned char*>(", addressText(index, type, access), ")");
    return printLoad(loads, index, type, access, isVector);
  }
};

// Sums of rows that were not normalised before they were multiplied: what their means added goes.
std::string normalisedText(const Node& node, OperandText& operands) {
  const Access byColumn{.hasColumns = true};
  ++operands.count;  // the moments come first, and the kernel itself reads them (moments.cuh)
  std::string text = "sum[i]";
  if (!node.as<NormMatMulAttrs>().rms)
    text = str("(sum[i] - at.mean * ", operands.add(DataType::kF32, byColumn), ")");
  text += " * at.factor";
  if (node.hasInput(NormMatMulAttrs::kBias))
    text += str(" + ", operands.add(DataType::kF32, byColumn));
  return text;
}

// The product itself: of integers, without what A's zero point adds to it.
std::string productText(const Node& node, const HopperProduct& product, OperandText& operands) {
  if (product.normalises) return normalisedText(node, operands);
  if (product.zeroA == ZeroPoint::kNone) return "sum[i]";
  const std::string term =
      operands.add(DataType::kI32, {.row = product.zeroRow, .hasColumns = true});
  if (product.zeroA == ZeroPoint::kConstant) return str("int(u32(sum[i]) - u32(", term, "))");
  const std::string zero = operands.add(node.inputs[2]->dataType(), {});
  return str("int(u32(sum[i]) - u32(int(", zero, ")) * u32(", term, "))");
}

int unrollOf(const Expr& expr) {
  constexpr size_t kShort = 12;
  return expr.code().size() <= kShort ? 4 : 2;
}

}  // namespace

HopperEpilogue hopperEpilogueOf(const Node& node, const HopperProduct& product, Residual residual) {
  HopperEpilogue epilogue;
  const Shape& shape = node.output()->shape();
  const DataType output = node.output()->dataType();
  OperandText operands{.isVector = hasWholeColumns(node, product),
                       .from = residual,
                       .output = output,
                       .hasTiles = hasQuads(node, product) ||
                                   (bitsOf(output) == 16 && hasWholeColumns(node, product))};
  if (!operands.isVector && bitsOf(output) > 32)
    epilogue.refusal = "writes elements of up to four bytes where rows are not whole vectors";
  const std::string whole = productText(node, product, operands);
  epilogue.isByColumn = product.zeroRow.empty();
  std::vector<std::string> values = {"whole"};
  for (int i = node.ownInputs(); i < static_cast<int>(node.inputs.size()); ++i) {
    const Access access = accessOf(node.inputs[i]->shape(), shape, product);
    if (!access.isAccessible)
      epilogue.refusal =
          "repeats an operand of its epilogue along some dimensions only, or not "
          "before the sizes are known";
    epilogue.isByColumn = epilogue.isByColumn && access.row.empty();
    values.push_back(operands.add(node.inputs[i]->dataType(), access));
  }
  epilogue.residual = operands.residual;
  if (operands.count > kMostOperands)
    epilogue.refusal = "takes eight operands in its epilogue at most";
  std::string statements;
  PrintedElement element{"whole", "Accumulator", "toElements"};
  if (node.epilogue) {
    const Expr& expr = node.epilogue->expr;
    if (std::string why = whyNotPrinted(expr); !why.empty()) epilogue.refusal = std::move(why);
    if (!epilogue.refusal.empty()) return epilogue;
    element = printElement(expr, values, "t", statements, [&](float number) {
      if (epilogue.numbers.size() == std::size(HopperArguments{}.numbers))
        return literal(number, DataType::kF32);
      epilogue.numbers.push_back(number);
      return str("p.numbers[", epilogue.numbers.size() - 1, "]");
    });
    epilogue.unroll = unrollOf(expr);
  }
  const std::string body =
      str(operands.loads, "  ", element.type,
          " values[kWidth];\n#pragma unroll\n  for (int i = 0; i < kWidth; ++i) {\n"
          "    const Accumulator whole = ",
          whole, ";\n", statements, "    values[i] = ", element.result, ";\n  }\n  return ",
          element.pack, "<Output>(values);\n");
  epilogue.text =
      str("template <int kWidth>\nstatic __device__ __forceinline__ Elements<Output, kWidth> "
          "epilogue(const Accumulator (&sum)[kWidth], const Place& at, const GemmParams& p) {\n",
          body,
          "}\nstatic __device__ __forceinline__ u32 touchOperands(const Place& at, const "
          "GemmParams& p) {\n  return 0",
          operands.touches, ";\n}\n");
  return epilogue;
}

double workOfEpilogue(const Node& node) {
  constexpr double kFunction = 12;  // of exponentials and their like
  if (!node.epilogue) return 0;
  const auto workOf = [](ScalarOp op) {
    if (op == ScalarOp::kInput || op == ScalarOp::kConst) return 0.0;
    const bool isFunction =
        infoOf(op).domain == ScalarDomain::kFloat && op != ScalarOp::kRound;  // quantisation's
    return isFunction ? kFunction : 1.0;
  };
  double work = 0;
  for (const ScalarInstruction& instruction : node.epilogue->expr.code())
    work += workOf(instruction.op);
  return work;
}

bool readsInPlace(const Node& node, int input) {
  return input >= node.ownInputs() && node.inputs[input]->type == node.output()->type;
}

}  // namespace camshaft::cuda
