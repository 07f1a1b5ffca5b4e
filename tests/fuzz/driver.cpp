// A small mutation driver for compilers without libFuzzer, with its entry point and the options
// that the tests use: import_fuzz [-max_total_time=SECONDS] [-timeout=SECONDS] FILE_OR_FOLDER...
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
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;
using Bytes = std::string;
using Random = std::mt19937_64;

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

// Sizes and counts that break arithmetic: powers of two and their neighbours, as varints.
Bytes interestingVarint(Random& random) {
  uint64_t value = (uint64_t{1} << (random() % 64)) - random() % 3;
  Bytes encoded;
  for (; value >= 0x80; value >>= 7) encoded += static_cast<char>(value | 0x80);
  return encoded + static_cast<char>(value);
}

Bytes mutated(const std::vector<Bytes>& corpus, Random& random) {
  Bytes bytes = corpus[random() % corpus.size()];
  for (uint64_t changes = 1 + random() % 4; changes > 0 && !bytes.empty(); --changes) {
    const size_t at = random() % bytes.size();
    const size_t length = 1 + random() % std::min<size_t>(bytes.size() - at, 64);
    switch (random() % 7) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(random() % bytes.size(), length));
        break;
      case 4:
        bytes.replace(at, 1, interestingVarint(random));
        break;
      case 5:
        bytes.resize(at + 1);
        break;
      default: {
        const Bytes& other = corpus[random() % corpus.size()];
        if (!other.empty())
          bytes.replace(at, length, other.substr(random() % other.size(), length));
      }
    }
  }
  return bytes;
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
  std::vector<Bytes> corpus;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("-max_total_time=")) {
      seconds = std::atof(argv[i] + argument.find('=') + 1);
    } else if (argument.starts_with("-timeout=")) {
      timeout = static_cast<unsigned>(std::atoi(argv[i] + argument.find('=') + 1));
    } else if (argument.starts_with("-")) {
      continue;  // an option of libFuzzer's
    } else if (fs::is_directory(argument)) {
      for (const auto& entry : fs::directory_iterator(argument)) corpus.push_back(readFile(entry));
    } else {
      corpus.push_back(readFile(argument));
    }
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "there is no corpus: name files or folders\n");
    return 2;
  }
  for (const int signal : {SIGALRM, SIGABRT, SIGSEGV, SIGFPE}) ::signal(signal, onSignal);
  std::sort(corpus.begin(), corpus.end());  // folders list files in any order
  for (const Bytes& bytes : corpus) run(bytes, timeout);

  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  uint64_t runs = corpus.size();
  for (Random random(1); Clock::now() < end; ++runs) run(mutated(corpus, random), timeout);
  std::printf("%llu inputs, no finding\n", static_cast<unsigned long long>(runs));
  return 0;
}
