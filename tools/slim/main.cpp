// camshaft-slim IN OUT: writes a smaller ONNX model that computes the same, and says what went.
#include <cstdio>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "CamshaftSlim.h"

namespace {

class Logger : public nvinfer1::ILogger {
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kWARNING) std::fprintf(stderr, "camshaft-slim: %s\n", message);
  }
};

constexpr char kUsage[] =
    "camshaft-slim [--json] IN OUT\n"
    "Writes a smaller ONNX model that computes the same, and says what went.\n"
    "  IN      the model to read\n"
    "  OUT     the file to write; weights of models over 2 GiB go into OUT.data\n"
    "  --json  say what went as JSON\n";

int refuse(const char* why, const char* what) {
  std::fprintf(stderr, "camshaft-slim: %s%s\n%s", why, what, kUsage);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<const char*> files;
  bool json = false;
  for (const char* word : std::span(argv, static_cast<size_t>(argc)).subspan(1)) {
    const std::string_view given = word;
    if (given == "--help" || given == "-h") {
      std::fputs(kUsage, stdout);
      return 0;
    }
    if (given == "--json")
      json = true;
    else if (given.size() > 1 && given.front() == '-')
      return refuse("there is no flag ", word);
    else
      files.push_back(word);
  }
  if (files.size() != 2)
    return refuse("it takes two files, ", "the model to read and the one to write");

  Logger logger;
  const std::unique_ptr<camshaft::ISlimModel> model(camshaft::slimModelFile(files[0], logger));
  if (!model || !model->writeFile(files[1])) return 1;
  std::printf("%s\n", json ? model->reportJson() : model->reportTable());
  return 0;
}
