#include "refit.h"

#include <chrono>
#include <memory>

#include "NvOnnxParser.h"
#include "require.h"

namespace trtexec {
namespace {

using namespace nvinfer1;

void refitFrom(const std::string& model, IRefitter& refitter, ConsoleLogger& log) {
  const std::unique_ptr<nvonnxparser::IParserRefitter> parser(
      nvonnxparser::createParserRefitter(refitter, log));
  require(parser && parser->refitFromFile(model.c_str()) && refitter.refitCudaEngine());
}

// Weights that have names of their own; a model's initializers.
void printWeights(IRefitter& refitter, ConsoleLogger& log) {
  std::vector<const char*> names(static_cast<size_t>(refitter.getAllWeights(0, nullptr)));
  refitter.getAllWeights(static_cast<int32_t>(names.size()), names.data());
  for (const char* name : names) log.info(name);
}

}  // namespace

bool lacksWeights(const ICudaEngine& engine) {
  return engine.getEngineStat(EngineStat::kSTRIPPED_WEIGHTS_SIZE) > 0;
}

void refit(ICudaEngine& engine, const Options& options, ConsoleLogger& log) {
  const std::string& other = options.build.refitFromOnnx;
  const bool isTimed = options.inference.timeRefit;
  // What was stripped of the model's weights runs with them.
  const bool isWanted =
      !other.empty() || isTimed || (lacksWeights(engine) && !options.build.skipInference);
  if (!isWanted && !options.reporting.dumpRefit) return;
  const std::unique_ptr<IRefitter> refitter(createInferRefitter(engine, log));
  require(refitter != nullptr);
  if (options.reporting.dumpRefit) printWeights(*refitter, log);
  const std::string& model = other.empty() ? options.model.onnx : other;
  if (model.empty()) {
    if (isTimed)
      log.warning("--timeRefit has no effect: give the weights with --refitFromOnnx=FILE.");
    return;
  }
  if (!isWanted) return;
  const auto start = std::chrono::steady_clock::now();
  refitFrom(model, *refitter, log);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  log.info("Engine refitted from " + model + " in " + std::to_string(taken.count()) + " ms.");
}

}  // namespace trtexec
