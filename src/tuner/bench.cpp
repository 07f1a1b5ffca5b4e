#include "tuner/bench.h"

#include "ops/evaluate.h"
#include "support/error.h"

namespace camshaft {
namespace {

std::span<const std::byte> spanOf(const std::vector<std::byte>* bytes) {
  return bytes ? std::span<const std::byte>(*bytes) : std::span<const std::byte>();
}

}  // namespace

TrialRunner& Bench::runnerOf(std::string_view kernel) const {
  const RuntimeBackend* backend = findRuntimeBackend(kernel);
  CAMSHAFT_CHECK(backend, "kernel '", kernel, "' has no run-time half");
  const RuntimeKernel* found = backend->find(kernel);
  return backend->device && !(found && found->isPlugin) ? device_ : host_;
}

TrialRunner& Bench::readyFor(std::string_view kernel) {
  TrialRunner& runner = runnerOf(kernel);
  if (ready_ != &runner) {
    runner.setOperands(operandsOf(node_, opt_));
    ready_ = &runner;
  }
  return runner;
}

Trial Bench::trialOf(std::string_view kernel, const Prepared& prepared,
                     const std::vector<std::byte>* binary) const {
  Trial trial{.kernel = std::string(kernel), .params = prepared.params, .binary = spanOf(binary)};
  for (const StepInput& input : prepared.inputs) {
    if (input.nodeInput >= 0)
      trial.inputs.push_back({input.nodeInput});
    else
      trial.inputs.push_back({-1, argAt(input.packedType, opt_), input.packed});
  }
  for (const Dim& dim : prepared.dimArgs) trial.dims.push_back(camshaft::evaluate(dim, opt_));
  trial.workspaceBytes = camshaft::evaluate(prepared.workspaceBytes, opt_);
  return trial;
}

double Bench::measure(std::string_view kernel, const Prepared& prepared,
                      const std::vector<std::byte>* binary, const MeasureOptions& options) {
  return readyFor(kernel).measure(trialOf(kernel, prepared, binary), options);
}

TrialResults Bench::run(std::string_view kernel, Prepared& prepared,
                        const std::vector<std::byte>* binary) {
  packNow(prepared);
  return readyFor(kernel).run(trialOf(kernel, prepared, binary));
}

TrialResults Bench::evaluate() const {
  const TrialOperands operands = operandsOf(node_, opt_);
  std::vector<std::vector<std::byte>> filled(operands.inputs.size());
  std::vector<ConstTensorView> inputs;
  for (size_t i = 0; i < operands.inputs.size(); ++i) {
    const TrialInput& input = operands.inputs[i];
    if (!input.isPresent) {
      inputs.emplace_back();
      continue;
    }
    if (input.bytes.empty()) filled[i] = fillingOf(input).whole();
    if (filled[i].empty()) filled[i].reserve(1);  // an empty tensor is there all the same
    const std::span<const std::byte> bytes = input.bytes.empty() ? filled[i] : input.bytes;
    const TensorArg& tensor = input.tensor;
    inputs.emplace_back(tensor.type, Dims(tensor.dims, tensor.dims + tensor.rank), bytes.data());
  }
  TrialResults results;
  for (HostTensor& output : evaluateNode(node_, inputs, opt_))
    results.push_back(std::move(output.bytes));
  return results;
}

}  // namespace camshaft
