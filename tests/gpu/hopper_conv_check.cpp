// Checks and times convolutions on the Hopper matrix product (src/backends/cuda/conv), launched as
// engines launch them, against the plainest kernel. Build and run:
//   cmake --build --preset release --target hopper_conv_check
//   build/bin/hopper_conv_check check [seconds]     odd shapes, every feature of the product
//   build/bin/hopper_conv_check time [seconds]      ResNet-50's layers, beside conv_mma and cuDNN
//   build/bin/hopper_conv_check compile             only compiles what both need
// CASES in the environment is a part of the names of those to take.
#include <cmath>

#include "backends/cuda/conv/cudnn_conv.h"
#include "backends/cuda/cuda.h"
#include "backends/cuda/gemm/hopper/choice.h"
#include "backends/cuda/load_library.h"
#include "hopper_conv_runner.h"
#include "ops/ops.h"
#include "support/error.h"
#include "support/version.h"

namespace {

// ---- Preparing ---------------------------------------------------------------------------------

constexpr std::string_view kHopper = "cuda/conv_hopper", kPixels = "cuda/conv_pixels_hopper",
                           kMma = "cuda/conv_mma", kPlain = "cuda/conv_direct";

// Every feature: tiles that persist, by turns, shared, split, with few and many stages.
const cuda::HopperConfig kFeatures[] = {
    {.tileM = 64, .tileN = 64, .consumers = 1, .stages = 8},
    {.tileM = 64, .tileN = 64, .consumers = 1, .stages = 3, .splitK = 4},
    {.tileM = 128, .tileN = 128, .pingPong = true, .stages = 5, .shareB = 2},
    {.tileM = 128, .tileN = 64, .stages = 7, .splitK = 2, .shareA = 2},
    {.tileM = 128, .tileN = 256, .stages = 4, .shareB = 2},
    {.tileM = 256, .tileN = 128, .stages = 4, .shareA = 2},
    {.tileM = 64, .tileN = 32, .consumers = 1, .stages = 8},
    {.tileM = 128, .tileN = 64, .stages = 3, .splitK = 4, .blocksPerSm = 2},
    {.tileM = 256, .tileN = 64, .pingPong = true, .stages = 5},
    {.tileM = 128, .tileN = 64, .stages = 3, .blocksPerSm = 2},
    {.tileM = 64, .tileN = 192, .pingPong = true, .stages = 5},
    {.tileM = 128, .tileN = 48, .stages = 3, .splitK = 3},
    {.tileM = 128, .tileN = 96, .stages = 6},
};

// Those of results with a residual that tiles are fetched of; stages are those that fit.
const cuda::HopperConfig kFetching[] = {
    {.tileM = 128, .tileN = 256},
    {.tileM = 128, .tileN = 128, .blocksPerSm = 2},
    {.tileM = 256, .tileN = 64, .pingPong = true},
    {.tileM = 64, .tileN = 256, .pingPong = true},
    {.tileM = 128, .tileN = 128, .pingPong = true, .shareB = 2},
    {.tileM = 64, .tileN = 128, .consumers = 1, .blocksPerSm = 3},
    {.tileM = 64, .tileN = 64, .consumers = 1},
};

// Weights, scales and biases, such that results are of the order of 1, or fill bytes.
void makeConstants(Graph& graph, bool isOfBytes) {
  for (const char* name : {"w", "s", "b"}) {
    Value* input = graph.find(name);
    if (!input) continue;
    const Dims dims = staticDims(input->shape());
    int64_t count = 1;
    for (int64_t dim : dims) count *= dim;
    const double fan = dims.size() > 1 ? static_cast<double>(count / dims[0]) : 1;
    std::vector<std::byte> bytes(count * bitsOf(input->dataType()) / 8);
    unsigned state = 12345;
    for (int64_t i = 0; i < count; ++i) {
      state = state * 1664525u + 1013904223u;
      const double x = static_cast<int>(state) / 2147483648.0;  // -1 to 1
      double value = x;
      if (*name == 'w') value = isOfBytes ? std::floor(x * 127) : x * 1.7 / std::sqrt(fan);
      if (*name == 's') value = isOfBytes ? (1 + 0.2 * x) * 1e-4 : 1 + 0.2 * x;
      if (*name == 'b' && isOfBytes) value = 40 * x;
      writeElement(input->dataType(), bytes.data(), i, value);
    }
    graph.replaceUses(input, graph.addConstant(str(name, "_data"), input->type,
                                               ConstantData::own(std::move(bytes))));
    graph.removeInput(input);
  }
}

BuildContext contextFor(int64_t batch) {
  BuildContext context;  // for an H200
  context.opt = context.min = context.max = [=](const Dim& dim) { return sizeOf(dim, batch); };
  return context;
}

class Preparing {
 public:
  Preparing(const ConvCase& what, int number, bool isTimed)
      : problem_{what, parseGraph(what.graph, findOp), {}}, number_(number), isTimed_(isTimed) {
    makeConstants(problem_.graph, what.graph.find("ConvInteger") != std::string::npos);
  }

  Problem take() {
    const Node& node = problem_.node();
    for (const Kernel& kernel : cuda::buildBackend().kernelsFor(node)) {
      const bool isHopper = isOfHopper(kernel.name), isPlain = kernel.name == kPlain;
      if (!isHopper && !isPlain && kernel.name != kMma) continue;
      if (Verdict verdict = kernel.supports(node, context_); !verdict) {
        if (isHopper && isTakenByNone(kernel.name))
          complain(problem_.what.name, ": ", verdict.reason);
        continue;
      }
      std::vector<int64_t> configs =
          kernel.configurations ? kernel.configurations(node, context_) : std::vector<int64_t>{0};
      configs.resize(std::min<size_t>(configs.size(), isPlain    ? 1
                                                      : isTimed_ ? 8
                                                      : isHopper ? 2
                                                                 : 1));
      if (isHopper && !isTimed_) addFeatures(configs);
      if (isHopper && isTimed_) addUnfetched(configs);
      for (int64_t config : configs) add(kernel, config);
    }
    if (problem_.candidates.empty() || problem_.candidates.back().kernel != kPlain)
      complain(problem_.what.name, ": has nothing to be compared with");
    return std::move(problem_);
  }

 private:
  static constexpr int kMostStages = 5;

  // Some of them by turns, so that all cases together have each with each.
  void addFeatures(std::vector<int64_t>& configs) const {
    constexpr int kOfCase = 3;
    for (int i = 0; i < kOfCase; ++i) {
      const auto& config = kFeatures[(number_ * kOfCase + i) % std::size(kFeatures)];
      if (std::ranges::count(configs, cuda::pack(config)) == 0)
        configs.push_back(cuda::pack(config));
    }
    // What has no residual refuses these.
    const int bytes = bitsOf(problem_.node().output()->dataType()) / 8;
    if (problem_.node().inputs.size() > 4 && bytes <= 2)
      for (const cuda::HopperConfig& config : kFetching)
        configs.push_back(
            cuda::pack(cuda::withResidual(cuda::withStages(config, kMostStages), bytes)));
  }

  // The same without tiles of the residual, beside those that have them.
  static void addUnfetched(std::vector<int64_t>& configs) {
    for (size_t i = configs.size(); i-- > 0;) {
      cuda::HopperConfig config = cuda::unpackHopper(configs[i]);
      if (config.residualTiles == 0) continue;
      config.residualTiles = config.residualBytes = 0;
      configs.push_back(cuda::pack(cuda::withStages(config, kMostStages)));
    }
  }

  static bool isOfHopper(std::string_view kernel) { return kernel == kHopper || kernel == kPixels; }
  // Of the two for Hopper the first takes single pixels; the second has refused as well.
  bool isTakenByNone(std::string_view kernel) const {
    return problem_.candidates.empty() && kernel == kHopper;
  }

  void add(const Kernel& kernel, int64_t config) {
    Prepared prepared = kernel.prepare(problem_.node(), context_, config);
    if (!prepared.verdict) return;
    const bool isHopper = isOfHopper(kernel.name);
    Candidate candidate{.name = isHopper ? str("hopper ", toString(cuda::unpackHopper(config)))
                                         : prepared.runtimeKernel.substr(std::strlen("cuda/")),
                        .kernel = std::string(isHopper ? kHopper : kernel.name)};
    candidate.source = isHopper && !isTimed_
                           ? str("#define CAMSHAFT_HANG_GUARD 300000000ll\n", prepared.source)
                           : prepared.source;
    prepared.source.clear();
    candidate.prepared = std::move(prepared);
    problem_.candidates.push_back(std::move(candidate));
  }

  Problem problem_;
  int number_;
  bool isTimed_;
  BuildContext context_ = contextFor(problem_.what.batches.back());
};

// Kept over children: the table.
struct Table {
  int lines;
  char line[256][200];
};
Table* table;

void checkProblem(const Problem& problem, CUmodule helpers) {
  for (int64_t batch : problem.what.batches) {
    Runner runner(problem, helpers, batch);
    double worst = 0;
    int count = 0;
    std::string wrong;
    for (const Candidate& candidate : problem.candidates) {
      if (candidate.kernel == kPlain) continue;
      const double error = runner.errorOf(candidate);
      if (candidate.kernel == kHopper) worst = std::fmax(worst, error), ++count;
      if (!(error < runner.tolerance())) wrong += str(" WRONG ", candidate.name, " ", error);
    }
    const std::string line = str(problem.what.name, " n", batch, ": ", count,
                                 " configurations, largest relative error ", worst, wrong);
    if (wrong.empty())
      say(line);
    else
      complain(line);
  }
}

// cuDNN's first plans, which want the device.
std::vector<Candidate> libraryCandidates(const Problem& problem, int64_t batch) {
  constexpr int kPlans = 3;
  const Kernel& kernel = cuda::cudnnConvKernel();
  const BuildContext context = contextFor(batch);
  std::vector<Candidate> candidates;
  if (!kernel.supports(problem.node(), context)) return candidates;
  for (int i = 0; i < kPlans; ++i) {
    Prepared prepared = kernel.prepare(problem.node(), context, i);
    if (!prepared.verdict) continue;
    if (prepared.runtimeKernel.empty()) prepared.runtimeKernel = kernel.name;
    candidates.push_back({str("cudnn ", i), std::string(kernel.name), std::move(prepared), {}});
  }
  return candidates;
}

void timeProblem(const Problem& problem, CUmodule helpers) {
  const int64_t batch = problem.what.batches.front();
  Runner runner(problem, helpers, batch);
  double best[3] = {INFINITY, INFINITY, INFINITY};
  std::string bestName, all;
  const auto time = [&](const Candidate& candidate, int column) {
    const double error = runner.errorOf(candidate);
    if (!(error < runner.tolerance() * (column == 2 ? 5 : 1)))
      complain(problem.what.name, " n", batch, ": WRONG ", candidate.name, " ", error);
    const double micros = runner.micros(candidate);
    char text[32];
    std::snprintf(text, sizeof text, "=%.2f ", micros);
    all += candidate.name.substr(candidate.name.find_first_of(" _") + 1) + text;
    if (micros >= best[column]) return;
    best[column] = micros;
    if (column == 0) bestName = candidate.name.substr(std::strlen("hopper "));
  };
  for (const Candidate& candidate : problem.candidates)
    if (candidate.kernel != kPlain) time(candidate, candidate.kernel == kHopper ? 0 : 1);
  try {
    for (const Candidate& candidate : libraryCandidates(problem, batch)) time(candidate, 2);
  } catch (const Error& error) {
    say(problem.what.name, " cuDNN: ", error.message());
  }
  say(problem.what.name, " n", batch, " ", all);
  char* line = table->line[table->lines++];
  std::snprintf(line, sizeof table->line[0], "%-26s %5d %9.2f %9.2f %9.2f %7.0f  %s",
                problem.what.name.c_str(), static_cast<int>(batch), best[0], best[1], best[2],
                2e-6 * static_cast<double>(batch) * problem.what.products / best[0],
                bestName.c_str());
}

// From the position on; false when the device is lost.
bool runFrom(const std::vector<Problem>& problems, const std::string& helpers, bool isTimed) {
  openDevice();
  cuda::currentDevice().makeCurrent();
  static OwnServices services;
  static const cuda::CudaLibrary library{kVersion, nullptr, &services, nullptr};
  cuda::replaceLibrary(&library);
  CUmodule module;
  CHECK(cuModuleLoadData(&module, gBinaries.at(helpers).code.data()));
  for (; progress->position < static_cast<int>(problems.size()); ++progress->position) {
    const Problem& problem = problems[progress->position];
    const auto failed = [&](const std::string& why) {
      complain(problem.what.name, ": ", why);
      return cuCtxSynchronize() == CUDA_SUCCESS;
    };
    try {
      if (isTimed)
        timeProblem(problem, module);
      else
        checkProblem(problem, module);
    } catch (const DeviceError& error) {
      if (!failed(error.text)) return false;
    } catch (const Error& error) {
      if (!failed(error.message())) return false;
    }
  }
  return true;
}

bool run(bool isTimed, double budget, bool isCompileOnly) {
  const char* part = std::getenv("CASES");
  std::vector<Problem> problems;
  int number = 0;
  for (const ConvCase& what : isTimed ? timeCases() : checkCases()) {
    if (!part || what.name.find(part) != std::string::npos)
      problems.push_back(Preparing(what, number, isTimed).take());
    ++number;
  }
  say(problems.size(), " problems prepared");
  const std::string helpers = helpersText();
  gBinaries[helpers] = {.name = "helpers", .source = helpers};
  for (const Problem& problem : problems)
    for (const Candidate& candidate : problem.candidates)
      gBinaries[candidate.source] = {.name = str(problem.what.name, " ", candidate.name),
                                     .source = candidate.source};
  std::vector<Binary*> binaries;
  for (auto& [source, binary] : gBinaries) binaries.push_back(&binary);
  compileInChild(binaries);
  if (isCompileOnly) return true;
  const bool isComplete = inChildren(static_cast<int>(problems.size()), budget,
                                     [&] { return runFrom(problems, helpers, isTimed); });
  if (isTimed)
    std::printf("%-26s %5s %9s %9s %9s %7s  %s\n", "layer", "batch", "hopper us", "mma us",
                "cuDNN us", "TOP/s", "configuration");
  for (int i = 0; i < table->lines; ++i) std::printf("%s\n", table->line[i]);
  return isComplete;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const double budget = argc > 2 ? std::atof(argv[2]) : 240;
  progress = static_cast<Progress*>(sharedMemory(sizeof(Progress)));
  table = static_cast<Table*>(sharedMemory(sizeof(Table)));
  secondsSinceStart();
  bool isComplete = false;
  if (mode == "check" || mode == "time") {
    isComplete = run(mode == "time", budget, false);
  } else if (mode == "compile") {
    isComplete = run(false, budget, true) && run(true, budget, true);
  } else {
    std::printf("usage: hopper_conv_check check|time [seconds], or compile\n");
    return 2;
  }
  say(progress->checks, " checks, ", progress->failures, " failures",
      isComplete ? "" : ", not complete");
  return progress->failures != 0 || !isComplete;
}
