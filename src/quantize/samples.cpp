#include "quantize/samples.h"

#include <algorithm>
#include <unordered_set>

#include "onnx/import.h"
#include "support/cpu_info.h"

namespace camshaft {

std::vector<std::string> inputNames(const onnx::Model& model) {
  std::unordered_set<std::string_view> defaults;
  for (const auto& tensor : model.graph.initializers) defaults.insert(tensor.name);
  std::vector<std::string> names;
  for (const auto& input : model.graph.inputs)
    if (!defaults.contains(input.name)) names.emplace_back(input.name);
  return names;
}

SampleRunner::SampleRunner(const Samples& samples, std::vector<std::string> inputs, int threads)
    : samples_(samples), inputs_(std::move(inputs)) {
  if (samples.count() < 1)
    fail(ErrorKind::kInvalidArgument, "there is no calibration data: give at least one sample");
  options_.threads = threads > 0 ? threads : usableCores();
  ShapeProfile& profile = options_.profiles.emplace_back();
  for (int sample = 0; sample < samples.count(); ++sample) {
    const std::vector<SampleInput> given = samples.at(sample);
    CAMSHAFT_CHECK(given.size() == inputs_.size(), "a sample has another number of inputs");
    for (size_t i = 0; i < given.size(); ++i) {
      InputRange& range = profile.inputs[inputs_[i]];
      const auto& dims = given[i].dims;
      if (sample == 0) range = {dims, dims, dims};
      if (dims.size() != range.min.size())
        fail(ErrorKind::kInvalidArgument, "input '", inputs_[i], "' has ", dims.size(),
             " dimensions in sample ", sample, ", and ", range.min.size(), " in sample 0");
      for (size_t dim = 0; dim < dims.size(); ++dim) {
        range.min[dim] = std::min(range.min[dim], dims[dim]);
        range.max[dim] = std::max(range.max[dim], dims[dim]);
      }
    }
  }
}

std::unique_ptr<ObservedNetwork> SampleRunner::build(const onnx::LoadedModel& model,
                                                     const TensorNames& tensors,
                                                     TensorObserver observer) const {
  Graph graph;
  onnx::ImportOptions options;
  options.keepCopies = true;
  const auto problems = onnx::importModel(model, graph, options);
  if (!problems.empty()) throw Error(problems.front().kind, problems.front().message);
  return std::make_unique<ObservedNetwork>(std::move(graph), options_, std::move(observer),
                                           &tensors);
}

}  // namespace camshaft
