// Checks the attention kernels on a GPU against a plain one in double, then times them.
//
//   g++ -std=c++20 -O2 -Isrc -I/usr/local/cuda/include tests/gpu/attention_check.cpp
//       src/backends/cuda/attention/flash_text.cpp src/support/{text,data_type}.cpp
//       -o attention_check -L/usr/local/cuda/lib64{,/stubs} -lcuda -lnvrtc -lpthread
//   ./attention_check [check|time|compile [sm_80]]        in the root of the repository
#include <cuda.h>
#include <nvrtc.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "backends/cuda/attention/flash_text.h"
#include "support/text.h"

namespace {

using namespace camshaft;
using namespace camshaft::cuda;

enum class Layout { kHeads, kTokens, kPacked };  // [B, H, S, D], [B, S, H, D], one [B, S, 3 H D]

struct Case {
  std::string name;
  int batches = 1, heads = 1, group = 1, queries = 1, keys = 1, headSize = 64, valueSize = 64;
  DataType element = DataType::kF16;
  Layout layout = Layout::kHeads;
  bool causal = false, alignEnd = false, transposedKeys = false;
  double softcap = 0, scale = 0;  // 0: 1 / sqrt(head size)
  std::optional<DataType> bias;
  int biasBatches = 0, biasDivisor = 1;  // 0: as many as there are
  bool biasPerHead = true, biasPerRow = true;
  int biasPadding = 0;     // elements added to its rows
  bool hidesRows = false;  // the bias hides every key from some rows

  double scaleOrDefault() const { return scale != 0 ? scale : 1 / std::sqrt(double(headSize)); }
  int keyHeads() const { return heads / group; }
  double flops() const {
    const double pairs =
        causal && queries == keys ? keys * (keys + 1) / 2.0 : double(queries) * keys;
    return 2.0 * batches * heads * pairs * (headSize + valueSize);
  }
};

// Strides and sizes of a case, as numbers; the text of the kernels comes from them.
struct Operand {
  int64_t batch, head, token, offset = 0, count;
};

struct Plan {
  Operand q, k, v, out, bias;
  int64_t kFeature = 1, biasRow = 0;

  explicit Plan(const Case& c) {
    const auto place = [&](int heads, int tokens, int size) -> Operand {
      const int64_t count = int64_t(c.batches) * heads * tokens * size;
      if (c.layout == Layout::kHeads)
        return {int64_t(heads) * tokens * size, int64_t(tokens) * size, size, 0, count};
      return {int64_t(heads) * tokens * size, size, int64_t(heads) * size, 0, count};
    };
    q = place(c.heads, c.queries, c.headSize);
    k = place(c.keyHeads(), c.keys, c.headSize);
    v = place(c.keyHeads(), c.keys, c.valueSize);
    out = place(c.heads, c.queries, c.valueSize);
    if (c.layout == Layout::kPacked) {
      const int64_t token =
          int64_t(c.headSize) * (c.heads + c.keyHeads()) + int64_t(c.valueSize) * c.keyHeads();
      const int64_t batch = token * c.queries, count = batch * c.batches;
      q = {batch, c.headSize, token, 0, count};
      k = {batch, c.headSize, token, int64_t(c.headSize) * c.heads, count};
      v = {batch, c.valueSize, token, int64_t(c.headSize) * (c.heads + c.keyHeads()), count};
    }
    if (c.transposedKeys) {
      k = {int64_t(c.keyHeads()) * c.keys * c.headSize, int64_t(c.keys) * c.headSize, 1, 0,
           k.count};
      kFeature = c.keys;
    }
    const int64_t row = c.keys + c.biasPadding;
    biasRow = c.biasPerRow ? row : 0;
    const int64_t perHead = c.biasPerRow ? row * c.queries : row;
    const int64_t perBatch = c.biasPerHead ? perHead * c.heads : perHead;
    const int batches = c.biasBatches ? c.biasBatches : c.batches;
    bias = {batches > 1 ? perBatch : 0, c.biasPerHead ? perHead : 0, 0, 0, perBatch * batches};
  }
  bool pairsBias(const Case& c) const {
    return c.bias && c.keys % 2 + c.biasPadding > 0 ? (c.keys + c.biasPadding) % 2 == 0
                                                    : c.keys % 2 == 0;
  }
};

int causalOffsetOf(const Case& c) { return c.alignEnd ? c.keys - c.queries : 0; }

AttentionText problemText(const Case& c, const Plan& plan) {
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

std::string deviceFile(const std::string& name) {
  std::ifstream file("src/backends/cuda/device/" + name);
  if (!file) throw std::runtime_error("no src/backends/cuda/device/" + name + " here");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Launch {
  std::string name, source;
  unsigned grid[3] = {1, 1, 1}, block = 1, shared = 0, cluster = 1;
};

std::string entry(int block, const std::string& out, const AttentionText& problem,
                  const std::string& call) {
  return str("extern \"C\" __global__ void __launch_bounds__(", block,
             ") run(const Element* __restrict__ q, const Element* __restrict__ k, "
             "const Element* __restrict__ v, const BiasElement* __restrict__ bias, ",
             out, " y) {\n  waitForPrevious();\n  letNextStart();\n",
             "  extern __shared__ __align__(1024) char memory[];\n", problem.text(), call, "}\n");
}

Launch flashLaunch(const Case& c, const FlashTile& tile) {
  const Plan plan(c);
  FlashKernel kernel{.element = c.element,
                     .bias = c.bias,
                     .headSize = c.headSize,
                     .valueSize = c.valueSize,
                     .causal = c.causal,
                     .biasPairs = plan.pairsBias(c),
                     .singleTile = c.keys <= tile.tileKeys() * tile.keyBlocks,
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
      deviceFile("prelude.cuh") + deviceFile("attention_primitives.cuh") + kernel.constants() +
      deviceFile("attention_problem.cuh") + deviceFile("attention_mma.cuh") +
      entry(launch.block, "Element*", problemText(c, plan), "  attention::attend(p, memory);\n");
  return launch;
}

PlainKernel plainKernel(const Case& c) {
  return {.element = c.element,
          .bias = c.bias,
          .headSize = c.headSize,
          .valueSize = c.valueSize,
          .causal = c.causal,
          .transposedKeys = c.transposedKeys,
          .scale = c.scaleOrDefault(),
          .softcap = c.softcap};
}

Launch plainLaunch(const Case& c) {
  const PlainKernel kernel = plainKernel(c);
  Launch launch;
  launch.name = "plain";
  launch.grid[0] = (c.queries + kernel.rows() - 1) / kernel.rows() * c.batches;
  launch.grid[1] = c.heads;
  launch.block = kernel.threads();
  launch.shared = kernel.sharedBytes();
  launch.source =
      deviceFile("prelude.cuh") + kernel.constants() + deviceFile("attention_problem.cuh") +
      deviceFile("attention_plain.cuh") +
      entry(launch.block, "Element*", problemText(c, Plan(c)), "  attention::attend(p, memory);\n");
  return launch;
}

// One block per row, everything in double, by the formula.
constexpr char kReference[] = R"(
  double* scores = reinterpret_cast<double*>(memory);
  const int row = blockIdx.x % p.queries, batch = blockIdx.x / p.queries, head = blockIdx.y;
  const Element* query = p.q + batch * p.qStride.batch + head * p.qStride.head + row * p.qStride.token;
  const Element* keys = p.k + batch * p.kStride.batch + head / p.group * p.kStride.head;
  const Element* values = p.v + batch * p.vStride.batch + head / p.group * p.vStride.head;
  for (int key = threadIdx.x; key < p.keys; key += 128) {
    double score = 0;
    for (int i = 0; i < kHeadSize; ++i)
      score += double(toCompute(query[i])) * double(toCompute(keys[key * p.kStride.token + i * p.kFeature]));
    score *= kScale;
    if (kSoftcap != 0) score = kSoftcap * tanh(score / kSoftcap);
    if (kHasBias) {
      const auto extra = toCompute(p.bias[batch / p.biasDivisor % p.biasModulo * p.biasBatch +
                                          head * p.biasHead + row * p.biasRow + key * p.biasKey]);
      score = std::is_same_v<BiasElement, bool> ? (double(extra) != 0 ? score : -1.0 / 0.0) : score + double(extra);
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

Launch referenceLaunch(const Case& c) {
  Launch launch;
  launch.name = "reference";
  launch.grid[0] = c.batches * c.queries;
  launch.grid[1] = c.heads;
  launch.block = 128;
  launch.shared = 8 * c.keys;
  AttentionText problem = problemText(c, Plan(c));
  launch.source = deviceFile("prelude.cuh") + plainKernel(c).constants() +
                  deviceFile("attention_problem.cuh") + entry(128, "double*", problem, kReference);
  // Results go to y itself, in double.
  const std::string store = "p.out = y + 0;";
  const size_t at = launch.source.find(store);
  launch.source.replace(at, store.size(), "p.out = nullptr;");
  return launch;
}

// With ATTENTION_CUBINS in the environment, binaries are kept in that folder and taken from it: the
// time of a GPU is not spent on compiling. Empty it when device code has changed.
std::string cachePath(const std::string& problem, const Launch& launch) {
  const char* folder = std::getenv("ATTENTION_CUBINS");
  std::string name = str(problem, " ", launch.name);
  std::replace(name.begin(), name.end(), ' ', '_');
  return folder ? str(folder, "/", name) : "";
}

std::vector<char> readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<char> compile(const Launch& launch, const std::string& arch, std::string& log) {
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
std::string resources(const std::string& log) {
  int registers = 0, spilled = 0;
  if (const size_t at = log.find("Used "); at != std::string::npos)
    registers = std::atoi(log.c_str() + at + 5);
  if (const size_t at = log.find(" bytes spill stores"); at != std::string::npos)
    spilled = std::atoi(log.c_str() + log.rfind(' ', at - 1));
  return str(registers, " registers", spilled ? str(", ", spilled, " spilled") : "");
}

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  throw std::runtime_error(str(what, ": ", text ? text : "unknown error"));
}
#define CHECK(call) check(call, #call)

struct Memory {
  CUdeviceptr address = 0;
  size_t bytes;
  explicit Memory(size_t bytes) : bytes(std::max<size_t>(bytes, 16)) {
    CHECK(cuMemAlloc(&address, this->bytes));
  }
  Memory(const Memory&) = delete;
  ~Memory() { cuMemFree(address); }
};

// Random elements of any type as bytes.
std::vector<char> randomBytes(DataType type, int64_t count, std::mt19937& generator) {
  std::normal_distribution<float> normal;
  std::vector<char> bytes(bytesOf(type, count));
  for (int64_t i = 0; i < count; ++i) {
    const float value = normal(generator);
    const auto put = [&](auto element) {
      std::memcpy(bytes.data() + i * sizeof(element), &element, sizeof(element));
    };
    switch (type) {
      case DataType::kF16:
        put(static_cast<_Float16>(value));
        break;
      case DataType::kBF16: {
        uint32_t bits;
        std::memcpy(&bits, &value, 4);
        put(static_cast<uint16_t>(bits >> 16));
        break;
      }
      case DataType::kF64:
        put(static_cast<double>(value));
        break;
      case DataType::kBool:
        put(value > -0.5f);
        break;
      default:
        put(value);
    }
  }
  return bytes;
}

double toDouble(DataType type, const char* bytes, int64_t i) {
  switch (type) {
    case DataType::kF16:
      return static_cast<float>(reinterpret_cast<const _Float16*>(bytes)[i]);
    case DataType::kBF16: {
      const uint32_t bits = uint32_t(reinterpret_cast<const uint16_t*>(bytes)[i]) << 16;
      float value;
      std::memcpy(&value, &bits, 4);
      return value;
    }
    case DataType::kF64:
      return reinterpret_cast<const double*>(bytes)[i];
    default:
      return reinterpret_cast<const float*>(bytes)[i];
  }
}

// Operands of a case on the device; packed ones share one tensor.
struct Operands {
  Plan plan;
  std::vector<std::unique_ptr<Memory>> owned;
  CUdeviceptr q, k, v, bias, out;
  size_t outBytes;

  Operands(const Case& c, unsigned seed) : plan(c) {
    std::mt19937 generator(seed);
    q = upload(randomBytes(c.element, plan.q.count, generator));
    const bool isPacked = c.layout == Layout::kPacked;
    k = isPacked ? q : upload(randomBytes(c.element, plan.k.count, generator));
    v = isPacked ? q : upload(randomBytes(c.element, plan.v.count, generator));
    std::vector<char> biases =
        randomBytes(c.bias.value_or(DataType::kF32), c.bias ? plan.bias.count : 4, generator);
    if (c.hidesRows) hideRows(c, biases);
    bias = upload(biases);
    outBytes = bytesOf(c.element, plan.out.count);
    owned.push_back(std::make_unique<Memory>(outBytes));
    out = owned.back()->address;
  }

 private:
  CUdeviceptr upload(const std::vector<char>& bytes) {
    owned.push_back(std::make_unique<Memory>(bytes.size()));
    CHECK(cuMemcpyHtoD(owned.back()->address, bytes.data(), bytes.size()));
    return owned.back()->address;
  }
  // Every third row: all minus infinity, or false.
  void hideRows(const Case& c, std::vector<char>& biases) {
    const int64_t row = c.keys + c.biasPadding, bytes = bytesOf(*c.bias, 1);
    for (int64_t r = 0; r < plan.bias.count / row; r += 3)
      for (int64_t i = 0; i < row; ++i) {
        char* at = biases.data() + (r * row + i) * bytes;
        std::memset(at, 0, bytes);
        if (*c.bias == DataType::kF16) at[1] = '\xfc';
        if (*c.bias == DataType::kBF16) at[0] = '\x80', at[1] = '\xff';
        if (*c.bias == DataType::kF32) at[2] = '\x80', at[3] = '\xff';
      }
  }
};

struct Loaded {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  Launch launch;

  Loaded(const Launch& launch, const std::vector<char>& cubin) : launch(launch) {
    CHECK(cuModuleLoadData(&module, cubin.data()));
    CHECK(cuModuleGetFunction(&function, module, "run"));
    CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                             launch.shared));
  }
  Loaded(const Loaded&) = delete;
  ~Loaded() { cuModuleUnload(module); }

  void run(const Operands& operands, CUdeviceptr out, CUstream stream, bool overlaps) const {
    CUdeviceptr addresses[] = {operands.q, operands.k, operands.v, operands.bias, out};
    void* arguments[] = {&addresses[0], &addresses[1], &addresses[2], &addresses[3], &addresses[4]};
    CUlaunchAttribute attributes[2] = {};
    unsigned count = 0;
    if (launch.cluster > 1) {
      attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attributes[count].value.clusterDim = {launch.cluster, 1, 1};
      ++count;
    }
    if (overlaps) {
      attributes[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      attributes[count].value.programmaticStreamSerializationAllowed = 1;
      ++count;
    }
    CUlaunchConfig config{};
    config.gridDimX = launch.grid[0];
    config.gridDimY = launch.grid[1];
    config.gridDimZ = launch.grid[2];
    config.blockDimX = launch.block;
    config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = launch.shared;
    config.hStream = stream;
    config.attrs = attributes;
    config.numAttrs = count;
    CHECK(cuLaunchKernelEx(&config, function, arguments, nullptr));
  }
};

struct Job {
  Case problem;
  Launch launch;
  std::vector<char> cubin;
  std::string log;
};

void compileOrTake(Job& job, const std::string& arch) {
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

void compileAll(std::vector<Job>& jobs, const std::string& arch) {
  std::vector<std::thread> threads;
  const size_t count = std::max(1u, std::thread::hardware_concurrency());
  for (size_t t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = t; i < jobs.size(); i += count) compileOrTake(jobs[i], arch);
    });
  for (std::thread& thread : threads) thread.join();
}

bool isFlash(const Case& c) {
  return (c.element == DataType::kF16 || c.element == DataType::kBF16) && c.headSize % 8 == 0 &&
         c.valueSize % 8 == 0 && c.headSize <= 256 && c.valueSize <= 256 && !c.transposedKeys;
}

std::vector<FlashTile> tilesOf(const Case& c, const std::string& arch) {
  return flashTiles({.sm = std::atoi(arch.c_str() + 3),
                     .queries = c.queries,
                     .keys = c.keys,
                     .headSize = c.headSize,
                     .valueSize = c.valueSize,
                     .hasBias = c.bias.has_value()});
}

std::vector<Case> checkedCases() {
  using enum DataType;
  std::vector<Case> cases;
  const auto add = [&](Case c) { cases.push_back(std::move(c)); };
  add({.name = "bert", .batches = 2, .heads = 3, .queries = 128, .keys = 128});
  add({.name = "tails", .batches = 2, .heads = 3, .queries = 197, .keys = 197});
  add({.name = "packed",
       .batches = 2,
       .heads = 3,
       .queries = 197,
       .keys = 197,
       .layout = Layout::kPacked});
  add({.name = "tokens",
       .batches = 2,
       .heads = 4,
       .group = 2,
       .queries = 70,
       .keys = 150,
       .headSize = 40,
       .valueSize = 24,
       .layout = Layout::kTokens});
  add({.name = "causal", .batches = 2, .heads = 2, .queries = 300, .keys = 300, .causal = true});
  add({.name = "causal end",
       .batches = 1,
       .heads = 2,
       .queries = 100,
       .keys = 333,
       .causal = true,
       .alignEnd = true});
  add({.name = "causal none",
       .batches = 1,
       .heads = 2,
       .queries = 333,
       .keys = 100,
       .causal = true,
       .alignEnd = true});
  add({.name = "window",
       .batches = 8,
       .heads = 3,
       .queries = 49,
       .keys = 49,
       .headSize = 32,
       .valueSize = 32,
       .bias = kF16,
       .biasBatches = 4});
  add({.name = "window 64",
       .batches = 8,
       .heads = 3,
       .queries = 49,
       .keys = 49,
       .headSize = 32,
       .valueSize = 32,
       .bias = kF16,
       .biasBatches = 2,
       .biasDivisor = 2,
       .biasPadding = 15});
  add({.name = "key mask",
       .batches = 3,
       .heads = 2,
       .queries = 130,
       .keys = 130,
       .bias = kBool,
       .biasPerHead = false,
       .biasPerRow = false});
  add({.name = "hidden f32",
       .batches = 2,
       .heads = 2,
       .queries = 90,
       .keys = 201,
       .bias = kF32,
       .hidesRows = true});
  add({.name = "hidden bool",
       .batches = 2,
       .heads = 2,
       .queries = 90,
       .keys = 201,
       .bias = kBool,
       .hidesRows = true});
  add({.name = "softcap",
       .batches = 1,
       .heads = 4,
       .group = 4,
       .queries = 77,
       .keys = 260,
       .headSize = 128,
       .valueSize = 128,
       .causal = true,
       .alignEnd = true,
       .softcap = 20,
       .scale = 0.3});
  add({.name = "bf16",
       .batches = 2,
       .heads = 2,
       .queries = 145,
       .keys = 257,
       .headSize = 80,
       .valueSize = 96,
       .element = kBF16,
       .scale = -0.1,
       .bias = kBF16});
  add({.name = "256",
       .batches = 1,
       .heads = 2,
       .queries = 140,
       .keys = 190,
       .headSize = 256,
       .valueSize = 256,
       .causal = true,
       .alignEnd = true});
  add({.name = "decode", .batches = 2, .heads = 4, .group = 2, .queries = 1, .keys = 2000});
  add({.name = "one key", .batches = 2, .heads = 2, .queries = 5, .keys = 1});
  add({.name = "f32",
       .batches = 2,
       .heads = 2,
       .queries = 75,
       .keys = 140,
       .headSize = 37,
       .valueSize = 50,
       .element = kF32,
       .causal = true,
       .softcap = 8,
       .bias = kF32,
       .hidesRows = true});
  add({.name = "f64",
       .batches = 1,
       .heads = 2,
       .queries = 33,
       .keys = 65,
       .headSize = 20,
       .valueSize = 33,
       .element = kF64});
  add({.name = "keys turned",
       .batches = 2,
       .heads = 2,
       .queries = 75,
       .keys = 140,
       .transposedKeys = true});
  add({.name = "huge head",
       .batches = 1,
       .heads = 2,
       .queries = 20,
       .keys = 50,
       .headSize = 700,
       .valueSize = 600,
       .element = kF32});
  return cases;
}

double toleranceOf(DataType type) {
  return type == DataType::kBF16 ? 8e-3 : type == DataType::kF16 ? 1e-3 : 1e-5;
}

// ||out - expected|| / ||expected||, NaN when an element was not written.
double relativeError(const Case& c, const Plan& plan, const std::vector<char>& out,
                     const std::vector<double>& expected) {
  double error = 0, norm = 0;
  for (int64_t i = 0; i < plan.out.count; ++i) {
    error += std::pow(toDouble(c.element, out.data(), i) - expected[i], 2);
    norm += expected[i] * expected[i];
  }
  return std::sqrt(error / norm);
}

std::vector<Job> checkedJobs(const std::string& arch) {
  std::vector<Job> jobs;
  for (const Case& c : checkedCases()) {
    jobs.push_back({c, referenceLaunch(c)});
    jobs.push_back({c, plainLaunch(c)});
    if (isFlash(c))
      for (const FlashTile& tile : tilesOf(c, arch))
        if (flashLaunch(c, tile).shared <= 227 << 10) jobs.push_back({c, flashLaunch(c, tile)});
  }
  return jobs;
}

int runChecks(const std::string& arch) {
  std::vector<Job> jobs = checkedJobs(arch);
  compileAll(jobs, arch);
  int failures = 0, count = 0;
  std::unique_ptr<Operands> operands;
  std::vector<double> expected;
  double worst = 0;
  for (const Job& job : jobs) {
    const Case& c = job.problem;
    try {
      if (job.cubin.empty()) throw std::runtime_error(job.log);
      const Loaded kernel(job.launch, job.cubin);
      if (job.launch.name == "reference") {
        operands = std::make_unique<Operands>(c, 1 + static_cast<unsigned>(&job - jobs.data()));
        Memory out(operands->plan.out.count * 8);
        kernel.run(*operands, out.address, nullptr, false);
        expected.resize(operands->plan.out.count);
        CHECK(cuMemcpyDtoH(expected.data(), out.address, expected.size() * 8));
        continue;
      }
      ++count;
      CHECK(cuMemsetD8(operands->out, 0xff, operands->outBytes));
      kernel.run(*operands, operands->out, nullptr, false);
      std::vector<char> out(operands->outBytes);
      CHECK(cuMemcpyDtoH(out.data(), operands->out, out.size()));
      const double error = relativeError(c, operands->plan, out, expected);
      if (error < toleranceOf(c.element)) {
        worst = std::max(worst, error / toleranceOf(c.element));
        continue;
      }
      std::printf("WRONG  %-12s %-18s error %.2e\n", c.name.c_str(), job.launch.name.c_str(),
                  error);
    } catch (const std::exception& e) {
      std::printf("FAILED %-12s %-18s %s\n", c.name.c_str(), job.launch.name.c_str(), e.what());
    }
    ++failures;
  }
  std::printf("%d checks, %d failures, worst error %.2f of what is allowed\n", count, failures,
              worst);
  std::fflush(stdout);
  return failures;
}

std::vector<Case> timedCases() {
  std::vector<Case> cases;
  const auto add = [&](std::string name, Case c) {
    for (int batch : {1, 32}) {
      Case timed = c;
      timed.name = str(name, " b", batch);
      timed.batches = c.batches * batch;
      cases.push_back(timed);
    }
  };
  const Layout packed = Layout::kPacked;
  add("bert 128", {.heads = 12, .queries = 128, .keys = 128, .layout = packed});
  add("bert 384", {.heads = 12, .queries = 384, .keys = 384, .layout = packed});
  add("vit 197", {.heads = 12, .queries = 197, .keys = 197, .layout = packed});
  add("gpt2 512", {.heads = 12, .queries = 512, .keys = 512, .layout = packed, .causal = true});
  for (int stage = 0; stage < 4; ++stage)
    add(str("swin ", stage + 1), {.batches = 64 >> (2 * stage),
                                  .heads = 3 << stage,
                                  .queries = 49,
                                  .keys = 49,
                                  .headSize = 32,
                                  .valueSize = 32,
                                  .layout = packed,
                                  .bias = DataType::kF16,
                                  .biasBatches = 64 >> (2 * stage),
                                  .biasPadding = 15});
  cases.push_back({.name = "decode 4096",
                   .heads = 32,
                   .group = 4,
                   .queries = 1,
                   .keys = 4096,
                   .headSize = 128,
                   .valueSize = 128});
  cases.push_back({.name = "long 4096 d128",
                   .batches = 2,
                   .heads = 16,
                   .queries = 4096,
                   .keys = 4096,
                   .headSize = 128,
                   .valueSize = 128});
  return cases;
}

// Microseconds of one launch, from replays of a graph of many.
double microseconds(const Loaded& kernel, const Operands& operands, CUstream stream) {
  constexpr int kLaunches = 24, kReplays = 9;
  CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  for (int i = 0; i < kLaunches; ++i) kernel.run(operands, operands.out, stream, i > 0);
  CUgraph graph;
  CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec replayed;
  CHECK(cuGraphInstantiate(&replayed, graph, 0));
  CUevent begin, end;
  CHECK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  std::vector<float> times;
  for (int i = 0; i < kReplays + 2; ++i) {
    CHECK(cuEventRecord(begin, stream));
    CHECK(cuGraphLaunch(replayed, stream));
    CHECK(cuEventRecord(end, stream));
    CHECK(cuEventSynchronize(end));
    float milliseconds;
    CHECK(cuEventElapsedTime(&milliseconds, begin, end));
    if (i >= 2) times.push_back(milliseconds);
  }
  std::sort(times.begin(), times.end());
  cuEventDestroy(begin);
  cuEventDestroy(end);
  cuGraphExecDestroy(replayed);
  cuGraphDestroy(graph);
  return times[kReplays / 2] * 1000 / kLaunches;
}

std::vector<Job> timedJobs(const std::string& arch) {
  std::vector<Job> jobs;
  for (const Case& c : timedCases())
    for (const FlashTile& tile : tilesOf(c, arch))
      if (flashLaunch(c, tile).shared <= 227 << 10) jobs.push_back({c, flashLaunch(c, tile)});
  return jobs;
}

void runTimings(const std::string& arch) {
  std::vector<Job> jobs = timedJobs(arch);
  compileAll(jobs, arch);
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  std::map<std::string, std::vector<std::pair<double, const Job*>>> times;
  std::vector<std::string> order;
  std::unique_ptr<Operands> operands;
  for (const Job& job : jobs) {
    const std::string& name = job.problem.name;
    if (order.empty() || order.back() != name) {
      order.push_back(name);
      operands.reset();
      operands = std::make_unique<Operands>(job.problem, 7);
    }
    try {
      if (job.cubin.empty()) throw std::runtime_error(job.log);
      const Loaded kernel(job.launch, job.cubin);
      times[name].push_back({microseconds(kernel, *operands, stream), &job});
    } catch (const std::exception& e) {
      std::printf("FAILED %s %s: %s\n", name.c_str(), job.launch.name.c_str(), e.what());
    }
  }
  std::printf("\nus per launch (rows x keys, warps rows x keys x blocks), best first\n");
  for (const std::string& name : order) {
    auto& list = times[name];
    std::sort(list.begin(), list.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    if (list.empty()) continue;
    std::printf("%-15s %7.2f us %5.0f TFLOP/s |", name.c_str(), list[0].first,
                list[0].second->problem.flops() / list[0].first * 1e-6);
    for (size_t i = 0; i < std::min<size_t>(list.size(), 5); ++i)
      std::printf(" %s%s %.2f (%s)", i ? "; " : "", list[i].second->launch.name.c_str(),
                  list[i].first, resources(list[i].second->log).c_str());
    std::printf("\n");
  }
  cuStreamDestroy(stream);
}

// What needs no GPU: every kernel through the compiler, with what it takes.
int runCompiler(const std::string& arch) {
  std::vector<Job> jobs = checkedJobs(arch);
  for (Job& job : timedJobs(arch)) jobs.push_back(std::move(job));
  compileAll(jobs, arch);
  int failures = 0;
  for (const Job& job : jobs) {
    failures += job.cubin.empty();
    std::printf("%-15s %-18s %s\n", job.problem.name.c_str(), job.launch.name.c_str(),
                job.cubin.empty() ? job.log.c_str() : resources(job.log).c_str());
  }
  return failures;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string mode = count > 1 ? arguments[1] : "all";
  try {
    if (mode == "compile") return runCompiler(count > 2 ? arguments[2] : "sm_90a") != 0;
    CHECK(cuInit(0));
    CUdevice device;
    CUcontext context;
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    int major = 0, minor = 0;
    CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    const std::string arch = str("sm_", major, minor, major >= 9 ? "a" : "");
    const int failures = mode == "time" ? 0 : runChecks(arch);
    if (mode != "check") runTimings(arch);
    return failures != 0;
  } catch (const std::exception& e) {
    std::printf("FAILED: %s\n", e.what());
    return 1;
  }
}
