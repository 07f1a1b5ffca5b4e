#include "tuner/measure.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "backend/device.h"
#include "support/aligned_buffer.h"
#include "support/error.h"
#include "support/stopwatch.h"

namespace camshaft {
namespace {

class Bench {
 public:
  explicit Bench(const MeasureOptions& options) : options_(options) {}

  TensorArg argFor(const TensorType& type) {
    TensorArg arg{.type = type.type, .rank = static_cast<int32_t>(type.rank())};
    for (int i = 0; i < arg.rank; ++i) arg.dims[i] = evaluate(type.shape[i], options_.opt);
    return arg;
  }

  TensorArg scratch(const TensorType& type) {
    TensorArg arg = argFor(type);
    const size_t bytes = bytesOf(arg.type, arg.count());
    AlignedBuffer& buffer = buffers_.emplace_back(std::max<size_t>(bytes, 1));
    std::memset(buffer.data(), 0, buffer.size());
    if (arg.type == DataType::kF32) {
      std::uniform_real_distribution<float> uniform(-0.5f, 0.5f);
      for (int64_t i = 0; i < arg.count(); ++i)
        reinterpret_cast<float*>(buffer.data())[i] = uniform(random_);
    }
    arg.data = buffer.data();
    return arg;
  }

  TensorArg fixed(const TensorType& type, std::span<const std::byte> bytes) {
    TensorArg arg = argFor(type);
    AlignedBuffer& buffer = buffers_.emplace_back(std::max<size_t>(bytes.size(), 1));
    std::copy(bytes.begin(), bytes.end(), buffer.data());
    arg.data = buffer.data();
    return arg;
  }

  std::byte* workspace(int64_t bytes) {
    return bytes == 0 ? nullptr : buffers_.emplace_back(static_cast<size_t>(bytes)).data();
  }

 private:
  const MeasureOptions& options_;
  std::vector<AlignedBuffer> buffers_;
  std::minstd_rand random_;
};

}  // namespace

double measure(const Node& node, std::string_view runtimeKernel, const Prepared& prepared,
               const MeasureOptions& options) {
  const RuntimeKernel* kernel = findRuntimeKernel(runtimeKernel);
  CAMSHAFT_CHECK(kernel, "kernel '", runtimeKernel, "' has no run-time half");
  Bench bench(options);
  std::shared_ptr<const void> state;
  const void* statePointer = nullptr;
  AlignedBuffer params(std::max<size_t>(prepared.params.size(), 1));
  if (kernel->load) {
    state = kernel->load(prepared.params);
    statePointer = state.get();
  } else {
    std::copy(prepared.params.begin(), prepared.params.end(), params.data());
    statePointer = params.data();
  }

  std::vector<TensorArg> inputs, outputs;
  for (const StepInput& input : prepared.inputs) {
    const Value* value = input.nodeInput < 0 ? nullptr : node.inputs[input.nodeInput];
    if (input.nodeInput < 0)
      inputs.push_back(bench.fixed(input.packedType, input.packed));
    else if (!value)
      inputs.emplace_back();
    else
      inputs.push_back(value->isConstant() ? bench.fixed(value->type, value->constant->bytes)
                                           : bench.scratch(value->type));
  }
  for (const Value* output : node.outputs) outputs.push_back(bench.scratch(output->type));
  std::vector<int64_t> dims;
  for (const Dim& dim : prepared.dimArgs) dims.push_back(evaluate(dim, options.opt));
  const int64_t workspaceBytes = evaluate(prepared.workspaceBytes, options.opt);
  const LaunchArgs args{inputs,         outputs,        dims, bench.workspace(workspaceBytes),
                        workspaceBytes, options.threads};

  kernel->launch(statePointer, args);  // warm caches and threads
  std::vector<double> times;
  const Stopwatch total;
  const auto minRuns = static_cast<size_t>(options.minRuns);
  while (times.size() < minRuns ||
         (total.milliseconds() < options.minMilliseconds && times.size() < 50)) {
    const Stopwatch watch;
    kernel->launch(statePointer, args);
    times.push_back(watch.milliseconds());
  }
  return median(std::move(times));
}

}  // namespace camshaft
