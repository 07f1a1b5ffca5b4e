// What the two halves of the recurrent layers agree on.
#pragma once

#include <cstdint>

namespace camshaft::cpu::rnn {

inline constexpr char kName[] = "cpu/recurrent_f32";

enum class CellKind : int32_t { kLstm, kGru, kRnn };

// Gates in ONNX's order: i o f c, z r h, or the state itself.
inline constexpr int64_t gatesOf(CellKind kind) {
  return kind == CellKind::kLstm ? 4 : kind == CellKind::kGru ? 3 : 1;
}

enum class FunctionKind : int32_t {
  kSigmoid,
  kTanh,
  kRelu,
  kAffine,
  kLeakyRelu,
  kThresholdedRelu,
  kScaledTanh,
  kHardSigmoid,
  kElu,
  kSoftsign,
  kSoftplus,
  kCount
};

struct Function {
  FunctionKind kind = FunctionKind::kSigmoid;
  float alpha = 0, beta = 0;
};

inline constexpr int kMostDirections = 2, kMostFunctions = 3;

// Where among the step's inputs each operand is; -1 when it is left out. Weights are packed when
// building (`packed`), or come as the operator has them and are packed by each launch.
struct Operands {
  int32_t x = 0, packed = -1;
  int32_t w = -1, r = -1, bias = -1, peepholes = -1;
  int32_t lengths = -1, initialH = -1, initialC = -1;
};

struct Params {
  int64_t inputs = 0, hidden = 0;
  int32_t directions = 1;
  CellKind kind = CellKind::kLstm;
  Function functions[kMostDirections][kMostFunctions];
  double clip = 0;               // bounds what goes into functions; infinite: does not clip
  int8_t reverse = 0;            // the only direction runs backwards
  int8_t linearBeforeReset = 0;  // GRU
  int8_t inputForget = 0;        // LSTM: f = 1 - i
  int8_t batchFirst = 0;
  Operands operands;

  int64_t width() const { return gatesOf(kind) * hidden; }
  // Of the recurrent weights, those that act on the state after it was reset: GRU's h, perhaps.
  int64_t lateWidth() const { return kind == CellKind::kGru && !linearBeforeReset ? hidden : 0; }
  int64_t earlyWidth() const { return width() - lateWidth(); }
};

// GCC 12 clears the wrong bytes of a struct with padding and arrays of structs when it is written.
static_assert(sizeof(Params) == 2 * sizeof(int64_t) + 2 * sizeof(int32_t) +
                                    kMostDirections * kMostFunctions * sizeof(Function) +
                                    sizeof(double) + 4 * sizeof(int8_t) + sizeof(Operands));

}  // namespace camshaft::cpu::rnn
