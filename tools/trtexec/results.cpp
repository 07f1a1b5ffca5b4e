#include "results.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "files.h"
#include "options/values.h"

namespace trtexec {
namespace {

std::string outputsJson(const Stream& stream) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& tensor : stream.tensors()) {
    if (tensor->isInput()) continue;
    std::vector<double> values;
    for (size_t i = 0; i < tensor->count(); ++i) values.push_back(tensor->valueAt(i));
    list.push_back(
        {{"name", tensor->name()}, {"dimensions", tensor->dimsText()}, {"values", values}});
  }
  return textOf(list);
}

void printOutputs(const Stream& stream, ConsoleLogger& log) {
  constexpr size_t kShown = 64;
  log.info("Output Tensors:");
  for (const auto& tensor : stream.tensors()) {
    if (tensor->isInput()) continue;
    log.info(tensor->name() + ": (" + tensor->dimsText() + ")");
    std::string line;
    for (size_t i = 0; i < std::min(tensor->count(), kShown); ++i)
      line += std::to_string(tensor->valueAt(i)) + " ";
    log.info(line + (tensor->count() > kShown ? "..." : ""));
  }
}

void writeTensors(const Stream& stream, ConsoleLogger& log) {
  log.info("Dumping I/O Bindings to RAW Files:");
  for (const auto& tensor : stream.tensors()) {
    const std::string direction = tensor->isInput() ? "input" : "output";
    const std::string file =
        fileNameOf(tensor->name() + "." + direction + "." + textOf(tensor->dims(), ".") + "." +
                   nameOf(tensor->type()) + ".raw");
    writeFile(file, {tensor->hostData(), tensor->bytes()}, log);
    log.info("Writing file for " + direction + " binding " + tensor->name() + " (with datatype " +
             nameOf(tensor->type()) + " and dimensions " + textOf(tensor->dims(), ".") + ") to " +
             file);
  }
}

struct Losses {
  double beyond = 0, absolute = 0, squared = 0, largest = 0;
  double product = 0, ownSquares = 0, wantedSquares = 0;

  void add(double own, double wanted, const InferenceOptions& inference) {
    const double error = std::abs(own - wanted);
    const double allowed =
        inference.absoluteTolerance + inference.relativeTolerance * std::abs(wanted);
    beyond += error <= allowed ? 0 : 1;  // a NaN is beyond
    absolute += error;
    squared += error * error;
    largest = std::isnan(error) ? error : std::max(largest, error);
    product += own * wanted;
    ownSquares += own * own;
    wantedSquares += wanted * wanted;
  }

  double of(AccuracyLoss kind, double count) const {
    switch (kind) {
      case AccuracyLoss::kL0:
        return beyond / count;
      case AccuracyLoss::kL1:
        return absolute / count;
      case AccuracyLoss::kL2:
        return squared / count;
      case AccuracyLoss::kLInf:
        return largest;
      case AccuracyLoss::kCosine:
        break;
    }
    const double lengths = std::sqrt(ownSquares) * std::sqrt(wantedSquares);
    if (lengths == 0) return ownSquares == wantedSquares ? 0 : 1;
    return 1 - product / lengths;
  }
};

double lossOf(const IoTensor& tensor, const std::vector<char>& wanted, const std::string& file,
              const InferenceOptions& inference) {
  if (!hasWholeBytes(tensor.type()))
    throw std::runtime_error("--loadRefOutputs names '" + tensor.name() +
                             "', whose elements are narrower than a byte");
  if (wanted.size() != tensor.bytes())
    throw std::runtime_error("'" + file + "' has " + std::to_string(wanted.size()) +
                             " bytes and output '" + tensor.name() + "' of shape " +
                             tensor.dimsText() + " has " + std::to_string(tensor.bytes()));
  Losses losses;
  for (size_t i = 0; i < tensor.count(); ++i)
    losses.add(tensor.valueAt(i), valueAt(tensor.type(), wanted.data(), i), inference);
  return tensor.count() == 0 ? 0 : losses.of(inference.loss, static_cast<double>(tensor.count()));
}

const IoTensor& outputNamed(const Stream& stream, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& tensor : stream.tensors()) {
    if (tensor->isInput()) continue;
    if (tensor->name() == name) return *tensor;
    names.push_back(tensor->name());
  }
  throw std::runtime_error("--loadRefOutputs names '" + name +
                           "', which is no output of the engine; it has " +
                           listed({names.begin(), names.end()}));
}

}  // namespace

std::string fileNameOf(const std::string& name) {
  std::string safe = name;
  for (char& letter : safe)
    if (!std::isalnum(static_cast<unsigned char>(letter)) && letter != '.' && letter != '-')
      letter = '_';
  return safe;
}

void reportResults(Stream& stream, const ReportingOptions& reporting, ConsoleLogger& log) {
  if (!reporting.dumpOutput && !reporting.dumpRawBindings && reporting.exportOutput.empty()) return;
  stream.fetchOutputs();
  if (reporting.dumpOutput) printOutputs(stream, log);
  if (reporting.dumpRawBindings) writeTensors(stream, log);
  if (!reporting.exportOutput.empty()) writeFile(reporting.exportOutput, outputsJson(stream), log);
}

bool checkAccuracy(Stream& stream, const InferenceOptions& inference, ConsoleLogger& log) {
  static constexpr const char* kNames[] = {"L0", "L1", "L2", "LInf", "Cosine"};
  bool isGood = true, hasRun = false;
  for (const auto& [index, pair] : inference.pairs) {
    if (pair.outputs.empty()) continue;
    stream.setInputs(pair.inputs);
    stream.run();
    stream.fetchOutputs();
    hasRun = true;
    for (const auto& [name, file] : pair.outputs) {
      const double loss = lossOf(outputNamed(stream, name), readFile(file), file, inference);
      const bool isNear = !inference.lossThreshold || loss <= *inference.lossThreshold;
      log.info("Accuracy loss for tensor " + name + " (" +
               kNames[static_cast<size_t>(inference.loss)] + "): " + std::to_string(loss) +
               (isNear ? "" : " [FAIL: > threshold " + number(*inference.lossThreshold) + "]"));
      isGood = isGood && isNear;
    }
  }
  if (hasRun) stream.setInputs(inference.pairs.begin()->second.inputs);
  return isGood;
}

}  // namespace trtexec
