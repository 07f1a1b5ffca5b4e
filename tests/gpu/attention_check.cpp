// Checks the attention kernels on a GPU against a plain one in double, then times them.
//
//   cmake --build --preset release --target attention_check
//   build/bin/attention_check [check|time|compile [sm_80]]
#include <cstdio>
#include <map>

#include "attention_runner.h"

namespace {

using namespace attention_check;

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
    if (!isFlash(c)) continue;
    // Those for few heads, and those for many.
    std::vector<FlashTile> tiles = tilesOf(c, 1, arch);
    for (const FlashTile& tile : tilesOf(c, 1 << 20, arch))
      if (std::find(tiles.begin(), tiles.end(), tile) == tiles.end()) tiles.push_back(tile);
    for (const FlashTile& tile : tiles) jobs.push_back({c, flashLaunch(c, tile)});
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

std::vector<Job> timedJobs(const std::string& arch) {
  std::vector<Job> jobs;
  for (const Case& c : timedCases())
    for (const FlashTile& tile : tilesOf(c, int64_t{c.batches} * c.heads, arch))
      jobs.push_back({c, flashLaunch(c, tile)});
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
