#include "backends/cpu/rnn/sequences.h"

#include <algorithm>

#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/gemm/gemm_block.h"
#include "backends/cpu/rnn/cell.h"
#include "backends/cpu/rnn/partition.h"
#include "backends/cpu/rnn/weights.h"
#include "support/thread_pool.h"

namespace camshaft::cpu::rnn {
namespace {

// Rows of the part count from 0; b counts in the whole batch.
class Walk {
 public:
  Walk(const Params& p, const LaunchArgs& args, const Part& part, const float* packed,
       float* workspace)
      : p_(p),
        args_(args),
        part_(part),
        steps_(stepsOf(p, args)),
        batch_(batchOf(p, args)),
        rows_(part.end - part.begin),
        at_(p),
        packed_(packed),
        cell_{p, p.functions[part.direction], packed + at_.peepholes},
        gateStride_(gateStride(p)),
        stateStride_(stateStride(p)) {
    fromInput_ = workspace;
    fromState_ = fromInput_ + std::max(kRowsAtOnce, rows_) * gateStride_;
    h_ = fromState_ + rows_ * gateStride_;
    c_ = h_ + rows_ * stateStride_;
    reset_ = c_ + rows_ * stateStride_;
  }

  // A sequence that is shorter than the longest begins late when it is walked backwards, so at any
  // time all rows are at the same element.
  void run() {
    loadState(p_.operands.initialH, h_);
    loadState(p_.operands.initialC, c_);
    int64_t longest = 0;
    for (int64_t row = 0; row < rows_; ++row) longest = std::max(longest, lengthOf(row));
    const bool backwards = p_.reverse || part_.direction == 1;
    const int64_t most = stepsAtOnce(rows_);
    for (int64_t done = 0; done < longest; done += most) {
      const int64_t count = std::min(most, longest - done);
      const int64_t first = backwards ? longest - done - count : done;
      multiplyInputs(first, count);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t ahead = backwards ? count - 1 - i : i;
        step(first + ahead, fromInput_ + ahead * rows_ * gateStride_);
      }
    }
    for (int64_t t = longest; t < steps_; ++t)
      for (int64_t row = 0; row < rows_; ++row) clearOutput(t, row);
    storeState(h_, 1);
    storeState(c_, 2);
  }

 private:
  int64_t lengthOf(int64_t row) const {
    if (p_.operands.lengths < 0) return steps_;
    const TensorArg& lengths = args_.inputs[p_.operands.lengths];
    const int64_t b = part_.begin + row;
    const int64_t length = lengths.type == DataType::kI64 ? lengths.as<const int64_t>()[b]
                                                          : lengths.as<const int32_t>()[b];
    return std::clamp<int64_t>(length, 0, steps_);
  }

  int64_t stateOffset(int64_t row) const {
    const int64_t b = part_.begin + row;
    return (p_.batchFirst ? b * p_.directions + part_.direction : part_.direction * batch_ + b) *
           p_.hidden;
  }
  void loadState(int32_t input, float* state) const {
    for (int64_t row = 0; row < rows_; ++row, state += stateStride_) {
      std::fill_n(state, stateStride_, 0.0f);
      if (input >= 0)
        std::copy_n(args_.inputs[input].as<const float>() + stateOffset(row), p_.hidden, state);
    }
  }
  void storeState(const float* state, size_t output) const {
    if (output >= args_.outputs.size() || !args_.outputs[output].data) return;
    for (int64_t row = 0; row < rows_; ++row, state += stateStride_)
      std::copy_n(state, p_.hidden, args_.outputs[output].as<float>() + stateOffset(row));
  }

  float* outputAt(int64_t t, int64_t row) const {
    if (!args_.outputs[0].data) return nullptr;
    const int64_t b = part_.begin + row, d = part_.direction;
    const int64_t index =
        p_.batchFirst ? (b * steps_ + t) * p_.directions + d : (t * p_.directions + d) * batch_ + b;
    return args_.outputs[0].as<float>() + index * p_.hidden;
  }
  void clearOutput(int64_t t, int64_t row) const {
    if (float* y = outputAt(t, row)) std::fill_n(y, p_.hidden, 0.0f);
  }

  // What the gates get from the inputs of steps [first, first + count), with as few products as the
  // layout allows.
  void multiplyInputs(int64_t first, int64_t count) const {
    const int64_t perStep = (p_.batchFirst ? 1 : batch_) * p_.inputs;
    const int64_t perRow = (p_.batchFirst ? steps_ : 1) * p_.inputs;
    const float* x =
        args_.inputs[p_.operands.x].as<const float>() + first * perStep + part_.begin * perRow;
    const auto multiply = [&](int64_t rows, const float* from, int64_t stride, float* to,
                              int64_t toStride) {
      packedGemm(rows, productColumns(p_.width()), p_.inputs, from, stride, packed_ + at_.input, to,
                 toStride, {.bias = packed_ + at_.inputBias}, *args_.threads);
    };
    if (perStep == rows_ * perRow) {
      multiply(count * rows_, x, perRow, fromInput_, gateStride_);
    } else if (rows_ > count) {
      for (int64_t i = 0; i < count; ++i)
        multiply(rows_, x + i * perStep, perRow, fromInput_ + i * rows_ * gateStride_, gateStride_);
    } else {
      for (int64_t row = 0; row < rows_; ++row)
        multiply(count, x + row * perRow, perStep, fromInput_ + row * gateStride_,
                 rows_ * gateStride_);
    }
  }

  // fromState = state * weights + bias for gates from `column` on, `width` of their columns.
  void multiplyState(const float* state, int64_t rows, const float* weights, int64_t column,
                     int64_t width) const {
    const int64_t columns = productColumns(width), nr = gemmGeometry().nr;
    const Epilogue epilogue{.bias = packed_ + at_.stateBias + column};
    const auto multiply = [&](int64_t begin, int64_t end, int) {
      gemmBlock({.rows = rows,
                 .columns = std::min(end * nr, columns) - begin * nr,
                 .k = p_.hidden,
                 .a = state,
                 .lda = stateStride_,
                 .packedB = weights + begin * nr * p_.hidden,
                 .c = fromState_ + column + begin * nr,
                 .ldc = gateStride_,
                 .column = begin * nr},
                epilogue);
    };
    const int64_t panels = ceilDiv(columns, nr);
    if (!part_.sharesSteps) return multiply(0, panels, 0);
    args_.threads->parallelFor(panels, ceilDiv(panels, args_.threads->threads()), multiply);
  }

  CellRow rowAt(int64_t t, int64_t row, const float* fromInput) const {
    return {.fromInput = fromInput + row * gateStride_,
            .fromState = fromState_ + row * gateStride_,
            .h = h_ + row * stateStride_,
            .c = c_ + row * stateStride_,
            .reset = reset_ + row * stateStride_,
            .y = outputAt(t, row)};
  }

  void step(int64_t t, const float* fromInput) const {
    int64_t rows = rows_;
    while (t >= lengthOf(rows - 1)) clearOutput(t, --rows);
    multiplyState(h_, rows, packed_ + at_.early, 0, p_.earlyWidth());
    if (p_.lateWidth() > 0) {
      for (int64_t row = 0; row < rows; ++row) resetState(cell_, rowAt(t, row, fromInput));
      multiplyState(reset_, rows, packed_ + at_.late, p_.earlyWidth(), p_.lateWidth());
    }
    for (int64_t row = 0; row < rows; ++row) {
      if (t < lengthOf(row))
        updateState(cell_, rowAt(t, row, fromInput));
      else
        clearOutput(t, row);
    }
  }

  const Params& p_;
  const LaunchArgs& args_;
  const Part& part_;
  const int64_t steps_, batch_, rows_;
  const PackedLayout at_;
  const float* const packed_;
  const Cell cell_;
  const int64_t gateStride_, stateStride_;
  float *fromInput_, *fromState_, *h_, *c_, *reset_;
};

}  // namespace

int64_t stepsOf(const Params& p, const LaunchArgs& args) {
  return args.inputs[p.operands.x].dims[p.batchFirst ? 1 : 0];
}
int64_t batchOf(const Params& p, const LaunchArgs& args) {
  return args.inputs[p.operands.x].dims[p.batchFirst ? 0 : 1];
}

void walkSequences(const Params& p, const LaunchArgs& args, const Part& part, const float* packed,
                   float* workspace) {
  Walk(p, args, part, packed, workspace).run();
}

}  // namespace camshaft::cpu::rnn
