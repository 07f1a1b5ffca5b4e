// make_engines FOLDER: engines of the conformance cases, as seeds for engine_fuzz.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "compiler/compile.h"
#include "conformance/case.h"
#include "engine/engine_file.h"
#include "support/error.h"

namespace {

using namespace camshaft;

constexpr size_t kLargest = 16384;  // bytes: small ones are tried more often

void write(const conformance::Case& c, const std::string& device, int level,
           const std::filesystem::path& folder) {
  const Graph graph = c.graph();
  CompileOptions options;
  options.device = device;
  options.optimizationLevel = level;
  options.threads = 1;
  options.profiles = c.profiles(graph);
  const std::vector<std::byte> engine = writeEngine(compile(graph.clone(), options));
  if (engine.size() > kLargest) return;
  std::ofstream(folder / (c.name + "." + device + std::to_string(level)), std::ios::binary)
      .write(reinterpret_cast<const char*>(engine.data()),
             static_cast<std::streamsize>(engine.size()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_engines FOLDER\n");
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  for (const conformance::Case& c : conformance::allCases()) {
    write(c, "cpu", 0, argv[1]);  // the first kernel of each list
    write(c, "cpu", 3, argv[1]);  // the fastest
    write(c, "reference", 0, argv[1]);
  }
  return 0;
}
