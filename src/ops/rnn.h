// LSTM, GRU and plain recurrent layers, with ONNX's gate order and layouts.
#pragma once

#include "ops/ops.h"

namespace camshaft {

enum class RecurrentKind { kLstm, kGru, kRnn };
enum class RecurrentDirection { kForward, kReverse, kBidirectional };

// Recurrent(x, w, r, bias?, lengths?, initialH?, initialC?, peepholes?) with x [seq, batch, input],
// w [dirs, gates*hidden, input], r [dirs, gates*hidden, hidden], bias [dirs, 2*gates*hidden].
// Outputs: y [seq, dirs, batch, hidden], yH [dirs, batch, hidden], and for LSTM yC. batchFirst is
// ONNX layout 1: x and y have batch first, states are [batch, dirs, hidden].
struct RecurrentAttrs : AttrsOf<RecurrentAttrs> {
  RecurrentKind kind = RecurrentKind::kLstm;
  RecurrentDirection direction = RecurrentDirection::kForward;
  int64_t hidden = 0;
  std::string activations;  // comma-separated ONNX names, per direction; empty: the defaults
  std::vector<double> activationAlpha, activationBeta;
  double clip = 0;  // 0: none
  bool linearBeforeReset = false, inputForget = false, batchFirst = false;
  void fields(AttrVisitor& visit) override {
    static constexpr std::string_view kKinds[] = {"lstm", "gru", "rnn"};
    static constexpr std::string_view kDirections[] = {"forward", "reverse", "bidirectional"};
    visit("kind", kind, kKinds);
    visit("direction", direction, kDirections);
    visit("hidden", hidden);
    visit("activations", activations);
    visit("activation_alpha", activationAlpha);
    visit("activation_beta", activationBeta);
    visit("clip", clip);
    visit("linear_before_reset", linearBeforeReset);
    visit("input_forget", inputForget);
    visit("batch_first", batchFirst);
  }
};

}  // namespace camshaft
