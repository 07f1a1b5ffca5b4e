// A MatMul, MomentMatMul, NormMatMul or MatMulInteger node as the Hopper kernel sees it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/gemm/hopper/images.h"
#include "ir/graph.h"

namespace camshaft::cuda {

// What A's zero point changes: the sums of B's columns, times it, are subtracted.
enum class ZeroPoint : uint8_t { kNone, kConstant, kRunTime };

// Images whose windows are the rows of A.
struct ProductImages {
  Dim count, height = 1, breadth;
  int64_t channels = 0;
  HopperWindows windows;
};

// Leading dimensions of A become rows where one B serves all of them.
struct HopperProduct {
  DataType typeA = DataType::kF16, typeB = DataType::kF16;  // as the kernel reads them
  Dim m, n, k, batch = 1;
  bool batchA = false, batchB = false;
  bool transposedA = false, transposedB = false;  // as in HopperProblem
  bool packsB = false;                            // a constant B [k, n] is stored as [n, k]
  bool hasFlatRows = false;                       // rows are those of several matrices
  bool normalises = false;    // a NormMatMul: rows of A are not multiplied as they are read
  bool keepsMoments = false;  // a MomentMatMul: of the result's rows
  ZeroPoint zeroA = ZeroPoint::kNone;
  std::optional<ProductImages> images;
  // Sums of B's columns beside A's zero point where they differ by rows: which of them a row has.
  std::string zeroRow;
  std::vector<int32_t> zeroSums;  // [..., n]
  std::string refusal;            // why it cannot be; empty: it can
};
HopperProduct hopperProductOf(const Node& node);
// Whether the result's rows are written in whole vectors.
bool hasWholeColumns(const Node& node, const HopperProduct& product);
// Whether columns of B are packed so that a thread has the sums of four neighbours, a word of bytes
// (columnOf() of store.cuh).
bool hasQuads(const Node& node, const HopperProduct& product);

// Definition of the device code's epilogue() for the node; `refusal` as above.
struct HopperEpilogue {
  std::string text;
  bool isByColumn = true;  // its operands are the same for all rows
  int unroll = 4;
  std::vector<float> numbers;  // GemmParams::numbers
  int residual = 0;  // number of the operand, from 1 on, that tiles can be fetched of; 0: none
  std::string refusal;
};
// Where the residual is read from: like other operands, or from its tiles.
enum class Residual : uint8_t { kRead, kFetched };
HopperEpilogue hopperEpilogueOf(const Node& node, const HopperProduct& product,
                                Residual residual = Residual::kRead);

// Instructions per element, roughly.
double workOfEpilogue(const Node& node);

// Whether the epilogue reads this input just where it writes the result.
bool readsInPlace(const Node& node, int input);

}  // namespace camshaft::cuda
