// Checks and times the Hopper matrix product (src/backends/cuda/device/gemm_sm90.cuh) by itself,
// every configuration on odd sizes, then beside cuBLASLt. Run from the root of the repository:
//   g++ -std=c++20 -O1 -Isrc -I/usr/local/cuda/include tests/gpu/gemm_sm90_check.cpp
//     src/backends/cuda/gemm/wgmma_{config,text,geometry,choice}.cpp
//     src/support/{text,data_type}.cpp -o /tmp/gemm_sm90_check -L/usr/local/cuda/lib64/stubs
//     -L/usr/local/cuda/lib64 -lcuda -lnvrtc -ldl -lpthread
// A child process does all work on the device, so that a kernel that traps or hangs costs its own
// row only. OUT=folder keeps the whole table of times.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <memory>

#include "backends/cuda/gemm/wgmma_choice.h"
#include "gemm_sm90_library.h"
#include "gemm_sm90_runner.h"

namespace {

// What is checked.
constexpr Variant kVariants[] = {
    {"f16 nt residual", DataType::kF16, "f16", "f16", false, true, true, true, 1e-3},
    {"f16 nn", DataType::kF16, "f16", "f16", false, false, true, true, 1e-3},
    {"f16 tn", DataType::kF16, "f16", "f16", true, false, true, false, 1e-3},
    {"bf16 ragged", DataType::kBF16, "bf16", "float", false, true, false, false, 1e-4},
    {"tf32", DataType::kF32, "float", "float", false, true, true, false, 2e-3},
};
constexpr int kVariantCount = std::size(kVariants);

struct Size {
  int64_t m, n, k, batch = 1;
  bool batchB = false;
};
constexpr Size kCheckSizes[] = {
    {128, 768, 768},          {200, 768, 3072}, {49 + 7, 2048, 512},
    {8, 1000, 2048},          {136, 200, 1032}, {64, 72, 1032, 3, true},
    {304, 520, 264, 2, true}, {1000, 136, 72},  {776, 776, 776, 2, false},
    {2056, 1544, 136},        {1, 8, 8}};
constexpr Size kTimeSizes[] = {
    {128, 768, 768},   {128, 2304, 768},  {128, 3072, 768},   {128, 768, 3072},  {197, 768, 768},
    {197, 3072, 768},  {49, 2048, 512},   {49, 512, 2048},    {196, 1024, 256},  {1, 1000, 2048},
    {384, 768, 768},   {384, 3072, 768},  {4096, 768, 768},   {4096, 2304, 768}, {4096, 3072, 768},
    {4096, 768, 3072}, {12288, 768, 768}, {12288, 3072, 768}, {8192, 8192, 8192}};
constexpr int kTimeCount = std::size(kTimeSizes);
constexpr int kMostConfigs = 96, kMostMessages = 60;

// Written by the child, read by the parent.
struct Results {
  int position, checks, failures, cublasLt;
  char messages[kMostMessages][200];
  double worst[kVariantCount];
  double micros[kTimeCount][kMostConfigs], plainMicros[kTimeCount][kMostConfigs];
  double library[kTimeCount];
};
Results* results;

template <class... Args>
void complain(const Args&... args) {
  const std::string text = str(args...);
  if (results->failures < kMostMessages)
    std::snprintf(results->messages[results->failures], 200, "%s", text.c_str());
  ++results->failures;
}

void reportCompilation(const std::string& name, const Binary& binary) {
  if (binary.code.empty()) complain(name, ": does not compile: ", binary.log.substr(0, 150));
  for (const char* word : {"C7508", "C7510", "C7509", "serialized", "warning"})
    if (binary.log.find(word) != std::string::npos)
      complain(name, ": ", binary.log.substr(binary.log.find(word), 150));
}

// ---- Results ----------------------------------------------------------------------------------

struct CheckCase {
  int variant;
  WgmmaConfig config;
  Binary binary;
};

// Operands of one problem with their reference result; the output is poisoned before each run.
struct Operands {
  static constexpr int kGuardBytes = 4096;
  WgmmaProblem problem;
  int64_t count, outBytes;
  Memory a, b, bias, residual, wanted, out, sums;

  Operands(const Variant& v, const Size& s, const Helpers& h)
      : problem{s.m,      s.n,    s.k,           s.batch,      s.batch > 1,
                s.batchB, v.type, v.transposedA, v.transposedB},
        count(s.m * s.n * s.batch),
        outBytes(count * (std::strcmp(v.output, "float") == 0 ? 4 : 2)),
        a(s.m * s.k * s.batch * 4),
        b(s.n * s.k * s.batch * 4),
        bias(s.n * 4 + 32),
        residual(count * 2 + 32),
        wanted(count * 4),
        out(outBytes + kGuardBytes),
        sums(32) {
    launchPlain(h.fillElements, 512u, a.at, (long long)(s.m * s.k * s.batch), 1u);
    launchPlain(h.fillElements, 512u, b.at, (long long)(s.n * s.k * s.batch), 2u);
    launchPlain(h.fillFloats, 16u, bias.at, (long long)s.n, 3u);
    launchPlain(h.fillHalfs, 512u, residual.at, (long long)count, 4u);
    launchPlain(h.reference, static_cast<unsigned>((count + 255) / 256), a.at, b.at, bias.at,
                residual.at, wanted.at, (long long)s.m, (long long)s.n, (long long)s.k,
                (long long)s.batch, int{problem.batchA}, int{problem.batchB});
    CHECK(cuCtxSynchronize());
  }

  double errorOf(const Gemm& gemm, const Helpers& h) {
    CHECK(cuMemsetD8(out.at, 0xff, outBytes + kGuardBytes));
    CHECK(cuMemsetD8(sums.at, 0, 32));
    gemm.launch(problem, a.at, b.at, out.at, bias.at, residual.at, nullptr, false);
    launchPlain(h.compare, 264u, out.at, wanted.at, (long long)count, sums.at);
    launchPlain(h.guard, 1u, out.at + outBytes, int{kGuardBytes}, sums.at);
    double host[3];
    CHECK(cuMemcpyDtoH(host, sums.at, sizeof host));
    if (host[2] != 0) throw DeviceError{"writes beyond its output"};
    return std::sqrt(host[0] / host[1]);
  }
};

CUcontext openDevice() {
  CUdevice device;
  CUcontext context;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  return context;
}

// Returns false when the device is lost, with the position on the case that lost it.
bool checkFrom(const std::vector<CheckCase>& cases, const std::vector<Binary>& helpers) {
  openDevice();
  int current = -1;
  std::vector<Helpers> help;
  for (const Binary& binary : helpers) help.emplace_back(binary);
  std::vector<Operands> operands;
  for (; results->position < static_cast<int>(cases.size()); ++results->position) {
    const CheckCase& c = cases[results->position];
    const Variant& v = kVariants[c.variant];
    if (c.variant != current) {
      current = c.variant;
      operands.clear();
      operands.reserve(std::size(kCheckSizes));
      for (Size size : kCheckSizes) {
        if (!v.wholeColumns) size.n += size.n > 8 ? 1 : -3;
        operands.emplace_back(v, size, help[current]);
      }
    }
    if (c.binary.code.empty()) continue;
    std::string at = str(v.name, " ", toString(c.config));
    try {
      const Gemm gemm(c.config, c.binary);
      for (Operands& o : operands) {
        if (whyNot(c.config, o.problem)) continue;
        at = str(v.name, " ", toString(c.config), " on ", o.problem.m, "x", o.problem.n, "x",
                 o.problem.k, "x", o.problem.batch);
        const double error = o.errorOf(gemm, help[current]);
        ++results->checks;
        results->worst[current] = std::fmax(results->worst[current], error);
        if (!(error < v.tolerance)) complain(at, ": relative error ", error);
      }
    } catch (const DeviceError& error) {
      complain(at, ": ", error.text);
      if (cuCtxSynchronize() != CUDA_SUCCESS) return false;
    }
  }
  return true;
}

// ---- Times ------------------------------------------------------------------------------------

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
  std::vector<float> times;
  for (int i = 0; i < 9; ++i) {
    CHECK(cuEventRecord(begin, stream));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuEventRecord(end, stream));
    CHECK(cuEventSynchronize(end));
    float ms;
    CHECK(cuEventElapsedTime(&ms, begin, end));
    if (i >= 2) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  cuGraphExecDestroy(exec);
  cuGraphDestroy(graph);
  return times[times.size() / 2] * 1000.0 / count;
}

// One size: the library's best, then every configuration. Weights change from launch to launch, so
// that they come from memory as in a model; the rows are in cache, as a preceding kernel leaves
// them.
class TimedSize {
 public:
  TimedSize(int index, const Helpers& h)
      : index_(index),
        size_(kTimeSizes[index]),
        h_(h),
        problem_{size_.m, size_.n, size_.k, 1, false, false, DataType::kF16, false, true},
        a_(size_.m * size_.k * 2),
        bias_(size_.n * 4),
        out_(size_.m * size_.n * 2),
        wanted_(size_.m * size_.n * 2),
        sums_(32) {
    const int64_t weightBytes = size_.n * size_.k * 2;
    const int copies = static_cast<int>(std::clamp<int64_t>((160 << 20) / weightBytes, 2, 64));
    launches_ = size_.m * size_.n * size_.k > (1ll << 36) ? 6 : std::max(copies, 24);
    launchPlain(h.fillElements, 512u, a_.at, (long long)(size_.m * size_.k), 1u);
    for (int i = 0; i < copies; ++i) {
      weights_.emplace_back(weightBytes);
      launchPlain(h.fillElements, 512u, weights_[i].at, (long long)(size_.n * size_.k), 2u + i);
    }
    CHECK(cuMemsetD8(bias_.at, 0, size_.n * 4));
    CHECK(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    CHECK(cuCtxSynchronize());
  }

  void timeLibrary(Library& library) {
    double& best = results->library[index_];
    const int count = library.prepare(size_.m, size_.n, size_.k, bias_.at);
    for (int i = 0; i < count; ++i) {
      library.run(i, a_.at, weights_[0].at, out_.at, stream_);
      CHECK(cuStreamSynchronize(stream_));
      const double micros = timeGraph(stream_, launches_, [&](int launch) {
        library.run(i, a_.at, weights_[launch % weights_.size()].at, out_.at, stream_);
      });
      best = best == 0 ? micros : std::min(best, micros);
    }
    library.run(0, a_.at, weights_[0].at, wanted_.at, stream_);
    CHECK(cuStreamSynchronize(stream_));
  }

  void time(const WgmmaConfig& config, const Binary& binary, int configIndex) {
    const Gemm gemm(config, binary);
    const auto run = [&](int i, bool isOverlapped) {
      gemm.launch(problem_, a_.at, weights_[i % weights_.size()].at, out_.at, bias_.at, 0, stream_,
                  isOverlapped);
    };
    CHECK(cuMemsetD8(out_.at, 0xff, size_.m * size_.n * 2));
    run(0, false);
    CHECK(cuStreamSynchronize(stream_));
    if (results->library[index_] > 0) {
      CHECK(cuMemsetD8(sums_.at, 0, 32));
      launchPlain(h_.compareHalfs, 264u, out_.at, wanted_.at, (long long)(size_.m * size_.n),
                  sums_.at);
      double host[2];
      CHECK(cuMemcpyDtoH(host, sums_.at, sizeof host));
      if (!(std::sqrt(host[0] / host[1]) < 1e-3)) throw DeviceError{"differs from the library"};
    }
    results->micros[index_][configIndex] =
        timeGraph(stream_, launches_, [&](int i) { run(i, true); });
    results->plainMicros[index_][configIndex] =
        timeGraph(stream_, launches_, [&](int i) { run(i, false); });
  }

  const WgmmaProblem& problem() const { return problem_; }

 private:
  int index_, launches_;
  Size size_;
  const Helpers& h_;
  WgmmaProblem problem_;
  Memory a_, bias_, out_, wanted_, sums_;
  std::vector<Memory> weights_;
  CUstream stream_;
};

bool isWorthTiming(const WgmmaConfig& c, const WgmmaProblem& p) {
  if (whyNot(c, p)) return false;
  const double flops = 2.0 * p.m * p.n * p.k;
  const bool isBig = flops > 4e9;
  if (isBig) return c.splitK == 1 && c.tileM * c.tileN >= 128 * 128;
  const WgmmaArguments arguments = argumentsOf(c, p);
  return int64_t{arguments.tiles} * clusterSize(c) <= 4 * 132;
}

// Position counts pairs of a size and a configuration.
bool timeFrom(const std::vector<CheckCase>& cases, const Binary& helperBinary) {
  openDevice();
  const Helpers helpers(helperBinary);
  std::unique_ptr<Library> library;
  try {
    library = std::make_unique<Library>();
  } catch (const DeviceError& error) {
    if (results->position == 0) complain("cuBLASLt: ", error.text);
  }
  const int configs = static_cast<int>(cases.size());
  while (results->position < configs * kTimeCount) {
    const int index = results->position / configs;
    TimedSize timed(index, helpers);
    if (library) {
      try {
        timed.timeLibrary(*library);
      } catch (const DeviceError& error) {
        complain("cuBLASLt on size ", index, ": ", error.text);
      }
    }
    for (; results->position / configs == index; ++results->position) {
      const CheckCase& c = cases[results->position % configs];
      if (c.binary.code.empty() || !isWorthTiming(c.config, timed.problem())) continue;
      try {
        timed.time(c.config, c.binary, results->position % configs);
      } catch (const DeviceError& error) {
        complain("timing ", toString(c.config), " on size ", index, ": ", error.text);
        if (cuCtxSynchronize() != CUDA_SUCCESS) return false;
      }
    }
  }
  return true;
}

// ---- Table ------------------------------------------------------------------------------------

void printTable(const std::vector<CheckCase>& cases) {
  std::printf("%-17s %9s | %9s %9s %6s %5s  %s\n", "m x n x k", "cuBLASLt", "ours us", "no PDL",
              "TF/s", "ratio", "configuration (then the next three)");
  for (int i = 0; i < kTimeCount; ++i) {
    const Size& s = kTimeSizes[i];
    std::vector<int> order;
    for (int c = 0; c < static_cast<int>(cases.size()); ++c)
      if (results->micros[i][c] > 0) order.push_back(c);
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return results->micros[i][a] < results->micros[i][b]; });
    if (order.empty()) continue;
    const double best = results->micros[i][order[0]];
    std::string next;
    for (size_t j = 1; j < order.size() && j < 4; ++j) {
      char text[96];
      std::snprintf(text, sizeof text, "; %s %.2f", toString(cases[order[j]].config).c_str(),
                    results->micros[i][order[j]]);
      next += text;
    }
    std::printf("%-17s %9.2f | %9.2f %9.2f %6.0f %5.2f  %s%s\n",
                str(s.m, "x", s.n, "x", s.k).c_str(), results->library[i], best,
                results->plainMicros[i][order[0]], 2e-6 * s.m * s.n * s.k / best,
                results->library[i] / best, toString(cases[order[0]].config).c_str(), next.c_str());
  }
}

void writeTable(const std::vector<CheckCase>& cases) {
  const char* folder = std::getenv("OUT");
  if (!folder) return;
  std::ofstream file(str(folder, "/gemm_sm90.csv"));
  file << "m,n,k,configuration,us,us_without_pdl,cublaslt_us\n";
  for (int i = 0; i < kTimeCount; ++i)
    for (size_t c = 0; c < cases.size(); ++c)
      if (results->micros[i][c] > 0)
        file << kTimeSizes[i].m << ',' << kTimeSizes[i].n << ',' << kTimeSizes[i].k << ','
             << toString(cases[c].config) << ',' << results->micros[i][c] << ','
             << results->plainMicros[i][c] << ',' << results->library[i] << '\n';
}

// Runs `work` in child processes until it has gone through; a case that kills one is left out.
template <class Work>
void inChildren(const char* what, int end, Work work) {
  results->position = 0;
  while (results->position < end) {
    const pid_t child = fork();
    if (child == 0) {
      bool done = false;
      try {
        done = work();
      } catch (const DeviceError& error) {
        complain(what, ": ", error.text);
      }
      _exit(done ? 0 : 1);
    }
    int status = 0, seen = -1;
    for (double still = 0; waitpid(child, &status, WNOHANG) == 0; still += 0.05) {
      usleep(50000);
      if (results->position != seen) still = 0;
      seen = results->position;
      if (still > 20) {
        complain(what, " hangs at case ", results->position);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        break;
      }
    }
    if (results->position < end) {
      complain(what, " went on behind case ", results->position);
      ++results->position;
    }
  }
}

// The compiler starts the driver, and a process that has it cannot share it with its children: so
// a child compiles, and leaves its results in shared memory.
void compileInChild(const std::vector<Binary*>& binaries) {
  constexpr size_t kRoom = size_t{1} << 18;  // bytes of code and log per kernel
  struct Slot {
    size_t code, log;
    char bytes[kRoom];
  };
  auto* slots = static_cast<Slot*>(mmap(nullptr, sizeof(Slot) * binaries.size(),
                                        PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t child = fork();
  if (child == 0) {
    compileAll(binaries);
    for (size_t i = 0; i < binaries.size(); ++i) {
      Slot& slot = slots[i];
      slot.code = std::min(binaries[i]->code.size(), kRoom);
      slot.log = std::min(binaries[i]->log.size(), kRoom - slot.code);
      std::memcpy(slot.bytes, binaries[i]->code.data(), slot.code);
      std::memcpy(slot.bytes + slot.code, binaries[i]->log.data(), slot.log);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  for (size_t i = 0; i < binaries.size(); ++i) {
    binaries[i]->code.assign(slots[i].bytes, slots[i].code);
    binaries[i]->log.assign(slots[i].bytes + slots[i].code, slots[i].log);
  }
}

}  // namespace

int main() {
  results = static_cast<Results*>(
      mmap(nullptr, sizeof(Results), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  constexpr Variant kTimed = {"f16 nt bias", DataType::kF16, "f16", "f16", false,
                              true,          true,           false, 1e-3};
  std::vector<CheckCase> checked, timed;
  std::vector<Binary> helpers(kVariantCount);
  std::vector<Binary*> binaries;
  for (int v = 0; v < kVariantCount; ++v) {
    helpers[v].source = helperText(kVariants[v]);
    binaries.push_back(&helpers[v]);
    for (const WgmmaConfig& config : wgmmaConfigs())
      if (isValid(config, kVariants[v].transposedA, kVariants[v].transposedB))
        checked.push_back({v, config, {gemmText(config, kVariants[v], true)}});
  }
  for (const WgmmaConfig& config : wgmmaConfigs())
    timed.push_back({0, config, {gemmText(config, kTimed, false)}});
  for (CheckCase& c : checked) binaries.push_back(&c.binary);
  for (CheckCase& c : timed) binaries.push_back(&c.binary);
  compileInChild(binaries);
  for (const Binary& binary : helpers) reportCompilation("helpers", binary);
  for (const CheckCase& c : checked)
    reportCompilation(str(kVariants[c.variant].name, " ", toString(c.config)), c.binary);
  for (const CheckCase& c : timed) reportCompilation(str("timed ", toString(c.config)), c.binary);
  std::printf("%zu kernels compiled\n", binaries.size());
  if (std::getenv("COMPILE_ONLY")) {
    for (int i = 0; i < std::min(results->failures, kMostMessages); ++i)
      std::printf("FAILED %s\n", results->messages[i]);
    return results->failures != 0;
  }

  inChildren("checking", static_cast<int>(checked.size()),
             [&] { return checkFrom(checked, helpers); });
  inChildren("timing", static_cast<int>(timed.size()) * kTimeCount,
             [&] { return timeFrom(timed, helpers[0]); });
  writeTable(timed);
  printTable(timed);
  for (int v = 0; v < kVariantCount; ++v)
    std::printf("%s: largest relative error %.2g\n", kVariants[v].name, results->worst[v]);
  for (int i = 0; i < std::min(results->failures, kMostMessages); ++i)
    std::printf("FAILED %s\n", results->messages[i]);
  std::printf("%d checks, %d failures\n", results->checks, results->failures);
  return results->failures != 0;
}
