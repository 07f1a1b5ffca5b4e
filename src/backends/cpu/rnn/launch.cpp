// LSTM and GRU: the input's part of the gates of all time steps is one matrix product, then each
// step adds the state's part and updates the state.
#include <algorithm>
#include <memory>

#include "backend/launch.h"
#include "backends/cpu/compute/gemm_block.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm/packed_weights.h"
#include "backends/cpu/gemm/workspace.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/rnn/params.h"

namespace camshaft::cpu::rnn {
namespace {

// One direction of a layer.
class Direction {
 public:
  Direction(const Params& params, const LaunchArgs& args, int64_t index)
      : p_(params),
        args_(args),
        index_(index),
        steps_(args.inputs[kX].dims[0]),
        batch_(args.inputs[kX].dims[1]) {
    inputWeights_ = floats(kInputWeights) + index * packedInputFloats(p_);
    earlyWeights_ = floats(kRecurrentWeights) + index * packedRecurrentFloats(p_);
    lateWeights_ = earlyWeights_ + packedBFloats(p_.hidden, p_.earlyWidth());
    bias_ = floats(kBias) + index * p_.width();
    lateBias_ = floats(kLateBias) + index * p_.hidden;
    gates_ = workspaceFloats(args);
    h_ = gates_ + steps_ * batch_ * p_.width();
    c_ = h_ + stateFloats();
    late_ = c_ + stateFloats();
  }

  void run() {
    loadState(p_.initialH, h_);
    loadState(p_.initialC, c_);
    packedGemm(steps_ * batch_, p_.width(), p_.inputs, floats(kX), p_.inputs, inputWeights_, gates_,
               p_.width(), {.bias = bias_}, *args_.threads);
    const bool backwards = p_.reverse || index_ == 1;
    for (int64_t i = 0; i < steps_; ++i) {
      const int64_t step = backwards ? steps_ - 1 - i : i;
      float* gates = gates_ + step * batch_ * p_.width();
      p_.gates == 4 ? stepLstm(gates) : stepGru(gates);
      storeState(h_, 0, step * p_.directions + index_);
    }
    storeState(h_, 1, index_);
    storeState(c_, 2, index_);
  }

 private:
  const float* floats(int input) const { return args_.inputs[input].as<const float>(); }
  int64_t stateFloats() const { return batch_ * p_.hidden; }

  void loadState(int32_t input, float* state) const {
    if (input < 0) return static_cast<void>(std::fill(state, state + stateFloats(), 0.0f));
    const float* from = floats(input) + index_ * stateFloats();
    std::copy(from, from + stateFloats(), state);
  }
  // As matrix `place` of an output, when there is that output.
  void storeState(const float* state, size_t output, int64_t place) const {
    if (output >= args_.outputs.size() || !args_.outputs[output].data) return;
    std::copy(state, state + stateFloats(),
              args_.outputs[output].as<float>() + place * stateFloats());
  }

  // out = state * weights + what is there, or + bias when that is given.
  void multiply(const float* state, const float* weights, int64_t columns, float* out,
                int64_t stride, const float* bias = nullptr) const {
    const Epilogue epilogue =
        bias ? Epilogue{.bias = bias} : Epilogue{.residual = out, .residualStride = stride};
    packedGemm(batch_, columns, p_.hidden, state, p_.hidden, weights, out, stride, epilogue,
               *args_.threads);
  }

  void activate(Activation activation, float* values, int64_t columns, int64_t stride) const {
    applyActivation(activation, values, batch_, columns, stride);
  }

  void stepLstm(float* gates) const {
    const int64_t n = p_.hidden, width = p_.width();
    multiply(h_, earlyWeights_, width, gates, width);
    activate(Activation::kSigmoid, gates, 3 * n, width);
    activate(Activation::kTanh, gates + 3 * n, n, width);
    for (int64_t b = 0; b < batch_; ++b) {
      const float *i = gates + b * width, *f = i + 2 * n, *candidate = i + 3 * n;
      float *c = c_ + b * n, *h = h_ + b * n;
      for (int64_t j = 0; j < n; ++j) h[j] = c[j] = f[j] * c[j] + i[j] * candidate[j];
    }
    activate(Activation::kTanh, h_, n, n);
    for (int64_t b = 0; b < batch_; ++b) {
      const float* o = gates + b * width + n;
      for (int64_t j = 0; j < n; ++j) h_[b * n + j] *= o[j];
    }
  }

  void stepGru(float* gates) const {
    const int64_t n = p_.hidden, width = p_.width();
    multiply(h_, earlyWeights_, 2 * n, gates, width);
    activate(Activation::kSigmoid, gates, 2 * n, width);
    if (p_.linearBeforeReset) multiply(h_, lateWeights_, n, late_, n, lateBias_);
    for (int64_t b = 0; b < batch_; ++b) {
      const float* r = gates + b * width + n;
      float *candidate = gates + b * width + 2 * n, *late = late_ + b * n;
      for (int64_t j = 0; j < n; ++j) {
        if (p_.linearBeforeReset) {
          candidate[j] += r[j] * late[j];
        } else {
          late[j] = r[j] * h_[b * n + j];
        }
      }
    }
    if (!p_.linearBeforeReset) multiply(late_, lateWeights_, n, gates + 2 * n, width);
    activate(Activation::kTanh, gates + 2 * n, n, width);
    for (int64_t b = 0; b < batch_; ++b) {
      const float *z = gates + b * width, *candidate = z + 2 * n;
      float* h = h_ + b * n;
      for (int64_t j = 0; j < n; ++j) h[j] = candidate[j] + z[j] * (h[j] - candidate[j]);
    }
  }

  const Params& p_;
  const LaunchArgs& args_;
  const int64_t index_, steps_, batch_;
  const float *inputWeights_, *earlyWeights_, *lateWeights_, *bias_, *lateBias_;
  float *gates_, *h_, *c_, *late_;
};

std::shared_ptr<const void> load(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "the parameters of a recurrent layer");
  requireIsa(reader);
  auto params = std::make_shared<Params>(reader.read<Params>());
  constexpr int64_t kMost = int64_t{1} << 24;
  if (params->inputs < 0 || params->hidden < 1 || params->inputs > kMost ||
      params->hidden > kMost || (params->gates != 3 && params->gates != 4) ||
      (params->directions != 1 && params->directions != 2))
    fail(ErrorKind::kInvalidEngine, "the engine holds a damaged recurrent layer");
  return params;
}

bool fits(const void* state, const LaunchArgs& args) {
  const Params& p = *static_cast<const Params*>(state);
  if (!hasF32Operands(args, kLateBias + 1) || args.inputs[kX].rank != 3) return false;
  const int64_t steps = args.inputs[kX].dims[0], batch = args.inputs[kX].dims[1];
  const int64_t states = p.directions * batch * p.hidden;
  for (int32_t initial : {p.initialH, p.initialC}) {
    if (initial < 0) continue;
    if (static_cast<size_t>(initial) >= args.inputs.size()) return false;
    if (!isF32(args.inputs[initial]) || args.inputs[initial].count() != states) return false;
  }
  for (size_t i = 0; i < args.outputs.size(); ++i)
    if (!isF32(args.outputs[i]) || args.outputs[i].count() != (i == 0 ? steps * states : states))
      return false;
  return args.inputs[kBias].count() == p.directions * p.width() &&
         args.inputs[kLateBias].count() == p.directions * p.hidden;
}

void launch(const void* state, const LaunchArgs& args) {
  const Params& params = *static_cast<const Params*>(state);
  const TensorArg& x = args.inputs[kX];
  if (x.dims[2] != params.inputs ||
      args.inputs[kInputWeights].count() != params.directions * packedInputFloats(params) ||
      args.inputs[kRecurrentWeights].count() != params.directions * packedRecurrentFloats(params))
    fail(ErrorKind::kInvalidEngine, "a recurrent layer of the engine does not fit its operands");
  const WorkersWithin limit(args,
                            [&](int) { return workspaceFloatsFor(params, x.dims[0], x.dims[1]); });
  for (int64_t i = 0; i < params.directions; ++i) Direction(params, args, i).run();
}

constexpr RuntimeKernel kLaunchers[] = {{kLstmName, load, launch, fits}, {kGruName, load, launch, fits}};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::rnn
