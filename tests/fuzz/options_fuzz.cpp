// Command lines of trtexec: taken, or refused in a sentence. An input is one argument per line.
// Built with libFuzzer under clang; elsewhere driver.cpp mutates the seeds.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <vector>

#include "fuzz/mutator.h"
#include "trtexec/options.h"

namespace camshaft::fuzz {
namespace {

// Every flag with a value that it takes, and one that it does not.
constexpr const char* kArguments[] = {"--onnx=model.onnx",
                                      "--saveEngine=a.engine",
                                      "--loadEngine=b.engine",
                                      "--minShapes=x:1x3x224x224,y:4",
                                      "--optShapes=x:2x3x224x224",
                                      "--maxShapes=x:8x3x224x224,y:scalar",
                                      "--profile=1",
                                      "--builderOptimizationLevel=5",
                                      "--maxAuxStreams=0",
                                      "--timingCacheFile=t.cache",
                                      "--memPoolSize=workspace:512,tacticSharedMem:1.5G",
                                      "--profilingVerbosity=detailed",
                                      "--noTF32",
                                      "--fp16",
                                      "--bf16",
                                      "--stronglyTyped",
                                      "--precisionConstraints=obey",
                                      "--layerPrecisions=*:fp16,conv:fp32",
                                      "--layerOutputTypes=conv:fp32+fp16",
                                      "--inputIOFormats=fp16:chw,fp32:chw",
                                      "--outputIOFormats=bf16:chw",
                                      "--skipInference",
                                      "--shapes=x:1x3x8x8",
                                      "--loadInputs=x:x.bin,y:y.bin",
                                      "--iterations=10",
                                      "--duration=0.5",
                                      "--warmUp=200",
                                      "--streams=2",
                                      "--infStreams=3",
                                      "--threads",
                                      "--useProfile=1",
                                      "--device=0",
                                      "--computeCapability=90",
                                      "--cpu",
                                      "--noDataTransfers",
                                      "--useCudaGraph",
                                      "--useSpinWait",
                                      "--avgRuns=10",
                                      "--percentile=90,95,99.9",
                                      "--dumpLayerInfo",
                                      "--dumpProfile",
                                      "--separateProfileRun",
                                      "--dumpOutput",
                                      "--exportLayerInfo=l.json",
                                      "--exportProfile=p.json",
                                      "--exportTimes=t.json",
                                      "--exportOutput=o.json",
                                      "--verbose",
                                      "--help",
                                      "-h",
                                      "--int8",
                                      "--best",
                                      "--plugins=x.so",
                                      "--nosuch=1",
                                      "model.onnx",
                                      "--",
                                      "-",
                                      "="};

constexpr const char* kValues[] = {
    "",      "0",    "-1", "1e309",    "nan", "inf", "-0", "0x10",    "9223372036854775808",
    "1.5.5", " 7",   "7 ", "\xff\xfe", ":",   ",",   "x",  "x:",      ":1",
    "x:1x",  "x:-1", "*",  "a:b:c",    "[1]", "{}",  "'",  "\"a b\"", "%s%n",
    "1'000", "1e5"};

std::vector<std::string> split(const Bytes& input) {
  std::vector<std::string> lines;
  std::stringstream stream(input);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line.substr(0, line.find('\0')));  // as a shell hands them on
  return lines;
}

Bytes join(const std::vector<std::string>& lines) {
  Bytes text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

class ArgumentMutator : public Mutator {
 public:
  void learn(std::string_view) override {}

  std::vector<Bytes> seeds() const override {
    std::vector<Bytes> seeds = {"", "--loadEngine=a\n"};
    for (const char* argument : kArguments)
      seeds.push_back(std::string("--onnx=model.onnx\n") + argument + "\n");
    return seeds;
  }

  Bytes mutated(Bytes input, Random& random) const override {
    std::vector<std::string> lines = split(input);
    for (uint64_t changes = 1 + below(random, 4); changes > 0; --changes) change(lines, random);
    return join(lines);
  }

 private:
  static void change(std::vector<std::string>& lines, Random& random) {
    const std::string argument = kArguments[below(random, std::size(kArguments))];
    if (lines.empty() || oneIn(random, 4)) return lines.push_back(argument);
    std::string& line = lines[below(random, lines.size())];
    const size_t equals = line.find('=');
    const std::string value = kValues[below(random, std::size(kValues))];
    switch (below(random, 6)) {
      case 0:
        line = changedBytes(line, random);
        break;
      case 1:  // another value, also for a flag that has none
        line = line.substr(0, equals) + "=" + value;
        break;
      case 2: {  // into the value
        const size_t at = below(random, line.size() + 1);
        line.insert(at, value);
        break;
      }
      case 3:  // another flag's value
        line =
            line.substr(0, equals) + argument.substr(std::min(argument.find('='), argument.size()));
        break;
      case 4:  // numbers of any length
        line += std::string(1 + below(random, 400), static_cast<char>('0' + below(random, 10)));
        break;
      default:
        lines.erase(lines.begin() + (&line - lines.data()));
    }
  }
};

// Words of the standard library, which say nothing to a user.
constexpr const char* kNoWords[] = {"stod", "stoi", "stoll", "basic_string", "vector::", "map::"};

[[noreturn]] void stop(const std::string& said) {
  std::fprintf(stderr, "this is no message: '%s'\n", said.c_str());
  std::abort();
}

void check(trtexec::ParseResult result, const std::string& said) {
  using trtexec::ParseResult;
  if ((result == ParseResult::kError) != said.starts_with("trtexec: ")) stop(said);
  for (const char* word : kNoWords)
    if (said.starts_with(std::string("trtexec: ") + word)) stop(said);
}

// What goes to a stream while this lives.
class Captured {
 public:
  explicit Captured(std::ostream& stream) : stream_(stream), before_(stream.rdbuf(text_.rdbuf())) {}
  ~Captured() { stream_.rdbuf(before_); }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::ostream& stream_;
  std::streambuf* before_;
};

}  // namespace

std::unique_ptr<Mutator> makeMutator() { return std::make_unique<ArgumentMutator>(); }

}  // namespace camshaft::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace camshaft::fuzz;
  std::vector<std::string> lines = split(Bytes(reinterpret_cast<const char*>(data), size));
  lines.insert(lines.begin(), "trtexec");
  std::vector<char*> argv;
  for (std::string& line : lines) argv.push_back(line.data());
  argv.push_back(nullptr);
  const Captured errors(std::cerr), help(std::cout);
  trtexec::Options options;
  check(trtexec::parseOptions(static_cast<int>(lines.size()), argv.data(), options), errors.text());
  return 0;
}
