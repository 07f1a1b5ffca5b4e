// camshaft-slim IN OUT: writes a smaller ONNX model that computes the same, and says what went.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "CamshaftSlim.h"

namespace {

class Logger : public nvinfer1::ILogger {
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kWARNING) std::fprintf(stderr, "camshaft-slim: %s\n", message);
  }
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes a smaller ONNX model that computes the same, and says what went.");
  std::string in, out;
  bool json = false;
  app.add_option("IN", in, "the model to read")->required();
  app.add_option("OUT", out, "the file to write; weights of models over 2 GiB go into OUT.data")
      ->required();
  app.add_flag("--json", json, "say what went as JSON");
  CLI11_PARSE(app, argc, argv);

  Logger logger;
  const std::unique_ptr<camshaft::ISlimModel> model(camshaft::slimModelFile(in.c_str(), logger));
  if (!model || !model->writeFile(out.c_str())) return 1;
  std::printf("%s\n", json ? model->reportJson() : model->reportTable());
  return 0;
}
