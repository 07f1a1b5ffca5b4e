#include "backends/cuda/gemm/hopper/product.h"

#include <algorithm>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/strides.h"
#include "ops/gemm.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr int kMostOperands = 8;  // GemmParams::extra

Shape leading(const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); }

bool isOneMatrix(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end() - 2,
                     [](const Dim& dim) { return dim.isConstant(1); });
}

std::string whyNotTypes(const Node& node) {
  const DataType a = node.inputs[0]->dataType(), b = node.inputs[1]->dataType();
  if (a != b || (a != DataType::kF16 && a != DataType::kBF16 && a != DataType::kF32))
    return str("multiplies f16, bf16 or f32 by the same type, not ", a, " by ", b);
  return {};
}

std::string whyNotLayout(const HopperProduct& p, DataType type) {
  const int64_t unit = type == DataType::kF32 ? 4 : 8;
  if (!isMultiple(p.transposedA ? p.m : p.k, unit))
    return "needs rows of the first operand that are a multiple of 16 bytes";
  if (!isMultiple(p.transposedB ? p.k : p.n, unit))
    return "needs rows of the second operand that are a multiple of 16 bytes";
  if (type == DataType::kF32 && (p.transposedA || !p.transposedB)) return "reads f32 along K only";
  // A run that has fewer steps than parts of K, or none, would have to be refused.
  if (!p.k.isConstant()) return "needs to know while building how much there is to add up";
  if (p.k.isConstant(0)) return "has nothing to add up";
  return {};
}

}  // namespace

HopperProduct hopperProductOf(const Node& node) {
  HopperProduct p;
  if (p.refusal = whyNotTypes(node); !p.refusal.empty()) return p;
  const auto& attrs = node.as<MatMulAttrs>();
  const Value &a = *node.inputs[0], &b = *node.inputs[1];
  const Shape &shapeA = a.shape(), &shapeB = b.shape();
  const size_t rankA = shapeA.size(), rankB = shapeB.size();
  p.transposedA = attrs.transposeA;
  p.m = shapeA[rankA - (attrs.transposeA ? 1 : 2)];
  p.k = shapeA[rankA - (attrs.transposeA ? 2 : 1)];
  p.n = shapeB[rankB - (attrs.transposeB ? 2 : 1)];
  const bool isOneB = isOneMatrix(shapeB);
  p.packsB = isOneB && b.isConstant() && !attrs.transposeB;
  p.transposedB = attrs.transposeB || p.packsB;
  if (isOneB && !p.transposedA) {
    p.hasFlatRows = !isOneMatrix(shapeA);
    p.m *= numElements(leading(shapeA));
  } else {
    const Shape items = leading(node.output()->shape());
    p.batch = numElements(items);
    p.batchA = !isOneMatrix(shapeA);
    p.batchB = !isOneB;
    if ((p.batchA && leading(shapeA) != items) || (p.batchB && leading(shapeB) != items))
      p.refusal = "repeats an operand along some dimensions of the batch only";
  }
  if (p.refusal.empty()) p.refusal = whyNotLayout(p, a.dataType());
  return p;
}

namespace {

// Where an operand of the epilogue is read for a row and its column `at.column`.
struct Access {
  std::string row;          // index of its row, "" when it has one row only
  bool hasColumns = false;  // else one element per row
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
  std::string at = access.row;
  if (access.hasColumns) at = at.empty() ? "at.column" : str("(", at, ") * p.n + at.column");
  return str("static_cast<const ", storageType(type), "*>(p.extra[", index - 1, "])",
             at.empty() ? "" : str(" + (", at, ")"));
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
    body += str("  const auto vector", index, " = loadVector<kWidth>(", name, ");\n");
    return str("toCompute(vector", index, ".v[i])");
  }
  return str("toCompute(", name, "[i < at.columns ? i : 0])");
}

int unrollOf(const Expr& expr) {
  constexpr size_t kShort = 12;
  return expr.code().size() <= kShort ? 4 : 2;
}

}  // namespace

HopperEpilogue hopperEpilogueOf(const Node& node, const HopperProduct& product) {
  HopperEpilogue epilogue;
  const Shape& shape = node.output()->shape();
  const bool isVector = isMultiple(product.n, 8);
  if (!isVector && bitsOf(node.output()->dataType()) > 32)
    epilogue.refusal = "writes elements of up to four bytes where rows are not whole vectors";
  std::vector<std::string> values = {"sum[i]"};
  std::string body, touches;
  for (int i = node.ownInputs(); i < static_cast<int>(node.inputs.size()); ++i) {
    const int index = i - node.ownInputs() + 1;
    const Access access = accessOf(node.inputs[i]->shape(), shape, product);
    if (!access.isAccessible)
      epilogue.refusal =
          "repeats an operand of its epilogue along some dimensions only, or not "
          "before the sizes are known";
    if (index > kMostOperands) epilogue.refusal = "takes eight operands in its epilogue at most";
    epilogue.isByColumn = epilogue.isByColumn && access.row.empty();
    const DataType type = node.inputs[i]->dataType();
    values.push_back(printLoad(body, index, type, access, isVector));
    touches +=
        str(" ^ *reinterpret_cast<const unsigned char*>(", addressText(index, type, access), ")");
  }
  const std::string_view type = storageType(node.output()->dataType());
  body += "  Vector<Output, kWidth> out;\n#pragma unroll\n  for (int i = 0; i < kWidth; ++i) {\n";
  std::string result = "sum[i]";
  if (node.epilogue) {
    const Expr& expr = node.epilogue->expr;
    if (std::string why = whyNotPrinted(expr); !why.empty()) epilogue.refusal = std::move(why);
    if (!epilogue.refusal.empty()) return epilogue;
    result = printExpr(expr, values, "t", body);
    epilogue.unroll = unrollOf(expr);
  }
  body += str("    out.v[i] = toStorage<", type, ">(", result, ");\n  }\n  return out;\n");
  epilogue.text =
      str("template <int kWidth>\nstatic __device__ __forceinline__ Vector<Output, kWidth> "
          "epilogue(const float (&sum)[kWidth], const Place& at, const GemmParams& p) {\n",
          body,
          "}\nstatic __device__ __forceinline__ u32 touchOperands(const Place& at, const "
          "GemmParams& p) {\n  return 0",
          touches, ";\n}\n");
  return epilogue;
}

double workOfEpilogue(const Node& node) {
  constexpr double kFunction = 12;  // of exponentials and their like
  if (!node.epilogue) return 0;
  double work = 0;
  for (const ScalarInstruction& instruction : node.epilogue->expr.code())
    work += instruction.op == ScalarOp::kInput || instruction.op == ScalarOp::kConst ? 0
            : infoOf(instruction.op).domain == ScalarDomain::kFloat                  ? kFunction
                                                                                     : 1;
  return work;
}

bool readsInPlace(const Node& node, int input) {
  return input >= node.ownInputs() && node.inputs[input]->type == node.output()->type;
}

}  // namespace camshaft::cuda
