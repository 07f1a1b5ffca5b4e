// Checks and times the generated convolutions and mma products (src/backends/cuda/conv, gemm) on a
// GPU: odd shapes in every configuration against the plainest kernel, then the layers of ResNet-50,
// MobileNetV3, EfficientNet and ConvNeXt at batch 1 and 32, 20 launches in a graph. Build and run:
//   cmake --build --preset release --target conv_check
//   build/bin/conv_check [part of a case's name] [seconds]
// COMPILE_ONLY in the environment leaves it at that.
#include <cmath>
#include <map>
#include <memory>

#include "backend/kernel.h"
#include "backends/cuda/cuda.h"
#include "backends/cuda/generated_params.h"
#include "ir/graph.h"
#include "ops/ops.h"
#include "support/error.h"
#include "support/half.h"
#include "support/text.h"
#include "conv_cases.h"
#include "device_process.h"

using namespace camshaft::cuda;

namespace {

// ---- Preparing ---------------------------------------------------------------------------------

struct Candidate {
  std::string name;
  Prepared prepared;
  bool isReference = false;
};
struct Problem {
  Case what;
  Graph graph;
  std::vector<Candidate> candidates;  // the last is the reference
  const Node& node() const { return *graph.nodes().back(); }
};

void makeConstant(Graph& graph, const std::string& name) {
  Value* input = graph.find(name);
  if (!input) return;
  const Dims dims = staticDims(input->shape());
  int64_t count = 1, fan = 1;
  for (size_t i = 0; i < dims.size(); ++i) count *= dims[i];
  if (dims.size() > 1) fan = std::max<int64_t>(count / dims[0], 1);
  std::vector<std::byte> bytes(count * bitsOf(input->dataType()) / 8);
  unsigned state = 12345;
  const double scale = 1.7 / std::sqrt(static_cast<double>(fan));
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    writeElement(input->dataType(), bytes.data(), i,
                 scale * (static_cast<int>(state) / 2147483648.0));
  }
  Value* constant =
      graph.addConstant(name + "_data", input->type, ConstantData::own(std::move(bytes)));
  graph.replaceUses(input, constant);
  graph.removeInput(input);
}

bool isOwn(std::string_view kernel) {
  for (std::string_view own : {"cuda/conv_depthwise", "cuda/conv_mma", "cuda/conv_direct",
                               "cuda/gemm_mma", "cuda/gemm_plain"})
    if (kernel == own) return true;
  return false;
}

int64_t sizeOf(const Dim& dim, int64_t batch) {
  return camshaft::evaluate(dim, [&](const std::string&) { return batch; });
}

Problem problemOf(const Case& what) {
  Problem problem{what, parseGraph(what.graph, findOp), {}};
  for (const char* name : {"w", "b"}) makeConstant(problem.graph, name);
  BuildContext context;  // for an H200
  context.opt = context.max = [](const Dim& dim) { return sizeOf(dim, 32); };
  const Node& node = problem.node();
  for (const Kernel& kernel : buildBackend().kernelsFor(node)) {
    if (!isOwn(kernel.name) || !kernel.supports(node, context)) continue;
    for (int64_t config :
         kernel.configurations ? kernel.configurations(node, context) : std::vector<int64_t>{0}) {
      Prepared prepared = kernel.prepare(node, context, config);
      if (!prepared.verdict) continue;
      const std::string name = prepared.runtimeKernel.substr(std::strlen("cuda/"));
      problem.candidates.push_back({name, std::move(prepared)});
      if (kernel.name == "cuda/conv_direct" || kernel.name == "cuda/gemm_plain") break;
    }
  }
  problem.candidates.back().isReference = true;
  return problem;
}

constexpr const char* kHelpers = R"(
template <class T> __device__ void fillWith(T* to, long long count, unsigned seed) {
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) {
    unsigned x = (unsigned)i * 2654435761u + seed * 40503u;
    x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
    assign(to[i], (float)(int)x * (1.0f / 2147483648.0f));
  }
}
template <class T>
__device__ void compareWith(const T* is, const T* wanted, long long count, double* sums) {
  double difference = 0, size = 0;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) {
    const double w = toCompute(wanted[i]), d = toCompute(is[i]) - w;
    difference += d * d;
    size += w * w;
  }
  atomicAdd(sums, difference);
  atomicAdd(sums + 1, size);
}
#define HELPERS(T) \
extern "C" __global__ void fill_##T(T* to, long long count, unsigned seed) { fillWith(to, count, seed); } \
extern "C" __global__ void compare_##T(const T* is, const T* wanted, long long count, double* sums) { compareWith(is, wanted, count, sums); }
HELPERS(f16) HELPERS(bf16) HELPERS(float)
extern "C" __global__ void guard(const unsigned char* bytes, double* sums) {
  if (bytes[threadIdx.x] != 0xff) atomicAdd(sums + 2, 1.0);
}
)";

std::map<std::string, Binary> gBinaries;  // by source

// ---- Running -----------------------------------------------------------------------------------

std::string_view deviceType(DataType type) {
  return type == DataType::kF16 ? "f16" : type == DataType::kBF16 ? "bf16" : "float";
}

struct Loaded {
  CUfunction function;
  GeneratedParams params;
};

class Runner {
 public:
  Runner(const Problem& problem, CUmodule helpers)
      : problem_(problem), helpers_(helpers), sums_(64) {}

  // The table's line.
  std::string run(int64_t batch) {
    const Node& node = problem_.node();
    std::vector<Memory> inputs;
    for (const Value* value : node.inputs) inputs.push_back(inputOf(*value, batch));
    const int64_t count = sizeOf(numElements(node.output()->shape()), batch);
    const size_t bytes = count * bitsOf(node.output()->dataType()) / 8;
    const Memory wanted(bytes + kGuardBytes), out(bytes + kGuardBytes);
    launchOnce(problem_.candidates.back(), inputs, wanted, bytes, batch);
    std::vector<std::pair<double, std::string>> times;
    std::string wrong;
    for (const Candidate& candidate : problem_.candidates) {
      if (candidate.isReference) continue;
      const double error = errorOf(candidate, inputs, out, wanted, count, bytes, batch);
      ++progress->checks;
      if (!(error < 2e-3)) {
        wrong += str(" WRONG ", candidate.name, " ", error);
        ++progress->failures;
      }
      times.emplace_back(problem_.what.isTimed ? micros(candidate, inputs, out, batch) : error,
                         candidate.name);
    }
    std::sort(times.begin(), times.end());
    return lineOf(batch, times) + wrong;
  }

 private:
  static constexpr size_t kGuardBytes = 256;

  Memory inputOf(const Value& value, int64_t batch) {
    const int64_t count = sizeOf(numElements(value.shape()), batch);
    const size_t bytes = count * bitsOf(value.dataType()) / 8;
    Memory memory(bytes);
    if (value.isConstant()) {
      CHECK(cuMemcpyHtoD(memory.at, value.view().data, bytes));
    } else {
      call(str("fill_", deviceType(value.dataType())), 1024, memory.at,
           static_cast<long long>(count), ++seed_);
    }
    return memory;
  }

  template <class... Args>
  void call(const std::string& name, unsigned grid, Args... args) {
    CUfunction function;
    CHECK(cuModuleGetFunction(&function, helpers_, name.c_str()));
    void* pointers[] = {&args...};
    CHECK(cuLaunchKernel(function, grid, 1, 1, 256, 1, 1, 0, nullptr, pointers, nullptr));
  }

  const Loaded& load(const Candidate& candidate) {
    const auto known = loaded_.find(&candidate);
    if (known != loaded_.end()) return known->second;
    Loaded loaded;
    const std::string& code = gBinaries.at(candidate.prepared.source).code;
    if (code.empty()) throw DeviceError{candidate.name + " was not compiled"};
    CUmodule module;
    CHECK(cuModuleLoadData(&module, code.data()));
    CHECK(cuModuleGetFunction(&loaded.function, module, candidate.name.c_str()));
    std::memcpy(&loaded.params, candidate.prepared.params.data(), sizeof loaded.params);
    CHECK(cuFuncSetAttribute(loaded.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                             static_cast<int>(loaded.params.sharedBytes)));
    for (const StepInput& input : candidate.prepared.inputs) {
      if (input.nodeInput >= 0) continue;
      auto [place, isNew] = packed_.try_emplace(&candidate, input.packed.size());
      CHECK(cuMemcpyHtoD(place->second.at, input.packed.data(), input.packed.size()));
    }
    return loaded_[&candidate] = loaded;
  }

  void launch(const Candidate& candidate, const std::vector<Memory>& inputs, const Memory& out,
              int64_t batch, CUstream stream) {
    const Loaded& loaded = load(candidate);
    std::vector<uint64_t> values;
    for (const StepInput& input : candidate.prepared.inputs)
      values.push_back(input.nodeInput >= 0 ? inputs[input.nodeInput].at
                                            : packed_.at(&candidate).at);
    values.push_back(out.at);
    std::vector<int64_t> dims;
    for (const Dim& dim : candidate.prepared.dimArgs) dims.push_back(sizeOf(dim, batch));
    for (size_t i = 3; i < dims.size(); ++i) values.push_back(dims[i]);
    std::vector<void*> pointers;
    for (uint64_t& value : values) pointers.push_back(&value);
    CUlaunchAttribute attributes[2] = {};
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[0].value.programmaticStreamSerializationAllowed = 1;
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[1].value.clusterDim.x = loaded.params.cluster;
    attributes[1].value.clusterDim.y = attributes[1].value.clusterDim.z = 1;
    CUlaunchConfig config = {};
    config.gridDimX = dims[0], config.gridDimY = dims[1], config.gridDimZ = dims[2];
    config.blockDimX = loaded.params.block, config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = loaded.params.sharedBytes;
    config.hStream = stream;
    config.attrs = attributes;
    config.numAttrs = loaded.params.cluster > 1 ? 2 : 1;
    CHECK(cuLaunchKernelEx(&config, loaded.function, pointers.data(), nullptr));
  }

  void launchOnce(const Candidate& candidate, const std::vector<Memory>& inputs, const Memory& out,
                  size_t bytes, int64_t batch) {
    CHECK(cuMemsetD8(out.at, 0xff, bytes + kGuardBytes));
    launch(candidate, inputs, out, batch, nullptr);
    if (const CUresult result = cuCtxSynchronize(); result != CUDA_SUCCESS)
      check(result, candidate.name.c_str());
  }

  // ||is - wanted|| / ||wanted||, infinite when what follows the result was written.
  double errorOf(const Candidate& candidate, const std::vector<Memory>& inputs, const Memory& out,
                 const Memory& wanted, int64_t count, size_t bytes, int64_t batch) {
    launchOnce(candidate, inputs, out, bytes, batch);
    CHECK(cuMemsetD8(sums_.at, 0, 24));
    call(str("compare_", deviceType(problem_.node().output()->dataType())), 256, out.at, wanted.at,
         static_cast<long long>(count), sums_.at);
    call("guard", 1, out.at + bytes, sums_.at);
    double sums[3];
    CHECK(cuMemcpyDtoH(sums, sums_.at, sizeof sums));
    return sums[2] > 0 ? INFINITY : std::sqrt(sums[0] / sums[1]);
  }

  double micros(const Candidate& candidate, const std::vector<Memory>& inputs, const Memory& out,
                int64_t batch) {
    constexpr int kLaunches = 20, kRuns = 4;
    CUstream stream;
    CUgraph graph;
    CUgraphExec ready;
    CUevent events[2];
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (CUevent& event : events) CHECK(cuEventCreate(&event, 0));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    for (int i = 0; i < kLaunches; ++i) launch(candidate, inputs, out, batch, stream);
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiate(&ready, graph, 0));
    float best = INFINITY;
    for (int i = 0; i < kRuns; ++i) {
      CHECK(cuEventRecord(events[0], stream));
      CHECK(cuGraphLaunch(ready, stream));
      CHECK(cuEventRecord(events[1], stream));
      CHECK(cuStreamSynchronize(stream));
      float milliseconds;
      CHECK(cuEventElapsedTime(&milliseconds, events[0], events[1]));
      best = std::min(best, milliseconds);
    }
    cuGraphExecDestroy(ready);
    cuGraphDestroy(graph);
    for (CUevent event : events) cuEventDestroy(event);
    cuStreamDestroy(stream);
    return best * 1000 / kLaunches;
  }

  std::string lineOf(int64_t batch,
                     const std::vector<std::pair<double, std::string>>& times) const {
    char text[400];
    const Case& c = problem_.what;
    if (times.empty()) return c.name + ": no kernel but the plainest";
    if (!c.isTimed) {
      std::snprintf(text, sizeof text, "%-28s n%-3d error at most %.1e, %zu kernels",
                    c.name.c_str(), int(batch), times.back().first, times.size());
      return text;
    }
    const double best = times[0].first;
    std::snprintf(text, sizeof text, "%-28s n%-3d %7.2f us %6.1f TFLOPS %5.2f TB/s ",
                  c.name.c_str(), int(batch), best, 2e-6 * batch * c.products / best,
                  1e-6 * batch * c.bytes / best);
    std::string line = text;
    for (const auto& [time, name] : times) {
      const size_t tail = name.find('_', name.find('_', name.find('_') + 1) + 1);
      std::snprintf(text, sizeof text, " %s=%.1f", name.c_str() + tail + 1, time);
      line += text;
    }
    return line;
  }

  const Problem& problem_;
  CUmodule helpers_;
  Memory sums_;
  unsigned seed_ = 0;
  std::map<const Candidate*, Loaded> loaded_;
  std::map<const Candidate*, Memory> packed_;
};

// From the position on; false when the device is lost.
bool runFrom(const std::vector<Problem>& problems, const std::string& helpers) {
  openDevice();
  CUmodule module;
  CHECK(cuModuleLoadData(&module, gBinaries.at(helpers).code.data()));
  for (; progress->position < static_cast<int>(problems.size()); ++progress->position) {
    const Problem& problem = problems[progress->position];
    try {
      Runner runner(problem, module);
      for (int64_t batch : problem.what.batches) say(runner.run(batch));
    } catch (const DeviceError& error) {
      complain(problem.what.name, ": ", error.text);
      if (cuCtxSynchronize() != CUDA_SUCCESS) return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string part = argc > 1 ? argv[1] : "";
  const double budget = argc > 2 ? std::atof(argv[2]) : 120;
  progress = static_cast<Progress*>(sharedMemory(sizeof(Progress)));
  secondsSinceStart();
  std::vector<Problem> problems;
  for (const Case& what : allCases())
    if (what.name.find(part) != std::string::npos) problems.push_back(problemOf(what));
  if (problems.empty()) {
    std::printf("no case has '%s' in its name\n", part.c_str());
    return 2;
  }
  std::string prelude = problems[0].candidates[0].prepared.source;
  prelude.resize(prelude.find("using Index ="));
  const std::string helpers = prelude + kHelpers;
  gBinaries[helpers] = {.name = "helpers", .source = helpers};
  for (const Problem& problem : problems)
    for (const Candidate& candidate : problem.candidates) {
      const std::string& source = candidate.prepared.source;
      gBinaries[source] = {.name = candidate.name, .source = source};
    }
  std::vector<Binary*> binaries;
  for (auto& [source, binary] : gBinaries) binaries.push_back(&binary);
  compileInChild(binaries);
  const bool isComplete =
      std::getenv("COMPILE_ONLY") || inChildren(static_cast<int>(problems.size()), budget,
                                                [&] { return runFrom(problems, helpers); });
  say(progress->checks, " checks, ", progress->failures, " failures",
      isComplete ? "" : ", not complete");
  return progress->failures != 0 || !isComplete;
}
