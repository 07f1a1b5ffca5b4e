#include "support/cpu_info.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/text.h"

namespace camshaft {
namespace {

// CPU time per period that the container may use, in cores; 0 when there is no limit.
double coresInQuota() {
  double quota = 0, period = 0;
  // cgroup v2 writes "max 100000" where there is no limit, which fails to parse as it should.
  if (std::ifstream file("/sys/fs/cgroup/cpu.max"); file >> quota >> period && period > 0)
    return quota / period;
  std::ifstream quotaFile("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream periodFile("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (quotaFile >> quota && periodFile >> period && quota > 0 && period > 0) return quota / period;
  return 0;
}

// "48K" or "2M" as sysfs writes cache sizes; 0 where the entry is missing.
size_t cacheSizeFromSysfs(int level) {
  for (int index = 0; index < 8; ++index) {
    const std::string entry = str("/sys/devices/system/cpu/cpu0/cache/index", index, "/");
    int foundLevel = 0;
    std::string type;
    size_t size = 0;
    char unit = ' ';
    std::ifstream(entry + "level") >> foundLevel;
    std::ifstream(entry + "type") >> type;
    std::ifstream(entry + "size") >> size >> unit;
    if (foundLevel != level || type == "Instruction") continue;
    return unit == 'M' ? size << 20 : unit == 'K' ? size << 10 : size;
  }
  return 0;
}

size_t cacheSize(int level, int sysconfName, size_t fallback) {
  if (const long size = sysconf(sysconfName); size > 0) return static_cast<size_t>(size);
  const size_t size = cacheSizeFromSysfs(level);
  return size > 0 ? size : fallback;
}

#if defined(__x86_64__)
constexpr const char* kArchitecture = "x86-64";

// From /proc/cpuinfo rather than cpuid: it names only what the kernel has enabled, AMX included.
std::vector<std::pair<std::string, std::string>> knownFeatures() {
  return {{"avx2", "avx2"},         {"fma", "fma"},           {"f16c", "f16c"},
          {"avx_vnni", "avxvnni"},  {"avx512f", "avx512f"},   {"avx512bw", "avx512bw"},
          {"avx512_vnni", "vnni"},  {"avx512_bf16", "bf16"},  {"avx512_fp16", "fp16"},
          {"amx_int8", "amx-int8"}, {"amx_bf16", "amx-bf16"}, {"amx_fp16", "amx-fp16"}};
}
constexpr const char* kFeatureLine = "flags";
#elif defined(__aarch64__)
constexpr const char* kArchitecture = "aarch64";

std::vector<std::pair<std::string, std::string>> knownFeatures() {
  return {{"asimd", "neon"}, {"asimdhp", "fp16"}, {"asimddp", "dotprod"}, {"i8mm", "i8mm"},
          {"bf16", "bf16"},  {"sve", "sve"},      {"sve2", "sve2"},       {"sme", "sme"}};
}
constexpr const char* kFeatureLine = "Features";
#else
constexpr const char* kArchitecture = "generic";
std::vector<std::pair<std::string, std::string>> knownFeatures() { return {}; }
constexpr const char* kFeatureLine = "flags";
#endif

// The text after "key   : " on the first such line of /proc/cpuinfo.
std::string cpuinfoEntry(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    if (line.find_first_not_of(" \t", key.size()) != colon) continue;
    const size_t value = line.find_first_not_of(' ', colon + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

struct FreeMask {
  void operator()(cpu_set_t* mask) const { CPU_FREE(mask); }
};

}  // namespace

std::vector<bool> affinityMask() {
  // The kernel refuses masks smaller than its own, so machines past 1024 cores need a larger one.
  for (int capacity = CPU_SETSIZE; capacity <= 64 * CPU_SETSIZE; capacity *= 2) {
    const std::unique_ptr<cpu_set_t, FreeMask> mask(CPU_ALLOC(static_cast<size_t>(capacity)));
    if (!mask) break;
    const size_t size = CPU_ALLOC_SIZE(static_cast<size_t>(capacity));
    if (sched_getaffinity(0, size, mask.get()) != 0) continue;
    std::vector<bool> cores(static_cast<size_t>(capacity));
    for (size_t core = 0; core < cores.size(); ++core)
      cores[core] = CPU_ISSET_S(core, size, mask.get());
    return cores;
  }
  return std::vector<bool>(std::thread::hardware_concurrency(), true);
}

int usableCores() {
  const std::vector<bool> mask = affinityMask();
  int cores = std::max(static_cast<int>(std::ranges::count(mask, true)), 1);
  if (const double quota = coresInQuota(); quota > 0)
    cores = std::min(cores, static_cast<int>(std::ceil(quota)));
  return cores;
}

CacheSizes cacheSizes() {
  return {cacheSize(1, _SC_LEVEL1_DCACHE_SIZE, 32 << 10),
          cacheSize(2, _SC_LEVEL2_CACHE_SIZE, 1 << 20)};
}

std::string cpuModelName() {
  if (std::string name = cpuinfoEntry("model name"); !name.empty()) return name;
  // Arm kernels give the maker's and the core's numbers instead of a name.
  const std::string maker = cpuinfoEntry("CPU implementer");
  if (maker.empty()) return kArchitecture;
  return str(kArchitecture, " ", maker, "/", cpuinfoEntry("CPU part"), "/",
             cpuinfoEntry("CPU variant"));
}

std::string cpuFeatures() {
  const std::string present = str(" ", cpuinfoEntry(kFeatureLine), " ");
  std::vector<std::string> names;
  for (const auto& [flag, name] : knownFeatures())
    if (present.find(str(" ", flag, " ")) != std::string::npos) names.push_back(name);
  return names.empty() ? kArchitecture : join(names, "+");
}

std::string describeCpu() {
  return str(cpuModelName(), ", ", usableCores(), " cores, ", cpuFeatures());
}

}  // namespace camshaft
