// Command lines of trtexec: taken, or refused in a sentence. An input is one argument per line.
// Built with libFuzzer under clang; elsewhere driver.cpp mutates the seeds.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "fuzz/mutator.h"
#include "trtexec/options/options.h"

namespace camshaft::fuzz {
namespace {

// Flags with values that they take, and what is no flag. All others come from --help.
constexpr const char* kArguments[] = {"--onnx=model.onnx",
                                      "--loadEngine=b.engine",
                                      "--minShapes=x:1x3x224x224,y:4",
                                      "--optShapes='x:0':2x3x224x224",
                                      "--maxShapes=x*:8x3x224x224,y:scalar",
                                      "--profile=1",
                                      "--memPoolSize=workspace:512,tacticSharedMem:1.5G",
                                      "--profilingVerbosity=detailed",
                                      "--precisionConstraints=obey",
                                      "--layerPrecisions=*:fp16,conv:fp32",
                                      "--layerOutputTypes=conv:fp32+fp16",
                                      "--layerDeviceTypes=conv*:DLA",
                                      "--inputIOFormats=fp16:chw+hwc8,chw",
                                      "--outputIOFormats=bf16:chw",
                                      "--tacticSources=-CUDNN,+CUBLAS",
                                      "--sparsity=enable",
                                      "--shapes=x:1x3x8x8",
                                      "--loadInputs='x:0':x.bin,y:y.bin",
                                      "--loadRefOutputs=z:z.bin",
                                      "--refPair=1",
                                      "--accuracyAlgorithm=lInf",
                                      "--weightStreamingBudget=30%",
                                      "--saveAllDebugTensors=summary,numpy",
                                      "--duration=-1",
                                      "--infStreams=3",
                                      "--percentile=90,95,99.9",
                                      "-h",
                                      "--nosuch=1",
                                      "model.onnx",
                                      "--",
                                      "-",
                                      "="};

// Those, and every flag of --help without a value.
std::vector<std::string> allArguments() {
  std::vector<std::string> list(std::begin(kArguments), std::end(kArguments));
  std::stringstream help(trtexec::helpText());
  for (std::string line; std::getline(help, line);)
    if (line.starts_with("  --")) list.push_back(line.substr(2, line.find_first_of("=[, ", 2) - 2));
  return list;
}

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
    for (const std::string& argument : arguments_)
      seeds.push_back("--onnx=model.onnx\n" + argument + "\n");
    return seeds;
  }

  Bytes mutated(Bytes input, Random& random) const override {
    std::vector<std::string> lines = split(input);
    for (uint64_t changes = 1 + below(random, 4); changes > 0; --changes) change(lines, random);
    return join(lines);
  }

 private:
  void change(std::vector<std::string>& lines, Random& random) const {
    const std::string argument = arguments_[below(random, arguments_.size())];
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

  std::vector<std::string> arguments_ = allArguments();
};

// Words of the standard library, which say nothing to a user.
constexpr const char* kNoWords[] = {"stod", "stoi", "stoll", "basic_string", "vector::", "map::"};

[[noreturn]] void stop(const std::string& said) {
  std::fprintf(stderr, "this is no message: '%s'\n", said.c_str());
  std::abort();
}

void check(trtexec::ParseResult result, const std::vector<std::string>& mistakes) {
  using trtexec::ParseResult;
  if (result != ParseResult::kHelp && (result == ParseResult::kError) == mistakes.empty()) stop("");
  for (const std::string& mistake : mistakes) {
    if (mistake.empty()) stop(mistake);
    for (const char* word : kNoWords)
      if (mistake.starts_with(word)) stop(mistake);
  }
}

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
  trtexec::Options options;
  std::vector<std::string> mistakes;
  check(trtexec::parseOptions(static_cast<int>(lines.size()), argv.data(), options, mistakes),
        mistakes);
  trtexec::describe(options);
  return 0;
}
