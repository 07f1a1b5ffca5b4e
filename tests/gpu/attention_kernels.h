// The kernels of attention_check as text, and their binaries.
#pragma once

#include <nvrtc.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "attention_cases.h"
#include "backends/cuda/attention/flash_text.h"
#include "backends/cuda/codegen/kernel_text.h"

namespace attention_check {

using namespace camshaft;
using namespace camshaft::cuda;

inline int causalOffsetOf(const Case& c) { return c.alignEnd ? c.keys - c.queries : 0; }

inline AttentionText problemText(const Case& c, const Plan& plan) {
  const auto strides = [](const Operand& o) -> StridesText {
    return {str(o.batch), str(o.head), str(o.token)};
  };
  AttentionText text;
  text.batches = str(c.batches);
  text.queries = str(c.queries);
  text.keys = str(c.keys);
  text.group = str(c.group);
  text.causalOffset = str(causalOffsetOf(c));
  text.q = strides(plan.q);
  text.k = strides(plan.k);
  text.v = strides(plan.v);
  text.out = strides(plan.out);
  text.qOffset = str(plan.q.offset);
  text.kOffset = str(plan.k.offset);
  text.vOffset = str(plan.v.offset);
  text.kFeature = str(plan.kFeature);
  text.hasBias = c.bias.has_value();
  text.biasBatch = str(plan.bias.batch);
  text.biasHead = str(plan.bias.head);
  text.biasRow = str(plan.biasRow);
  text.biasDivisor = str(c.biasDivisor);
  text.biasModulo = str(c.biasBatches ? c.biasBatches : c.batches);
  return text;
}

inline std::string deviceFile(std::string_view name) { return std::string(deviceSource(name)); }

struct Launch {
  std::string name, source;
  unsigned grid[3] = {1, 1, 1}, block = 1, shared = 0, cluster = 1;
};

inline std::string entry(int block, const std::string& out, const AttentionText& problem,
                         const std::string& call) {
  return str("extern \"C\" __global__ void __launch_bounds__(", block,
             ") run(const Element* __restrict__ q, const Stored* __restrict__ k, "
             "const Stored* __restrict__ v, const BiasElement* __restrict__ bias, ",
             out, " y) {\n  waitForPrevious();\n  letNextStart();\n",
             "  extern __shared__ __align__(1024) char memory[];\n", problem.text(), call, "}\n");
}

inline Launch flashLaunch(const Case& c, const FlashTile& tile) {
  const Plan plan(c);
  FlashKernel kernel{.element = c.element,
                     .stored = c.storedType(),
                     .bias = c.bias,
                     .headSize = c.headSize,
                     .valueSize = c.valueSize,
                     .causal = c.causal,
                     .biasPairs = plan.pairsBias(c),
                     .singleTile = tile.holds(c.keys),
                     .scale = c.scaleOrDefault(),
                     .softcap = c.softcap,
                     .tile = tile};
  Launch launch;
  const char* kind = tile.overlaps         ? " wgo"
                     : tile.warpgroups     ? " wg"
                     : tile.warpRows == 32 ? " r32"
                                           : "";
  launch.name = str(tile.rows(), "x", tile.tileKeys(), " w", tile.rowWarps, "x", tile.keyWarps, "x",
                    tile.keyBlocks, kind);
  launch.grid[0] = (c.queries + tile.rows() - 1) / tile.rows() * c.batches * tile.keyBlocks;
  launch.grid[1] = c.heads;
  launch.block = tile.threads();
  launch.shared = kernel.sharedBytes();
  launch.cluster = tile.keyBlocks;
  launch.source =
      deviceFile("device/prelude.cuh") + deviceFile("device/bytes.cuh") +
      deviceFile("device/mma.cuh") + kernel.constants() + deviceFile("attention/problem.cuh") +
      deviceFile("attention/flash_tiles.cuh") + deviceFile("attention/flash_warp.cuh") +
      deviceFile("attention/flash.cuh") +
      entry(launch.block, "Element*", problemText(c, plan), "  attention::attend(p, memory);\n");
  return launch;
}

inline PlainKernel plainKernel(const Case& c) {
  return {.element = c.element,
          .stored = c.storedType(),
          .bias = c.bias,
          .headSize = c.headSize,
          .valueSize = c.valueSize,
          .causal = c.causal,
          .transposedKeys = c.transposedKeys,
          .scale = c.scaleOrDefault(),
          .softcap = c.softcap};
}

inline Launch plainLaunch(const Case& c) {
  const PlainKernel kernel = plainKernel(c);
  Launch launch;
  launch.name = "plain";
  launch.grid[0] = (c.queries + kernel.rows() - 1) / kernel.rows() * c.batches;
  launch.grid[1] = c.heads;
  launch.block = kernel.threads();
  launch.shared = kernel.sharedBytes();
  launch.source =
      deviceFile("device/prelude.cuh") + kernel.constants() + deviceFile("attention/problem.cuh") +
      deviceFile("attention/plain.cuh") +
      entry(launch.block, "Element*", problemText(c, Plan(c)), "  attention::attend(p, memory);\n");
  return launch;
}

// One block per row, everything in double, by the formula.
constexpr char kReference[] = R"(
  double* scores = reinterpret_cast<double*>(memory);
  const int row = blockIdx.x % p.queries, batch = blockIdx.x / p.queries, head = blockIdx.y;
  const Element* query =
      p.q + batch * p.qStride.batch + head * p.qStride.head + row * p.qStride.token;
  const Stored* keys = p.k + batch * p.kStride.batch + head / p.group * p.kStride.head;
  const Stored* values = p.v + batch * p.vStride.batch + head / p.group * p.vStride.head;
  for (int key = threadIdx.x; key < p.keys; key += 128) {
    double score = 0;
    for (int i = 0; i < kHeadSize; ++i)
      score += double(toCompute(query[i])) *
               double(toCompute(keys[key * p.kStride.token + i * p.kFeature]));
    score *= kScale;
    if (kSoftcap != 0) score = kSoftcap * tanh(score / kSoftcap);
    if (kHasBias) {
      const auto extra = toCompute(p.bias[batch / p.biasDivisor % p.biasModulo * p.biasBatch +
                                          head * p.biasHead + row * p.biasRow + key * p.biasKey]);
      if (!std::is_same_v<BiasElement, bool>)
        score += double(extra);
      else if (double(extra) == 0)
        score = -1.0 / 0.0;
    }
    if (kCausal && key > row + p.causalOffset) score = -1.0 / 0.0;
    scores[key] = score;
  }
  __syncthreads();
  double peak = -1.0 / 0.0, sum = 0;
  for (int key = 0; key < p.keys; ++key) peak = scores[key] > peak ? scores[key] : peak;
  __syncthreads();
  for (int key = threadIdx.x; key < p.keys; key += 128)
    scores[key] = peak == -1.0 / 0.0 ? 0 : exp(scores[key] - peak);
  __syncthreads();
  for (int key = 0; key < p.keys; ++key) sum += scores[key];
  for (int i = threadIdx.x; i < kValueSize; i += 128) {
    double total = 0;
    for (int key = 0; key < p.keys; ++key)
      total += scores[key] * double(toCompute(values[key * p.vStride.token + i]));
    y[batch * p.outStride.batch + head * p.outStride.head + row * p.outStride.token + i] =
        sum > 0 ? total / sum : 0;
  }
)";

inline Launch referenceLaunch(const Case& c) {
  Launch launch;
  launch.name = "reference";
  launch.grid[0] = c.batches * c.queries;
  launch.grid[1] = c.heads;
  launch.block = 128;
  launch.shared = 8 * c.keys;
  AttentionText problem = problemText(c, Plan(c));
  launch.source = deviceFile("device/prelude.cuh") + plainKernel(c).constants() +
                  deviceFile("attention/problem.cuh") + entry(128, "double*", problem, kReference);
  // Results go to y itself, in double.
  const std::string store = "p.out = y + 0;";
  const size_t at = launch.source.find(store);
  launch.source.replace(at, store.size(), "p.out = nullptr;");
  return launch;
}

// With ATTENTION_CUBINS in the environment, binaries are kept in that folder and taken from it: the
// time of a GPU is not spent on compiling.
inline std::string cachePath(const std::string& problem, const Launch& launch) {
  const char* folder = std::getenv("ATTENTION_CUBINS");
  std::string name = str(problem, " ", launch.name, " ", std::hash<std::string>{}(launch.source));
  std::replace(name.begin(), name.end(), ' ', '_');
  return folder ? str(folder, "/", name) : "";
}

inline std::vector<char> readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<char> compile(const Launch& launch, const std::string& arch, std::string& log) {
  nvrtcProgram program;
  nvrtcCreateProgram(&program, launch.source.c_str(), "attention.cu", 0, nullptr, nullptr);
  const std::string option = "-arch=" + arch;
  const char* options[] = {option.c_str(), "-std=c++17", "-default-device", "--ptxas-options=-v"};
  const nvrtcResult result = nvrtcCompileProgram(program, 4, options);
  size_t size = 0;
  nvrtcGetProgramLogSize(program, &size);
  log.resize(size);
  nvrtcGetProgramLog(program, log.data());
  std::vector<char> cubin;
  if (result == NVRTC_SUCCESS) {
    nvrtcGetCUBINSize(program, &size);
    cubin.resize(size);
    nvrtcGetCUBIN(program, cubin.data());
  }
  nvrtcDestroyProgram(&program);
  return cubin;
}

// "236 registers, 12 spilled" from the assembler's report.
inline std::string resources(const std::string& log) {
  int registers = 0, spilled = 0;
  if (const size_t at = log.find("Used "); at != std::string::npos)
    registers = std::atoi(log.c_str() + at + 5);
  if (const size_t at = log.find(" bytes spill stores"); at != std::string::npos)
    spilled = std::atoi(log.c_str() + log.rfind(' ', at - 1));
  return str(registers, " registers", spilled ? str(", ", spilled, " spilled") : "");
}

struct Job {
  Case problem;
  Launch launch;
  std::vector<char> cubin;
  std::string log;
};

inline void compileOrTake(Job& job, const std::string& arch) {
  const std::string path = cachePath(job.problem.name, job.launch);
  if (!path.empty()) {
    job.cubin = readFile(path + ".cubin");
    const std::vector<char> log = readFile(path + ".log");
    job.log.assign(log.begin(), log.end());
  }
  if (!job.cubin.empty()) return;
  job.cubin = compile(job.launch, arch, job.log);
  if (path.empty() || job.cubin.empty()) return;
  std::ofstream(path + ".cubin", std::ios::binary).write(job.cubin.data(), job.cubin.size());
  std::ofstream(path + ".log") << job.log;
}

inline void compileAll(std::vector<Job>& jobs, const std::string& arch) {
  std::vector<std::thread> threads;
  const size_t count = std::max(1u, std::thread::hardware_concurrency());
  for (size_t t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = t; i < jobs.size(); i += count) compileOrTake(jobs[i], arch);
    });
  for (std::thread& thread : threads) thread.join();
}

inline bool isFlash(const Case& c) {
  return (c.element == DataType::kF16 || c.element == DataType::kBF16) && c.headSize % 8 == 0 &&
         c.valueSize % 8 == 0 && c.headSize <= 256 && c.valueSize <= 256 && !c.transposedKeys;
}

// As they would be chosen for so many heads of all batches.
inline std::vector<FlashTile> tilesOf(const Case& c, int64_t heads, const std::string& arch) {
  return flashTiles({.target = {.computeCapability = std::atoi(arch.c_str() + 3)},
                     .heads = heads,
                     .queries = c.queries,
                     .keys = c.keys,
                     .mostKeys = c.keys,
                     .headSize = c.headSize,
                     .valueSize = c.valueSize,
                     .hasBias = c.bias.has_value(),
                     .readsBytes = c.stored.has_value()});
}

}  // namespace attention_check
