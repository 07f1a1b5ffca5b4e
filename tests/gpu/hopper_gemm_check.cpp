// Checks and times the Hopper matrix product (src/backends/cuda/gemm/hopper/*.cuh) by itself.
//   cmake --build --preset release --target hopper_gemm_check
//   build/bin/hopper_gemm_check check [seconds]     every feature on odd sizes, against a plain one
//   build/bin/hopper_gemm_check time [seconds]      what the build would try, beside cuBLASLt
//   build/bin/hopper_gemm_check compile             only compiles what both need
// CASES in the environment is a part of the names of those to check.
#include <cmath>
#include <memory>
#include <tuple>

#include "hopper_gemm_times.h"

namespace {

constexpr DataType kF16 = DataType::kF16, kBF16 = DataType::kBF16, kF32 = DataType::kF32,
                   kI8 = DataType::kI8, kU8 = DataType::kU8, kI32 = DataType::kI32,
                   kE4M3 = DataType::kF8E4M3, kE5M2 = DataType::kF8E5M2;
constexpr Variant kVariants[] = {
    {"f16 nt residual", kF16, kF16, kF16, false, true, true, true, 1e-3},
    {"f16 nt odd columns", kF16, kF16, kF16, false, true, false, false, 1e-3},
    {"f16 nn", kF16, kF16, kF16, false, false, true, true, 1e-3},
    {"f16 tn", kF16, kF16, kF16, true, false, true, false, 1e-3},
    {"bf16 odd columns", kBF16, kBF16, kF32, false, true, false, false, 1e-4},
    {"tf32", kF32, kF32, kF32, false, true, true, false, 2e-3},
    {"f16 nt gelu", kF16, kF16, kF16, false, true, true, false, 1e-3, true},
    {"i8 to i8", kI8, kI8, kI8, false, true, true, false, 1e-3},
    {"i8 to i8 residual", kI8, kI8, kI8, false, true, true, true, 1e-3},
    {"i8 to i8 in fours", kI8, kI8, kI8, false, true, true, false, 1e-3, false, true},
    {"u8 i8 to u8 in fours residual", kU8, kI8, kU8, false, true, true, true, 1e-3, false, true},
    {"u8 in fours, whole tiles", kU8, kI8, kU8, false, true, true, true, 1e-3, false, true, true},
    {"f16 nt whole tiles", kF16, kF16, kF16, false, true, true, false, 1e-3, false, false, true},
    {"u8 i8 exact", kU8, kI8, kI32, false, true, true, false, 1e-12},
    {"i8 u8 exact odd columns", kI8, kU8, kI32, false, true, false, false, 1e-12},
    {"u8 u8 to i8 odd columns", kU8, kU8, kI8, false, true, false, false, 1e-3},
    {"e4m3 to f16", kE4M3, kE4M3, kF16, false, true, true, false, 4e-3},
    {"e4m3 to e4m3", kE4M3, kE4M3, kE4M3, false, true, true, false, 1e-2},
    {"e5m2 e4m3 residual", kE5M2, kE4M3, kF16, false, true, true, true, 4e-3},
    {"e4m3 e5m2 odd columns", kE4M3, kE5M2, kF32, false, true, false, false, 4e-3},
    {"u8 fetched", kU8, kI8, kU8, false, true, true, true, 1e-3, false, true, false, true},
    {"i8 fetched, whole tiles", kI8, kI8, kI8, false, true, true, true, 1e-3, false, true, true,
     true},
    {"f16 fetched", kF16, kF16, kF16, false, true, true, true, 1e-3, false, false, false, true},
    {"bf16 fetched, whole tiles", kBF16, kBF16, kBF16, false, true, true, true, 6e-3, false, false,
     true, true},
};
constexpr int kVariantCount = std::size(kVariants);

// Every feature: tiles that persist, by turns, shared, split, with few and many stages.
const HopperConfig kFeatures[] = {
    {.tileM = 64, .tileN = 64, .consumers = 1, .stages = 8},
    {.tileM = 64, .tileN = 64, .consumers = 1, .stages = 3, .splitK = 4},
    {.tileM = 128, .tileN = 128, .pingPong = true, .stages = 5, .shareB = 2},
    {.tileM = 128, .tileN = 256, .stages = 4, .shareB = 2},
    {.tileM = 128, .tileN = 64, .stages = 7, .splitK = 2, .shareA = 2},
    {.tileM = 128, .tileN = 128, .pingPong = true, .stages = 5},
    {.tileM = 64, .tileN = 192, .pingPong = true, .stages = 5},
    {.tileM = 128, .tileN = 64, .stages = 7},
    // Those above for every variant, where they are valid; the others where sums are finished by
    // rows, and where they are finished by columns.
    {.tileM = 128, .tileN = 160, .pingPong = true, .stages = 5, .shareB = 2},
    {.tileM = 64, .tileN = 256, .pingPong = true, .stages = 5, .shareB = 2},
    {.tileM = 64, .tileN = 32, .consumers = 1, .stages = 8},
    {.tileM = 64, .tileN = 48, .consumers = 1, .stages = 2},
    {.tileM = 64, .tileN = 96, .consumers = 1, .stages = 4, .splitK = 2, .shareB = 2},
    {.tileM = 64, .tileN = 64, .consumers = 1, .stages = 2, .splitK = 8},
    {.tileM = 64, .tileN = 128, .consumers = 1, .stages = 2, .splitK = 6},
    {.tileM = 128, .tileN = 48, .stages = 3, .splitK = 3},
    {.tileM = 128, .tileN = 96, .stages = 6, .splitK = 4},
    {.tileM = 128, .tileN = 64, .stages = 3, .splitK = 4, .blocksPerSm = 2},
    {.tileM = 128, .tileN = 80, .stages = 8},
    {.tileM = 128, .tileN = 112, .stages = 7},
    {.tileM = 128, .tileN = 128, .stages = 2, .blocksPerSm = 2},
    {.tileM = 128, .tileN = 64, .stages = 3, .blocksPerSm = 2},
    {.tileM = 256, .tileN = 64, .pingPong = true, .stages = 5},
    {.tileM = 128, .tileN = 192, .stages = 5, .shareB = 2},
    {.tileM = 256, .tileN = 128, .stages = 4, .shareA = 2},
    {.tileM = 256, .tileN = 96, .stages = 4},
    {.tileM = 128, .tileN = 256, .stages = 4, .shareA = 2},
};
constexpr int kForEveryVariant = 5;
// Those of variants whose residual is fetched, which has its own number of bytes.
const HopperConfig kFetching[] = {
    {.tileM = 128, .tileN = 256, .residualTiles = 2},
    {.tileM = 128, .tileN = 256, .shareB = 2, .residualTiles = 2},
    {.tileM = 256, .tileN = 128, .shareA = 2, .residualTiles = 2},
    {.tileM = 128, .tileN = 192, .residualTiles = 2},
    {.tileM = 128, .tileN = 128, .residualTiles = 3},
    {.tileM = 128, .tileN = 128, .blocksPerSm = 2, .residualTiles = 2},
    {.tileM = 128, .tileN = 64, .blocksPerSm = 2, .residualTiles = 2},
    {.tileM = 128, .tileN = 96, .residualTiles = 2},
    {.tileM = 128, .tileN = 32, .residualTiles = 2},
    {.tileM = 256, .tileN = 64, .pingPong = true, .residualTiles = 3},
    {.tileM = 64, .tileN = 256, .pingPong = true, .residualTiles = 4},
    {.tileM = 64, .tileN = 192, .pingPong = true, .shareB = 2, .residualTiles = 3},
    {.tileM = 128, .tileN = 128, .pingPong = true, .shareB = 2, .residualTiles = 4},
    {.tileM = 128, .tileN = 160, .pingPong = true, .residualTiles = 3},
    {.tileM = 64, .tileN = 128, .consumers = 1, .blocksPerSm = 3, .residualTiles = 2},
    {.tileM = 64, .tileN = 64, .consumers = 1, .residualTiles = 2},
    {.tileM = 64, .tileN = 256, .consumers = 1, .residualTiles = 3},
};
// Bytes to bytes pass through shared memory in their own way, whatever the epilogue.
bool isThorough(const Variant& variant) {
  return variant.isFull || variant.isGelu || bytesOf(variant.output) == 1;
}

struct Size {
  int64_t m, n, k, batch = 1;
  bool batchB = false;
  bool isOddOnly = false;
};
// Variants of odd columns take seven fewer of those behind the first size.
constexpr Size kCheckSizes[] = {
    {.m = 512, .n = 50257, .k = 768, .isOddOnly = true},
    {128, 768, 768},
    {200, 768, 3072},
    {56, 2048, 512},
    {8, 1000, 2048},
    {136, 200, 1032},
    {64, 72, 1032, 3, true},
    {304, 520, 264, 2, true},
    {1000, 136, 72},
    {776, 776, 776, 2, false},
    {2056, 1544, 136},
    {4104, 1544, 776},
    {1, 8, 8},
    // Rows of whole vectors of bytes.
    {136, 200, 1040},
    {64, 80, 1040, 3, true},
    {304, 520, 272, 2, true},
    {1000, 136, 80},
    {2056, 1544, 144},
    {4104, 1544, 784},
    {1, 16, 16},
};

struct CheckCase {
  int variant;
  HopperConfig config;
  Binary binary;
};

// Operands of one problem with their reference result; the output is poisoned before each run.
struct Operands {
  static constexpr int kGuardBytes = 4096;
  HopperProblem problem;
  int64_t count, outBytes;
  Memory a, b, bias, residual, wanted, out, sums;

  Operands(const Variant& v, const Size& s, const Helpers& h)
      : problem{s.m,      s.n,     s.k,     s.batch,       s.batch > 1,
                s.batchB, v.typeA, v.typeB, v.transposedA, v.transposedB},
        count(s.m * s.n * s.batch),
        outBytes(count * bytesOf(v.output)),
        a(s.m * s.k * s.batch * 4),
        b(s.n * s.k * s.batch * 4),
        bias(s.n * 4 + 32),
        residual(count * 2 + 32),
        wanted(count * 4),
        out(outBytes + kGuardBytes),
        sums(32) {
    launchPlain(h.fillA, 512u, a.at, (long long)(s.m * s.k * s.batch), 1u);
    launchPlain(h.fillB, 512u, b.at, (long long)(s.n * s.k * s.batch), 2u);
    launchPlain(h.fillFloats, 16u, bias.at, (long long)s.n, 3u);
    launchPlain(h.fillResidual, 512u, residual.at, (long long)count, 4u);
    launchPlain(h.reference, static_cast<unsigned>((count + 255) / 256), a.at, b.at, bias.at,
                residual.at, wanted.at, (long long)s.m, (long long)s.n, (long long)s.k,
                (long long)s.batch, int{problem.batchA}, int{problem.batchB});
    CHECK(cuCtxSynchronize());
  }

  double errorOf(const Gemm& gemm, const Helpers& h) {
    CHECK(cuMemsetD8(out.at, 0xff, outBytes + kGuardBytes));
    CHECK(cuMemsetD8(sums.at, 0, 32));
    // Twice, the second over the first: what a kernel leaves behind must not matter.
    for (int i = 0; i < 2; ++i)
      gemm.launch(problem, a.at, b.at, out.at, bias.at, residual.at, nullptr, i == 1);
    launchPlain(h.compare, 264u, out.at, wanted.at, (long long)count, sums.at);
    // Results may take the residual's place, as they do in engines: its tiles are read before.
    if (gemm.config.residualTiles > 0) {
      CHECK(cuMemcpyDtoD(out.at, residual.at, outBytes));
      gemm.launch(problem, a.at, b.at, out.at, bias.at, out.at, nullptr, false);
      launchPlain(h.compare, 264u, out.at, wanted.at, (long long)count, sums.at);
    }
    launchPlain(h.guard, 1u, out.at + outBytes, int{kGuardBytes}, sums.at);
    double host[3];
    CHECK(cuMemcpyDtoH(host, sums.at, sizeof host));
    if (host[2] != 0) throw DeviceError{"writes beyond its output"};
    return std::sqrt(host[0] / host[1]);
  }
};

std::vector<Operands> operandsOf(const Variant& v, const Helpers& helpers) {
  std::vector<Operands> operands;
  operands.reserve(std::size(kCheckSizes));
  for (Size size : kCheckSizes) {
    if (size.isOddOnly && v.wholeColumns) continue;
    if (!v.wholeColumns && !size.isOddOnly) size.n -= 7;
    const int64_t unit = v.hasWholeTiles                            ? kWholeTile
                         : v.wholeColumns && bytesOf(v.output) == 1 ? 16
                                                                    : 1;
    size.n = (size.n + unit - 1) / unit * unit;
    operands.emplace_back(v, size, helpers);
  }
  return operands;
}

// One configuration on all sizes; returns false when the device is lost.
bool checkCase(const CheckCase& c, std::vector<Operands>& operands, const Helpers& helpers) {
  const Variant& v = kVariants[c.variant];
  std::string at = c.binary.name;
  double worst = 0;
  int sizes = 0;
  try {
    const Gemm gemm(c.config, c.binary);
    for (Operands& o : operands) {
      if (whyNot(c.config, o.problem)) continue;
      at = str(c.binary.name, " on ", o.problem.m, "x", o.problem.n, "x", o.problem.k, "x",
               o.problem.batch);
      const double error = o.errorOf(gemm, helpers);
      ++progress->checks;
      ++sizes;
      worst = std::fmax(worst, error);
      if (!(error < v.tolerance)) complain(at, ": relative error ", error);
    }
  } catch (const DeviceError& error) {
    complain(at, ": ", error.text);
    return cuCtxSynchronize() == CUDA_SUCCESS;
  }
  say(c.binary.name, ": ", sizes, " sizes, largest relative error ", worst);
  return true;
}

bool checkFrom(const std::vector<CheckCase>& cases, const std::vector<Binary>& helperBinaries) {
  openDevice();
  int current = -1;
  std::unique_ptr<Helpers> helpers;
  std::vector<Operands> operands;
  for (; progress->position < static_cast<int>(cases.size()); ++progress->position) {
    const CheckCase& c = cases[progress->position];
    if (c.variant != current) {
      current = c.variant;
      operands.clear();
      helpers = std::make_unique<Helpers>(helperBinaries[current]);
      operands = operandsOf(kVariants[current], *helpers);
    }
    if (!c.binary.code.empty() && !checkCase(c, operands, *helpers)) return false;
  }
  return true;
}

// With the stages that there is room for.
std::vector<HopperConfig> fetchingConfigs(const Variant& variant) {
  std::vector<HopperConfig> configs;
  for (HopperConfig config : kFetching) {
    config.residualBytes = static_cast<int>(bytesOf(variant.output));
    configs.push_back(withStages(config, 5));
  }
  return configs;
}

std::vector<HopperConfig> configsOf(const Variant& variant) {
  if (variant.isFetched) return fetchingConfigs(variant);
  const size_t count = isThorough(variant) ? std::size(kFeatures) : kForEveryVariant;
  return {kFeatures, kFeatures + count};
}

std::vector<CheckCase> checkCases() {
  const char* part = std::getenv("CASES");
  std::vector<CheckCase> cases;
  for (int v = 0; v < kVariantCount; ++v)
    for (const HopperConfig& config : configsOf(kVariants[v])) {
      const Variant& variant = kVariants[v];
      const bool hasTiles =
          !variant.hasWholeTiles || kWholeTile % (config.tileN * config.shareA) == 0;
      const std::string name = str(variant.name, " ", toString(config));
      if (part && name.find(part) == std::string::npos) continue;
      if (hasTiles && isValid(config, variant.transposedA, variant.transposedB))
        cases.push_back({v, config, {.name = name, .source = gemmText(config, variant, true)}});
    }
  return cases;
}

bool check(double budget, bool isCompileOnly) {
  std::vector<CheckCase> cases = checkCases();
  std::vector<Binary> helpers(kVariantCount);
  std::vector<Binary*> binaries;
  for (int v = 0; v < kVariantCount; ++v) {
    helpers[v] = {.name = "helpers", .source = helperText(kVariants[v])};
    binaries.push_back(&helpers[v]);
  }
  for (CheckCase& c : cases) binaries.push_back(&c.binary);
  compileInChild(binaries);
  return isCompileOnly || inChildren(static_cast<int>(cases.size()), budget,
                                     [&] { return checkFrom(cases, helpers); });
}

bool time(double budget, bool isCompileOnly) {
  times = static_cast<Times*>(sharedMemory(sizeof(Times)));
  std::vector<std::unique_ptr<Binary>> kept;
  std::vector<std::tuple<HopperConfig, TimedEpilogue, DataType, Binary*>> known;
  std::vector<TimeCase> cases;
  for (int i = 0; i < kTimeCount; ++i) {
    const TimeSize& s = kTimeSizes[i];
    for (const HopperConfig& config :
         promisingConfigs(problemOf(s), kMultiprocessors, kMostTimed)) {
      auto at = std::find_if(known.begin(), known.end(), [&](const auto& entry) {
        return std::get<0>(entry) == config && std::get<1>(entry) == s.epilogue &&
               std::get<2>(entry) == s.type;
      });
      if (at == known.end()) {
        kept.push_back(std::make_unique<Binary>(
            Binary{.name = toString(config), .source = gemmText(config, variantOf(s), false)}));
        at = known.emplace(known.end(), config, s.epilogue, s.type, kept.back().get());
      }
      cases.push_back({i, std::get<3>(*at), config});
    }
  }
  std::vector<Binary> helpers;
  for (DataType type : kTimedTypes)
    helpers.push_back({.name = "helpers", .source = helperText(variantOf({.type = type}))});
  std::vector<Binary*> binaries;
  for (Binary& helper : helpers) binaries.push_back(&helper);
  for (const auto& binary : kept) binaries.push_back(binary.get());
  compileInChild(binaries);
  if (isCompileOnly) return true;
  const bool isComplete =
      inChildren(static_cast<int>(cases.size()), budget, [&] { return timeFrom(cases, helpers); });
  printTimes();
  return isComplete;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const double budget = argc > 2 ? std::atof(argv[2]) : 60;
  progress = static_cast<Progress*>(sharedMemory(sizeof(Progress)));
  secondsSinceStart();
  bool isComplete = false;
  if (mode == "check") {
    isComplete = check(budget, false);
  } else if (mode == "time") {
    isComplete = time(budget, false);
  } else if (mode == "compile") {
    isComplete = check(budget, true) && time(budget, true);
  } else {
    std::printf("usage: hopper_gemm_check check|time [seconds], or compile\n");
    return 2;
  }
  say(progress->checks, " checks, ", progress->failures, " failures",
      isComplete ? "" : ", not complete");
  return progress->failures != 0 || !isComplete;
}
