// Convolutions of any kernel with their operands on a GPU, launched as engines launch them, for
// hopper_conv_check.cpp.
#pragma once

#include <cmath>
#include <map>
#include <memory>

#include "backend/kernel.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/gemm/hopper/params.h"
#include "backends/cuda/runtime/cuda_device.h"
#include "backends/cuda/runtime/launch_hopper.h"
#include "backends/cuda/runtime/launchers.h"
#include "backends/cuda/runtime/libraries/libraries.h"
#include "backends/cuda/services.h"
#include "device_process.h"
#include "hopper_conv_cases.h"
#include "ir/graph.h"

struct Candidate {
  std::string name;  // "hopper 128x64_stages7"
  std::string kernel;
  Prepared prepared;
  std::string source;  // with a guard against hangs maybe
};
struct Problem {
  ConvCase what;
  Graph graph;
  std::vector<Candidate> candidates;  // the last is the plainest
  const Node& node() const { return *graph.nodes().back(); }
};

inline int64_t sizeOf(const Dim& dim, int64_t batch) {
  return camshaft::evaluate(dim, [&](const std::string&) { return batch; });
}

inline constexpr const char* kHelpers = R"(
template <class T> __device__ void fillWith(T* to, long long count, unsigned seed) {
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) {
    unsigned x = (unsigned)i * 2654435761u + seed * 40503u;
    x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
    if constexpr (std::is_integral_v<Compute<T>>) to[i] = (T)(x >> 24);
    else assign(to[i], (float)(int)x * (1.0f / 2147483648.0f));
  }
}
template <class T>
__device__ void compareWith(const T* is, const T* wanted, long long count, double* sums) {
  double difference = 0, size = 0;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) {
    const double w = toCompute(wanted[i]), d = (double)toCompute(is[i]) - w;
    difference += d * d;
    size += w * w;
  }
  atomicAdd(sums, difference);
  atomicAdd(sums + 1, size);
}
#define HELPERS(name, T) \
extern "C" __global__ void fill_##name(T* to, long long count, unsigned seed) { fillWith(to, count, seed); } \
extern "C" __global__ void compare_##name(const T* is, const T* wanted, long long count, double* sums) { compareWith(is, wanted, count, sums); }
extern "C" __global__ void guard(const unsigned char* bytes, double* sums) {
  if (bytes[threadIdx.x] != 0xff) atomicAdd(sums + 2, 1.0);
}
)";

inline std::string helpersText() {
  std::string text = str(cuda::deviceSource("device/prelude.cuh"), kHelpers);
  for (const DataType type : {DataType::kF16, DataType::kBF16, DataType::kF32, DataType::kF8E4M3,
                              DataType::kI8, DataType::kU8, DataType::kI32})
    text += str("HELPERS(", toString(type), ", ", cuda::storageType(type), ")\n");
  return text;
}

inline std::map<std::string, Binary> gBinaries;  // by source

// ---- Running -----------------------------------------------------------------------------------

// cuDNN's plans for the build half, which this program has in itself.
class OwnServices : public cuda::Services {
 public:
  BuildTarget currentTarget() override { return cuda::currentDevice().target(); }
  std::vector<CompiledCode> compile(std::span<const std::string>, const BuildTarget&) override {
    return {};
  }
  std::vector<cuda::LibraryPlan> gemmPlans(const cuda::GemmProblem&, int) override { return {}; }
  std::optional<cuda::LibraryPlan> convPlan(const cuda::ConvProblem& problem, int number) override {
    return cuda::convPlan(problem, number);
  }
  std::optional<cuda::LibraryPlan> attentionPlan(const cuda::AttentionProblem&, int) override {
    return std::nullopt;
  }
};

inline const RuntimeKernel& launcherOf(std::string_view name) {
  if (name == cuda::kHopperGemmKernel) return cuda::hopperLauncher();
  for (const RuntimeKernel* kernel : cuda::libraryKernels())
    if (kernel->name == name) return *kernel;
  return cuda::generatedLauncher();
}

struct Operand {
  Memory memory;
  TensorArg arg;
};

inline TensorArg argOf(const TensorType& type, int64_t batch, CUdeviceptr at) {
  TensorArg arg;
  arg.data = reinterpret_cast<void*>(at);
  arg.type = type.type;
  arg.rank = static_cast<int32_t>(type.shape.size());
  for (size_t i = 0; i < type.shape.size(); ++i) arg.dims[i] = sizeOf(type.shape[i], batch);
  return arg;
}

inline int64_t bytesOf(const TensorArg& arg) { return arg.count() * bitsOf(arg.type) / 8; }

// A candidate with its operands, ready to be launched.
class Step {
 public:
  Step(const Candidate& candidate, const std::vector<TensorArg>& inputs, TensorArg out,
       int64_t batch)
      : kernel_(launcherOf(candidate.prepared.runtimeKernel)),
        out_(out),
        workspace_(sizeOf(candidate.prepared.workspaceBytes, batch)) {
    const Prepared& prepared = candidate.prepared;
    if (kernel_.loadCode) {
      const std::string& code = gBinaries.at(candidate.source).code;
      if (code.empty()) throw DeviceError{candidate.name + " was not compiled"};
      state_ =
          kernel_.loadCode(prepared.runtimeKernel, prepared.params, std::as_bytes(std::span(code)));
    } else {
      state_ = kernel_.load(prepared.params);
    }
    for (const StepInput& input : prepared.inputs) {
      if (input.nodeInput >= 0) {
        inputs_.push_back(inputs[input.nodeInput]);
        continue;
      }
      packed_.emplace_back(input.packed.size());
      CHECK(cuMemcpyHtoD(packed_.back().at, input.packed.data(), input.packed.size()));
      inputs_.push_back(argOf(input.packedType, batch, packed_.back().at));
    }
    for (const Dim& dim : prepared.dimArgs) dims_.push_back(sizeOf(dim, batch));
    args_ = {.inputs = inputs_,
             .outputs = {&out_, 1},
             .dims = dims_,
             .workspace = reinterpret_cast<std::byte*>(workspace_.at),
             .workspaceBytes = sizeOf(prepared.workspaceBytes, batch)};
    if (kernel_.fits && !kernel_.fits(state_.get(), args_))
      throw DeviceError{candidate.name + ": operands do not fit"};
  }
  Step(const Step&) = delete;

  void launch(void* stream) {
    args_.stream = stream;
    kernel_.launch(state_.get(), args_);
  }

 private:
  const RuntimeKernel& kernel_;
  std::shared_ptr<const void> state_;
  std::vector<Memory> packed_;
  std::vector<TensorArg> inputs_;
  TensorArg out_;
  std::vector<int64_t> dims_;
  Memory workspace_;
  LaunchArgs args_;
};

class Runner {
 public:
  Runner(const Problem& problem, CUmodule helpers, int64_t batch)
      : helpers_(helpers),
        batch_(batch),
        bytes_(bytesOf(argOf(problem.node().output()->type, batch, 0))),
        sums_(64),
        out_(resultOf(problem.node())),
        wanted_(resultOf(problem.node())) {
    for (const Value* value : problem.node().inputs)
      inputs_.push_back(value ? inputOf(*value) : TensorArg{});
    Step step(problem.candidates.back(), inputs_, wanted_.arg, batch);
    poison(wanted_);
    step.launch(nullptr);
    CHECK(cuCtxSynchronize());
  }

  // ||is - wanted|| / ||wanted||, infinite when what follows the result was written. Twice, the
  // second over the first: what a kernel leaves behind must not matter.
  double errorOf(const Candidate& candidate) {
    poison(out_);
    Step step(candidate, inputs_, out_.arg, batch_);
    for (int i = 0; i < 2; ++i) step.launch(nullptr);
    CHECK(cuMemsetD8(sums_.at, 0, 24));
    call(str("compare_", toString(out_.arg.type)), 256, out_.memory.at, wanted_.memory.at,
         static_cast<long long>(out_.arg.count()), sums_.at);
    call("guard", 1, out_.memory.at + bytes_, sums_.at);
    double sums[3];
    CHECK(cuMemcpyDtoH(sums, sums_.at, sizeof sums));
    ++progress->checks;
    if (sums[2] > 0) return INFINITY;
    return sums[0] == 0 ? 0 : std::sqrt(sums[0] / sums[1]);
  }
  double tolerance() const {
    const DataType type = out_.arg.type;
    if (inputs_[0].type == DataType::kF8E4M3) return 5e-3;  // sums have fewer bits on tensor cores
    return type == DataType::kI32                           ? 1e-12
           : type == DataType::kI8 || type == DataType::kU8 ? 5e-4
           : type == DataType::kBF16                        ? 6e-3
                                                            : 1e-3;
  }

  double micros(const Candidate& candidate) {
    constexpr int kLaunches = 20, kRuns = 5;
    Step step(candidate, inputs_, out_.arg, batch_);
    Device& device = cuda::currentDevice();
    void* stream = device.createStream();
    const auto recording = device.record(stream, [&] {
      for (int i = 0; i < kLaunches; ++i) step.launch(stream);
    });
    double best = INFINITY;
    for (int i = 0; i < kRuns; ++i) {
      const auto begin = device.mark(stream);
      recording->replay(stream);
      const auto end = device.mark(stream);
      device.synchronize(stream);
      best = std::min(best, device.millisecondsBetween(begin.get(), end.get()));
    }
    device.destroyStream(stream);
    return best * 1000 / kLaunches;
  }

 private:
  static constexpr size_t kGuardBytes = 256;

  TensorArg inputOf(const Value& value) {
    TensorArg arg = argOf(value.type, batch_, 0);
    kept_.emplace_back(bytesOf(arg));
    arg.data = reinterpret_cast<void*>(kept_.back().at);
    if (value.isConstant())
      CHECK(cuMemcpyHtoD(kept_.back().at, value.view().data, bytesOf(arg)));
    else
      call(str("fill_", toString(value.dataType())), 1024, kept_.back().at,
           static_cast<long long>(arg.count()), ++seed_);
    return arg;
  }

  Operand resultOf(const Node& node) const {
    Memory memory(bytes_ + kGuardBytes);
    const TensorArg arg = argOf(node.output()->type, batch_, memory.at);
    return {std::move(memory), arg};
  }

  void poison(const Operand& operand) {
    CHECK(cuMemsetD8(operand.memory.at, 0xff, bytes_ + kGuardBytes));
  }

  template <class... Args>
  void call(const std::string& name, unsigned grid, Args... args) {
    launchPlain(functionOf(helpers_, name.c_str()), grid, args...);
  }

  CUmodule helpers_;
  int64_t batch_, bytes_;
  unsigned seed_ = 0;
  Memory sums_;
  Operand out_, wanted_;
  std::vector<Memory> kept_;
  std::vector<TensorArg> inputs_;
};
