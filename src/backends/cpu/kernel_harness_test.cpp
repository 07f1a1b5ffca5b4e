#include "backends/cpu/kernel_harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/cpu/cpu.h"
#include "backends/cpu/simd/isa.h"
#include "support/thread_pool.h"
#include "testing/expect_tensor.h"

namespace camshaft::cpu {

namespace {

constexpr size_t kGuard = 256;
constexpr std::byte kGuardByte{0xa5};

// Memory with guards on both sides, `shift` bytes off its 64-byte alignment.
class GuardedBuffer {
 public:
  GuardedBuffer(size_t bytes, size_t shift, std::byte filling)
      : bytes_(bytes), memory_(bytes + 2 * kGuard + 64 + shift, kGuardByte) {
    const auto address = reinterpret_cast<uintptr_t>(memory_.data()) + kGuard;
    offset_ = kGuard + (64 - address % 64) % 64 + shift;
    std::fill_n(data(), bytes, filling);
  }
  std::byte* data() { return memory_.data() + offset_; }
  bool guardsIntact() const {
    const auto isGuard = [](std::byte b) { return b == kGuardByte; };
    return std::all_of(memory_.begin(), memory_.begin() + offset_, isGuard) &&
           std::all_of(memory_.begin() + offset_ + bytes_, memory_.end(), isGuard);
  }

 private:
  size_t bytes_, offset_;
  std::vector<std::byte> memory_;
};

class Launch {
 public:
  Launch(const Prepared& prepared, std::string_view kernelName, const Problem& problem,
         size_t misalignment)
      : problem_(problem), misalignment_(misalignment) {
    const std::string name =
        prepared.runtimeKernel.empty() ? std::string(kernelName) : prepared.runtimeKernel;
    kernel_ = runtimeBackend().find(name);
    if (!kernel_) throw std::runtime_error("no launcher named " + name);
    params_ = std::make_unique<GuardedBuffer>(prepared.params.size(), 0, std::byte{0});
    std::ranges::copy(prepared.params, params_->data());
    if (kernel_->load) state_ = kernel_->load({params_->data(), prepared.params.size()});
    for (const StepInput& input : prepared.inputs) addInput(input);
    for (const HostTensor& wanted : problem.wanted)
      outputs_.push_back(tensor(wanted.type, wanted.dims));
    for (const Dim& dim : prepared.dimArgs) dims_.push_back(problem.valueOf(dim));
    workspaceBytes_ = problem.valueOf(prepared.workspaceBytes);
    workspace_ = std::make_unique<GuardedBuffer>(workspaceBytes_, 0, std::byte{0xff});
  }

  void writeOver(int nodeInput) {
    for (size_t i = 0; i < fromNode_.size(); ++i)
      if (fromNode_[i] == nodeInput) outputs_[0].data = inputs_[i].data;
  }
  void addOutput(DataType type, const Dims& dims) { outputs_.push_back(tensor(type, dims)); }

  void run(ThreadPool& pool) {
    kernel_->launch(state_.get(), {.inputs = inputs_,
                                   .outputs = outputs_,
                                   .dims = dims_,
                                   .workspace = workspace_->data(),
                                   .workspaceBytes = workspaceBytes_,
                                   .threads = &pool});
  }

  void check(double tolerance) const {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      ASSERT_EQ(outputs_[i].type, problem_.wanted[i].type);
      ignoreRest(problem_.node, problem_.wanted, i, outputs_[i].data);
      expectTensor(problem_.wanted[i], outputs_[i].data, tolerance);
    }
    for (const auto& buffer : buffers_)
      EXPECT_TRUE(buffer->guardsIntact()) << "memory around a tensor was written";
    EXPECT_TRUE(workspace_->guardsIntact()) << "memory around the workspace was written";
  }

 private:
  TensorArg tensor(DataType type, const Dims& dims) {
    TensorArg arg{.type = type, .rank = static_cast<int32_t>(dims.size())};
    std::ranges::copy(dims, arg.dims);
    const size_t shift = misalignment_ * std::max<size_t>(1, bytesOf(type, 1));
    buffers_.push_back(
        std::make_unique<GuardedBuffer>(bytesOf(type, countOf(dims)), shift, std::byte{0xff}));
    arg.data = buffers_.back()->data();
    return arg;
  }
  void addInput(const StepInput& input) {
    fromNode_.push_back(input.nodeInput);
    if (input.nodeInput < 0) {
      inputs_.push_back(tensor(input.packedType.type, staticDims(input.packedType.shape)));
      std::memcpy(inputs_.back().data, input.packed.data(), input.packed.size());
    } else if (!problem_.node.inputs[input.nodeInput]) {
      inputs_.push_back({});
    } else {
      const HostTensor& data = problem_.inputs[input.nodeInput];
      inputs_.push_back(tensor(data.type, data.dims));
      std::ranges::copy(data.bytes, static_cast<std::byte*>(inputs_.back().data));
    }
  }

  const Problem& problem_;
  const size_t misalignment_;
  const RuntimeKernel* kernel_;
  std::unique_ptr<GuardedBuffer> params_, workspace_;
  std::shared_ptr<const void> state_;
  std::vector<std::unique_ptr<GuardedBuffer>> buffers_;
  std::vector<TensorArg> inputs_, outputs_;
  std::vector<int> fromNode_;
  std::vector<int64_t> dims_;
  int64_t workspaceBytes_ = 0;
};

ThreadPool& poolOf(int threads) {
  static ThreadPool one(1), two(2), three(3);
  return threads == 1 ? one : threads == 2 ? two : three;
}

void runOnce(const HarnessCase& testCase, const Kernel& kernel, const Prepared& prepared,
             const Problem& problem, int threads) {
  SCOPED_TRACE(str(kernel.name, ", ", threads, " threads, ", isaName()));
  Launch launch(prepared, kernel.name, problem, threads - 1);
  launch.run(poolOf(threads));
  launch.check(testCase.tolerance);
}

// Three threads run what was prepared for two: the runtime may have more than the builder knew.
void runEveryWay(const HarnessCase& testCase, const Kernel& kernel, const Prepared& prepared,
                 const Problem& problem) {
  for (int threads : {1, 2, 3}) {
    runOnce(testCase, kernel, prepared, problem, threads);
    if (testing::Test::HasFatalFailure()) return;
  }
  for (size_t i = 0; kernel.inPlace && i < problem.node.inputs.size(); ++i) {
    const Value* input = problem.node.inputs[i];
    if (!input || input->isConstant() || !kernel.inPlace(problem.node, static_cast<int>(i)))
      continue;
    SCOPED_TRACE(str(kernel.name, ", in place of input ", i));
    Launch launch(prepared, kernel.name, problem, 0);
    launch.writeOver(static_cast<int>(i));
    launch.run(poolOf(2));
    launch.check(testCase.tolerance);
  }
}

struct RestoreIsa {
  std::string_view isa;
  explicit RestoreIsa(std::string_view isa) : isa(isa) {}
  ~RestoreIsa() { setIsa(isa); }
};

// All problems with one kernel in one configuration; false when it refuses after all.
bool runKernel(const HarnessCase& testCase, const Harness& harness, const Kernel& kernel,
               int64_t config, const std::vector<Problem>& problems) {
  const std::string_view chosen = isaName();
  std::vector<std::string_view> isas = availableIsas();
  if (chosen != isas.front()) isas = {chosen};  // a test of this instruction set alone
  for (std::string_view isa : isas) {
    const RestoreIsa restore(chosen);
    setIsa(isa);
    const Prepared prepared = harness.prepare(kernel, config, 2);
    if (!prepared.verdict) return false;
    for (const Problem& problem : problems) {
      std::string trace = str("config ", config);
      for (const auto& [name, size] : problem.sizes) trace += str(", ", name, " = ", size);
      SCOPED_TRACE(trace);
      if (isa == chosen)
        runEveryWay(testCase, kernel, prepared, problem);
      else
        runOnce(testCase, kernel, prepared, problem, 1);
      if (testing::Test::HasFatalFailure()) return true;
    }
  }
  return true;
}

}  // namespace

void expectKernelsMatch(const HarnessCase& testCase) {
  SCOPED_TRACE(testCase.graph);
  Harness harness(testCase);
  std::vector<Problem> problems;
  for (const auto& sizes : testCase.sizes) problems.push_back(harness.problem(sizes));
  int supporting = 0;
  for (const Kernel& kernel : buildBackend().kernelsFor(harness.node())) {
    if (!testCase.only.empty() && kernel.name != testCase.only) continue;
    if (!harness.supports(kernel)) continue;
    for (int64_t config : harness.configurations(kernel)) {
      supporting += runKernel(testCase, harness, kernel, config, problems);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_GT(supporting, 0) << "no kernel supports the node: " << refusalsOf(testCase.graph);
}

std::string refusalsOf(const std::string& graph) {
  const HarnessCase testCase{.graph = graph};
  const Harness harness(testCase);
  return verdictsOf(buildBackend().kernelsFor(harness.node()), harness);
}

std::string launchErrorOf(const HarnessCase& testCase) {
  Harness harness(testCase);
  for (const Kernel& kernel : buildBackend().kernelsFor(harness.node())) {
    if (!harness.supports(kernel)) continue;
    const Prepared prepared = harness.prepare(kernel, 0, 1);
    const Problem problem = harness.operands(testCase.sizes.front());
    Launch launch(prepared, kernel.name, problem, 0);
    for (const Value* output : harness.node().outputs)
      launch.addOutput(output->dataType(), problem.dimsOf(*output));
    try {
      launch.run(poolOf(1));
    } catch (const Error& error) {
      return error.message();
    }
    return "no error";
  }
  return "no kernel";
}

}  // namespace camshaft::cpu
