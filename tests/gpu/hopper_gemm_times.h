// Times of the Hopper matrix product, the configurations that would be tried, beside cuBLASLt.
#pragma once

#include <cmath>
#include <map>
#include <memory>

#include "backends/cuda/gemm/hopper/choice.h"
#include "hopper_gemm_library.h"

enum class TimedEpilogue { kBias, kGelu, kOddFloats };  // the last: f32 rows that begin anywhere

struct TimeSize {
  int64_t m = 0, n = 0, k = 0;
  TimedEpilogue epilogue = TimedEpilogue::kBias;
  DataType type = DataType::kF16;
};
inline constexpr DataType kTimedTypes[] = {DataType::kF16, DataType::kI8, DataType::kF8E4M3};
// Transformers of one item, of 32, and what is left of small images. The largest stand last: after
// them the GPU's clock is lower for a while.
inline constexpr TimeSize kTimeSizes[] = {
    {128, 2304, 768},
    {128, 768, 768},
    {128, 3072, 768},
    {128, 768, 3072},
    {384, 2304, 768},
    {384, 768, 768},
    {384, 3072, 768},
    {384, 768, 3072},
    {197, 2304, 768},
    {197, 768, 768},
    {197, 3072, 768},
    {197, 768, 3072},
    {512, 768, 768},
    {512, 768, 3072},
    {512, 50264, 768},
    {4096, 2304, 768},
    {4096, 768, 768},
    {4096, 3072, 768},
    {4096, 768, 3072},
    {6304, 2304, 768},
    {6304, 768, 768},
    {6304, 3072, 768},
    {6304, 768, 3072},
    {12288, 768, 768},
    {12288, 3072, 768},
    {12288, 768, 3072},
    {49, 2304, 768},
    {196, 384, 1536},
    {784, 192, 768},
    {3136, 384, 96},
    {4096, 3072, 768, TimedEpilogue::kGelu},
    {12288, 3072, 768, TimedEpilogue::kGelu},
    {512, 50257, 768, TimedEpilogue::kOddFloats},
    {128, 2304, 768, TimedEpilogue::kBias, DataType::kI8},
    {128, 768, 768, TimedEpilogue::kBias, DataType::kI8},
    {128, 3072, 768, TimedEpilogue::kBias, DataType::kI8},
    {128, 768, 3072, TimedEpilogue::kBias, DataType::kI8},
    {4096, 2304, 768, TimedEpilogue::kBias, DataType::kI8},
    {4096, 768, 768, TimedEpilogue::kBias, DataType::kI8},
    {4096, 3072, 768, TimedEpilogue::kBias, DataType::kI8},
    {4096, 768, 3072, TimedEpilogue::kBias, DataType::kI8},
    {12288, 2304, 768, TimedEpilogue::kBias, DataType::kI8},
    {12288, 768, 768, TimedEpilogue::kBias, DataType::kI8},
    {12288, 3072, 768, TimedEpilogue::kBias, DataType::kI8},
    {12288, 768, 3072, TimedEpilogue::kBias, DataType::kI8},
    {128, 2304, 768, TimedEpilogue::kBias, DataType::kF8E4M3},
    {128, 768, 768, TimedEpilogue::kBias, DataType::kF8E4M3},
    {128, 3072, 768, TimedEpilogue::kBias, DataType::kF8E4M3},
    {128, 768, 3072, TimedEpilogue::kBias, DataType::kF8E4M3},
    {4096, 2304, 768, TimedEpilogue::kBias, DataType::kF8E4M3},
    {4096, 768, 768, TimedEpilogue::kBias, DataType::kF8E4M3},
    {4096, 3072, 768, TimedEpilogue::kBias, DataType::kF8E4M3},
    {4096, 768, 3072, TimedEpilogue::kBias, DataType::kF8E4M3},
    {12288, 2304, 768, TimedEpilogue::kBias, DataType::kF8E4M3},
    {12288, 768, 768, TimedEpilogue::kBias, DataType::kF8E4M3},
    {12288, 3072, 768, TimedEpilogue::kBias, DataType::kF8E4M3},
    {12288, 768, 3072, TimedEpilogue::kBias, DataType::kF8E4M3},
    {8192, 8192, 8192, TimedEpilogue::kBias, DataType::kI8},
    {8192, 8192, 8192, TimedEpilogue::kBias, DataType::kF8E4M3},
    {8192, 8192, 8192},
    {16384, 50257, 768, TimedEpilogue::kOddFloats}};
inline constexpr int kTimeCount = std::size(kTimeSizes);
inline constexpr size_t kMostTimed = 12;
inline constexpr int kMultiprocessors = 132;

inline Variant variantOf(const TimeSize& s) {
  const bool isOdd = s.epilogue == TimedEpilogue::kOddFloats;
  return {.name = "timed",
          .typeA = s.type,
          .typeB = s.type,
          .output = isOdd                     ? DataType::kF32
                    : s.type == DataType::kI8 ? s.type
                                              : DataType::kF16,
          .transposedA = false,
          .transposedB = true,
          .wholeColumns = !isOdd,
          .isFull = false,
          .tolerance = 1e-3,
          .isGelu = s.epilogue == TimedEpilogue::kGelu};
}
inline HopperProblem problemOf(const TimeSize& s) {
  constexpr double kGeluWork = 17;  // what the build half counts for bias and GELU
  return {.m = s.m,
          .n = s.n,
          .k = s.k,
          .typeA = s.type,
          .typeB = s.type,
          .epilogueWork = s.epilogue == TimedEpilogue::kGelu ? kGeluWork : 1};
}

inline std::string nameOf(const TimeSize& s) {
  constexpr const char* kEpilogues[] = {"", " gelu", " f32"};
  return str(s.m, "x", s.n, "x", s.k, kEpilogues[static_cast<int>(s.epilogue)],
             s.type == DataType::kF16 ? "" : str(" ", s.type));
}

struct TimeCase {
  int size;
  const Binary* binary;
  HopperConfig config;
};

// Kept over children: what a size has come to.
struct Times {
  double library[kTimeCount], best[kTimeCount];
  char bestConfig[kTimeCount][64];
};
inline Times* times;

// Microseconds of one of `count` launches in a graph, the median of some replays.
template <class Launch>
double timeGraph(CUstream stream, int count, Launch launch) {
  CUgraph graph;
  CUgraphExec exec;
  CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  try {
    for (int i = 0; i < count; ++i) launch(i);
  } catch (...) {
    cuStreamEndCapture(stream, &graph);
    throw;
  }
  CHECK(cuStreamEndCapture(stream, &graph));
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  CUevent begin, end;
  CHECK(cuEventCreate(&begin, 0));
  CHECK(cuEventCreate(&end, 0));
  std::vector<float> samples;
  for (int i = 0; i < 7; ++i) {
    CHECK(cuEventRecord(begin, stream));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuEventRecord(end, stream));
    CHECK(cuEventSynchronize(end));
    float ms;
    CHECK(cuEventElapsedTime(&ms, begin, end));
    if (i >= 2) samples.push_back(ms);
  }
  std::sort(samples.begin(), samples.end());
  cuGraphExecDestroy(exec);
  cuGraphDestroy(graph);
  return samples[samples.size() / 2] * 1000.0 / count;
}

// One size: the library's best, then configurations. Two sets of weights alternate, which stay in
// the second cache as they do when the build times kernels.
class TimedSize {
 public:
  TimedSize(int index, const Helpers& h)
      : index_(index),
        size_(kTimeSizes[index]),
        h_(h),
        problem_(problemOf(size_)),
        outBytes_(size_.m * size_.n * bytesOf(variantOf(size_).output)),
        a_(size_.m * size_.k * bytesOf(size_.type)),
        bias_(size_.n * 4),
        out_(outBytes_),
        wanted_(size_.m * size_.n * 2),
        sums_(32) {
    launches_ = static_cast<int>(
        std::clamp<int64_t>((int64_t{1} << 36) / (size_.m * size_.n * size_.k), 4, 40));
    launchPlain(h.fillA, 512u, a_.at, (long long)(size_.m * size_.k), 1u);
    for (unsigned i = 0; i < 2; ++i) {
      weights_.emplace_back(size_.n * size_.k * bytesOf(size_.type));
      launchPlain(h.fillB, 512u, weights_[i].at, (long long)(size_.n * size_.k), 2u + i);
    }
    CHECK(cuMemsetD8(bias_.at, 0, size_.n * 4));
    CHECK(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    CHECK(cuCtxSynchronize());
  }
  ~TimedSize() { cuStreamDestroy(stream_); }

  // The library's result has no activation: its time stands beside ours all the same.
  void timeLibrary(Library& library) {
    double& best = times->library[index_];
    const int count = library.prepare(size_.type, size_.m, size_.n, size_.k, bias_.at);
    for (int i = 0; i < count; ++i) {
      library.run(i, a_.at, weights_[0].at, out_.at, stream_);
      CHECK(cuStreamSynchronize(stream_));
      const double micros = timeGraph(stream_, launches_, [&](int launch) {
        library.run(i, a_.at, weights_[launch % 2].at, out_.at, stream_);
      });
      best = best == 0 ? micros : std::min(best, micros);
    }
    library.run(0, a_.at, weights_[0].at, wanted_.at, stream_);
    CHECK(cuStreamSynchronize(stream_));
    say(name(), " cuBLASLt ", micros(best), " us");
  }

  void time(const HopperConfig& config, const Binary& binary) {
    const Gemm gemm(config, binary);
    const auto run = [&](int i, bool isOverlapped) {
      gemm.launch(problem_, a_.at, weights_[i % 2].at, out_.at, bias_.at, 0, stream_, isOverlapped);
    };
    CHECK(cuMemsetD8(out_.at, 0xff, outBytes_));
    run(0, false);
    CHECK(cuStreamSynchronize(stream_));
    if (times->library[index_] > 0 && size_.epilogue == TimedEpilogue::kBias &&
        size_.type != DataType::kI8)
      compare();
    const double overlapped = timeGraph(stream_, launches_, [&](int i) { run(i, true); });
    const double plain = timeGraph(stream_, launches_, [&](int i) { run(i, false); });
    say(name(), " ", toString(config), " ", micros(overlapped), " us, without overlap ",
        micros(plain), ", estimated ", micros(estimateMicros(config, problem_, kMultiprocessors)),
        ", clusters at once ", gemm.activeClusters, " for ", argumentsOf(config, problem_).tiles);
    double& best = times->best[index_];
    if (best != 0 && best <= overlapped) return;
    best = overlapped;
    std::snprintf(times->bestConfig[index_], sizeof times->bestConfig[0], "%s",
                  toString(config).c_str());
  }

  static std::string micros(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", value);
    return text;
  }

 private:
  std::string name() const { return nameOf(size_); }

  void compare() {
    CHECK(cuMemsetD8(sums_.at, 0, 32));
    launchPlain(h_.compareHalfs, 264u, out_.at, wanted_.at, (long long)(size_.m * size_.n),
                sums_.at);
    double host[2];
    CHECK(cuMemcpyDtoH(host, sums_.at, sizeof host));
    ++progress->checks;
    if (!(std::sqrt(host[0] / host[1]) < (size_.type == DataType::kF16 ? 1e-3 : 4e-3)))
      throw DeviceError{"differs from the library"};
  }

  int index_, launches_;
  TimeSize size_;
  const Helpers& h_;
  HopperProblem problem_;
  int64_t outBytes_;
  Memory a_, bias_, out_, wanted_, sums_;
  std::vector<Memory> weights_;
  CUstream stream_;
};

// From the position on; false when the device is lost.
inline bool timeFrom(const std::vector<TimeCase>& cases,
                     const std::vector<Binary>& helperBinaries) {
  openDevice();
  std::map<DataType, Helpers> helpers;
  for (size_t i = 0; i < helperBinaries.size(); ++i)
    helpers.emplace(kTimedTypes[i], helperBinaries[i]);
  std::unique_ptr<Library> library;
  try {
    library = std::make_unique<Library>();
  } catch (const DeviceError& error) {
    complain("cuBLASLt: ", error.text);
  }
  std::unique_ptr<TimedSize> timed;
  int current = -1;
  for (; progress->position < static_cast<int>(cases.size()); ++progress->position) {
    const TimeCase& c = cases[progress->position];
    if (c.size != current) {
      current = c.size;
      timed.reset();
      timed = std::make_unique<TimedSize>(current, helpers.at(kTimeSizes[current].type));
      if (library) try {
          timed->timeLibrary(*library);
        } catch (const DeviceError& error) {
          complain("cuBLASLt on size ", current, ": ", error.text);
        }
    }
    if (c.binary->code.empty()) continue;
    try {
      timed->time(c.config, *c.binary);
    } catch (const DeviceError& error) {
      complain(toString(c.config), " on size ", current, ": ", error.text);
      if (cuCtxSynchronize() != CUDA_SUCCESS) return false;
    }
  }
  return true;
}

inline void printTimes() {
  std::printf("%-23s %9s %9s %6s %6s  %s\n", "m x n x k", "cuBLASLt", "ours us", "TF/s", "ratio",
              "configuration");
  for (int i = 0; i < kTimeCount; ++i) {
    const TimeSize& s = kTimeSizes[i];
    if (times->best[i] > 0)
      std::printf("%-23s %9.2f %9.2f %6.0f %6.2f  %s\n", nameOf(s).c_str(), times->library[i],
                  times->best[i], 2e-6 * s.m * s.n * s.k / times->best[i],
                  times->library[i] / times->best[i], times->bestConfig[i]);
  }
}
