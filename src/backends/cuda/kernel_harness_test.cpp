#include "backends/cuda/kernel_harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "backends/cuda/cuda.h"
#include "backends/cuda/gemm/hopper/params.h"
#include "backends/cuda/kernel_machine.h"
#include "backends/cuda/libraries/problems.h"
#include "backends/cuda/load_library.h"
#include "backends/cuda/services.h"
#include "support/text.h"
#include "support/version.h"
#include "testing/expect_tensor.h"

namespace camshaft::cuda {
namespace {

class MachineMemory {
 public:
  explicit MachineMemory(size_t bytes) : address_(kernelMachine().allocate(bytes)) {}
  MachineMemory(const MachineMemory&) = delete;
  ~MachineMemory() { kernelMachine().release(address_); }
  void* address() const { return address_; }

 private:
  void* address_;
};

// One launch, with memory of its own.
class Launch {
 public:
  Launch(const Prepared& prepared, const Problem& problem)
      : prepared_(prepared), problem_(problem) {
    for (const StepInput& input : prepared.inputs) {
      fromNode_.push_back(input.nodeInput);
      const std::vector<std::byte>& bytes =
          input.nodeInput < 0 ? input.packed : problem.inputs[input.nodeInput].bytes;
      inputs_.push_back(memory(bytes.size()));
      kernelMachine().copyIn(inputs_.back(), bytes.data(), bytes.size());
    }
    for (const HostTensor& wanted : problem.wanted) outputs_.push_back(memory(wanted.bytes.size()));
    workspace_ = memory(problem.valueOf(prepared.workspaceBytes));
    for (const Dim& dim : prepared.dimArgs) dims_.push_back(problem.valueOf(dim));
  }

  void writeOver(int nodeInput) {
    for (size_t i = 0; i < fromNode_.size(); ++i)
      if (fromNode_[i] == nodeInput) outputs_[0] = inputs_[i];
  }
  void run() {
    if (!hasWork()) return;
    const KernelLaunch launch = description();
    const std::vector<std::byte> zeros(launch.params.zeroedBytes);
    if (!zeros.empty()) kernelMachine().copyIn(workspace_, zeros.data(), zeros.size());
    kernelMachine().launch(launch);
  }
  void printTime() {
    if (hasWork()) kernelMachine().printTime(description());
  }

  void check(double tolerance) const {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      SCOPED_TRACE(str("output ", i));
      const HostTensor& wanted = problem_.wanted[i];
      HostTensor got(wanted.type, wanted.dims);
      kernelMachine().copyOut(got.bytes.data(), outputs_[i], got.bytes.size());
      ignoreRest(problem_.node, problem_.wanted, i, got.bytes.data());
      expectTensor(wanted, got.bytes.data(), tolerance);
    }
    kernelMachine().check();
  }

 private:
  void* memory(size_t bytes) {
    memory_.push_back(std::make_unique<MachineMemory>(std::max<size_t>(bytes, 1)));
    return memory_.back()->address();
  }
  bool hasWork() const { return dims_[0] > 0 && dims_[1] > 0 && dims_[2] > 0; }
  KernelLaunch description() {
    KernelLaunch launch{.source = prepared_.source,
                        .kernel = prepared_.runtimeKernel.substr(std::strlen(kGeneratedPrefix))};
    std::memcpy(&launch.params, prepared_.params.data(), sizeof launch.params);
    for (int i = 0; i < 3; ++i) launch.grid[i] = static_cast<unsigned>(dims_[i]);
    for (void*& input : inputs_) launch.arguments.push_back(&input);
    for (void*& output : outputs_) launch.arguments.push_back(&output);
    if (launch.params.hasWorkspace) launch.arguments.push_back(&workspace_);
    for (size_t i = 3; i < dims_.size(); ++i) launch.arguments.push_back(&dims_[i]);
    return launch;
  }

  const Prepared& prepared_;
  const Problem& problem_;
  std::vector<std::unique_ptr<MachineMemory>> memory_;
  std::vector<void*> inputs_, outputs_;
  void* workspace_ = nullptr;
  std::vector<int> fromNode_;
  std::vector<int64_t> dims_;
};

struct Candidate {
  const Kernel* kernel;
  int64_t config;
  Prepared prepared;
};

// All generated kernels for the node in all configurations.
std::vector<Candidate> candidatesOf(const HarnessCase& testCase, const Harness& harness) {
  std::vector<Candidate> candidates;
  for (const Kernel& kernel : buildBackend().kernelsFor(harness.node())) {
    if (!testCase.only.empty() && kernel.name != testCase.only) continue;
    if (!harness.supports(kernel)) continue;
    for (int64_t config : harness.configurations(kernel)) {
      Prepared prepared = harness.prepare(kernel, config);
      if (prepared.verdict && !prepared.source.empty())
        candidates.push_back({&kernel, config, std::move(prepared)});
    }
  }
  return candidates;
}

void runCandidate(const HarnessCase& testCase, const Candidate& candidate, const Problem& problem) {
  Launch launch(candidate.prepared, problem);
  launch.run();
  launch.check(testCase.tolerance);
  launch.printTime();
  for (size_t i = 0; candidate.kernel->inPlace && i < problem.node.inputs.size(); ++i) {
    const Value* input = problem.node.inputs[i];
    if (testing::Test::HasFatalFailure()) return;
    if (!input || input->isConstant() || problem.node.outputs.empty() ||
        !candidate.kernel->inPlace(problem.node, static_cast<int>(i)))
      continue;
    SCOPED_TRACE(str("in place of input ", i));
    Launch inPlace(candidate.prepared, problem);
    inPlace.writeOver(static_cast<int>(i));
    inPlace.run();
    inPlace.check(testCase.tolerance);
  }
}

void keepBinary(const char* folder, std::string name, const std::vector<std::byte>& binary) {
  std::replace(name.begin(), name.end(), '/', '_');
  std::ofstream(str(folder, "/", name, ".cubin"), std::ios::binary)
      .write(reinterpret_cast<const char*>(binary.data()),
             static_cast<std::streamsize>(binary.size()));
}

// With NVRTC, what a build for the architectures of CAMSHAFT_TEST_NVRTC ("sm_80 sm_90a") has: of
// each kernel one configuration for one architecture, others in the next case, because all of them
// would take ten times as long as the other tests. All of them, with a folder for them in
// CAMSHAFT_TEST_BINARIES.
void compileForDevices(const HarnessCase& testCase, Harness& harness) {
  const char* named = std::getenv("CAMSHAFT_TEST_NVRTC");
  const char* folder = std::getenv("CAMSHAFT_TEST_BINARIES");
  std::istringstream architectures(named ? named : "");
  struct Offer {
    std::string name;
    DeviceText text;
  };
  std::map<std::string, std::vector<std::vector<Offer>>> offers;  // by kernel, then architecture
  for (std::string architecture; architectures >> architecture;) {
    SCOPED_TRACE(architecture);
    harness.target = buildBackend().target(std::stoi(architecture.substr(std::strlen("sm_"))));
    std::vector<Candidate> candidates = candidatesOf(testCase, harness);
    EXPECT_FALSE(candidates.empty() && testCase.only.empty()) << "no kernel takes the node";
    const Kernel* last = nullptr;
    for (Candidate& candidate : candidates) {
      auto& ofKernel = offers[std::string(candidate.kernel->name)];
      if (std::exchange(last, candidate.kernel) != candidate.kernel) ofKernel.emplace_back();
      ofKernel.back().push_back(
          {str(architecture, "_", candidate.prepared.runtimeKernel, "_", candidate.config),
           {std::move(candidate.prepared.source), architecture}});
    }
  }
  static std::map<std::string, size_t> turns;  // of each kernel
  std::vector<DeviceText> texts;
  std::vector<std::string> names;
  for (auto& [kernel, ofArchitectures] : offers) {
    const size_t turn = turns[kernel]++;
    for (size_t i = 0; i < ofArchitectures.size(); ++i)
      for (size_t j = 0; j < ofArchitectures[i].size(); ++j) {
        const size_t round = turn / ofArchitectures.size();
        const bool isTurn =
            turn % ofArchitectures.size() == i && round % ofArchitectures[i].size() == j;
        if (!folder && !isTurn) continue;
        texts.push_back(std::move(ofArchitectures[i][j].text));
        names.push_back(std::move(ofArchitectures[i][j].name));
      }
  }
  compileForDevice(texts);
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(texts[i].error, "") << names[i];
    if (folder) keepBinary(folder, names[i], texts[i].binary);
  }
}

}  // namespace

void expectKernelsMatch(const HarnessCase& testCase) {
  SCOPED_TRACE(testCase.graph);
  Harness harness(testCase);
  std::vector<Candidate> candidates = candidatesOf(testCase, harness);
  // Hopper's product has a launcher of its own: cuda_emulator/hopper_test.cpp runs it.
  std::erase_if(candidates, [](const Candidate& candidate) {
    return candidate.prepared.runtimeKernel == kHopperGemmKernel;
  });
  ASSERT_FALSE(candidates.empty()) << "no kernel takes the node: " << refusalsOf(testCase.graph);
  std::vector<std::string> sources;
  for (const Candidate& candidate : candidates) sources.push_back(candidate.prepared.source);
  kernelMachine().prefetch(sources);
  for (const auto& sizes : testCase.sizes) {
    const Problem problem = harness.problem(sizes);
    for (const Candidate& candidate : candidates) {
      std::string trace = str(candidate.kernel->name, ", config ", candidate.config);
      for (const auto& [name, size] : sizes) trace += str(", ", name, " = ", size);
      SCOPED_TRACE(trace);
      runCandidate(testCase, candidate, problem);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  compileForDevices(testCase, harness);
}

std::string refusalsOf(const std::string& graph) {
  const HarnessCase testCase{.graph = graph};
  const Harness harness(testCase);
  return verdictsOf(buildBackend().kernelsFor(harness.node()), harness);
}

std::string refusalsAt(const std::string& graph, const std::map<std::string, int64_t>& sizes) {
  const HarnessCase testCase{.graph = graph, .sizes = {sizes}};
  const Harness harness(testCase);
  std::string reasons;
  for (const Kernel& kernel : buildBackend().kernelsFor(harness.node())) {
    if (!harness.supports(kernel)) continue;
    const int64_t config = harness.configurations(kernel).front();
    const Verdict verdict = harness.prepare(kernel, config).verdict;
    reasons +=
        str(reasons.empty() ? "" : "; ", kernel.name, ": ", verdict ? "yes" : verdict.reason);
  }
  return reasons;
}

}  // namespace camshaft::cuda
