// A small driver for compilers without libFuzzer, with its entry point and the options
// that the tests use:
//   NAME_fuzz [-max_total_time=SECONDS] [-timeout=SECONDS] [-seed=NUMBER] FILE_OR_FOLDER...
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;
using camshaft::fuzz::Bytes;
using camshaft::fuzz::Random;

const Bytes* running = nullptr;  // what a crash or a hang is to be blamed on

void saveInput() {
  if (!running) return;
  const int hash = static_cast<int>(std::hash<Bytes>()(*running) & 0x7fffffff);
  const std::string path = "crash-" + std::to_string(hash);
  std::ofstream(path, std::ios::binary) << *running;
  std::fprintf(stderr, "the input was saved as %s\n", path.c_str());
}

[[noreturn]] void onSignal(int signal) {
  std::fprintf(stderr, signal == SIGALRM ? "the input takes too long\n" : "the input crashes\n");
  saveInput();
  _exit(77);
}

Bytes readFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void run(const Bytes& bytes, unsigned timeout) {
  running = &bytes;
  alarm(timeout);
  // A copy of its own size, so that reading past the end is seen.
  const std::vector<uint8_t> exact(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  alarm(0);
  running = nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 0;
  unsigned timeout = 20;
  uint64_t seed = 1;
  std::vector<Bytes> corpus;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("-max_total_time=")) {
      seconds = std::atof(argv[i] + argument.find('=') + 1);
    } else if (argument.starts_with("-timeout=")) {
      timeout = static_cast<unsigned>(std::atoi(argv[i] + argument.find('=') + 1));
    } else if (argument.starts_with("-seed=")) {
      seed = std::strtoull(argv[i] + argument.find('=') + 1, nullptr, 10);
    } else if (argument.starts_with("-")) {
      continue;  // an option of libFuzzer's
    } else if (fs::is_directory(argument)) {
      for (const auto& entry : fs::directory_iterator(argument)) corpus.push_back(readFile(entry));
    } else {
      corpus.push_back(readFile(argument));
    }
  }
  const auto mutator = camshaft::fuzz::makeMutator();
  for (Bytes& seed : mutator->seeds()) corpus.push_back(std::move(seed));
  if (corpus.empty()) {
    std::fprintf(stderr, "there is no corpus: name files or folders\n");
    return 2;
  }
  // Sanitizers see to bad addresses, and then end the process without a signal.
  for (const int signal : {SIGALRM, SIGABRT}) ::signal(signal, onSignal);
  __sanitizer_set_death_callback(saveInput);
  std::sort(corpus.begin(), corpus.end());  // folders list files in any order
  for (const Bytes& bytes : corpus) {
    run(bytes, timeout);
    mutator->learn(bytes);
  }

  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  uint64_t runs = corpus.size();
  for (Random random(seed); Clock::now() < end; ++runs)
    run(mutator->mutated(corpus[random() % corpus.size()], random), timeout);
  std::printf("%llu inputs, no finding\n", static_cast<unsigned long long>(runs));
  return 0;
}
