#include "onnxruntime/subgraph_runner.h"

#include <algorithm>
#include <unordered_map>

#include "support/error.h"

namespace camshaft::ort {

namespace {

constexpr size_t kMostEngines = 8;  // of a subgraph whose sizes cannot be put into one

bool isFixed(const std::vector<int64_t>& shape) {
  return std::ranges::none_of(shape, [](int64_t size) { return size < 0; });
}

std::vector<ShapeRange> exactly(std::span<const std::span<const int64_t>> shapes) {
  std::vector<ShapeRange> ranges;
  for (const std::span<const int64_t> shape : shapes) {
    const std::vector<int64_t> sizes(shape.begin(), shape.end());
    ranges.push_back({sizes, sizes, sizes});
  }
  return ranges;
}

// What an engine takes, and these shapes too; sizes that never changed stay fixed.
std::vector<ShapeRange> widened(std::vector<ShapeRange> ranges,
                                std::span<const std::span<const int64_t>> shapes) {
  for (size_t i = 0; i < ranges.size(); ++i)
    for (size_t k = 0; k < shapes[i].size(); ++k) {
      const int64_t size = shapes[i][k];
      int64_t& min = ranges[i].min[k];
      int64_t& max = ranges[i].max[k];
      ranges[i].opt[k] = size;
      if (min == max && size == max) continue;
      const bool wasRange = min < max;
      min = std::min({min, size, int64_t{1}});
      if (size > max) max = wasRange ? std::max(size, 2 * max) : size;
    }
  return ranges;
}

}  // namespace

SubgraphRunner::SubgraphRunner(const OrtApi& api, EngineBuilder& builder, Logger& logger,
                               const Options& options, SubgraphModel model,
                               std::span<const std::string> inputs,
                               std::vector<std::string> outputs)
    : api_(api), builder_(builder), logger_(logger) {
  std::unordered_map<std::string_view, size_t> slots;
  for (size_t i = 0; i < inputs.size(); ++i) slots[inputs[i]] = i;
  subgraph_ = {.bytes = std::move(model.bytes),
               .inputs = std::move(model.inputs),
               .outputs = std::move(outputs)};
  for (const ModelInput& input : subgraph_.inputs) inputSlots_.push_back(slots.at(input.name));
  for (const Weight& weight : model.weights)
    if (const auto slot = slots.find(weight.name); slot != slots.end())
      weightSlots_.push_back({weight.name, slot->second});
  const std::vector<ShapeRange> ranges = givenRanges(options);
  const bool knowsSizes = ranges.size() == subgraph_.inputs.size();
  canRebuild_ = !knowsSizes && weightSlots_.size() == model.weights.size();

  if (!options.engineCache.empty()) {
    const SubgraphModel whole{subgraph_.bytes, model.weights, {}};
    subgraph_.name = builder_.nameOf(whole);
    if (auto engine = builder_.load(subgraph_)) {
      add(std::move(engine), true);
      return;
    }
  }
  if (knowsSizes)
    add(builder_.build(subgraph_, model.weights, ranges, true), true);
  else if (!canRebuild_)
    fail(ErrorKind::kInternal, "a subgraph of run-time sizes has lost its weights");
}

// One for each input, or fewer where the sizes of some are not known.
std::vector<ShapeRange> SubgraphRunner::givenRanges(const Options& options) const {
  std::vector<ShapeRange> ranges;
  for (const ModelInput& input : subgraph_.inputs) {
    if (options.hasProfile(input.name)) {
      ranges.push_back(options.shapes.at(input.name));
    } else if (isFixed(input.shape)) {
      ranges.push_back({input.shape, input.shape, input.shape});
    }
  }
  return ranges;
}

std::shared_ptr<LoadedEngine> SubgraphRunner::add(std::unique_ptr<nvinfer1::ICudaEngine> engine,
                                                  bool replacesOthers) {
  auto loaded = std::make_shared<LoadedEngine>(std::move(engine), subgraph_);
  const std::scoped_lock lock(mutex_);
  if (replacesOthers) engines_.clear();
  if (engines_.size() == kMostEngines) engines_.erase(engines_.begin());
  engines_.push_back(loaded);
  return loaded;
}

std::shared_ptr<LoadedEngine> SubgraphRunner::findEngine(
    std::span<const std::span<const int64_t>> shapes) const {
  const std::scoped_lock lock(mutex_);
  for (const auto& engine : engines_)
    if (engine->holds(shapes)) return engine;
  return nullptr;
}

std::shared_ptr<LoadedEngine> SubgraphRunner::engineFor(
    OrtKernelContext* context, std::span<const std::span<const int64_t>> shapes) {
  if (auto engine = findEngine(shapes)) return engine;
  if (!canRebuild_) {
    // Its own refusal names the input and the range.
    const std::scoped_lock lock(mutex_);
    return engines_.front();
  }
  const std::scoped_lock lock(building_);
  if (auto engine = findEngine(shapes)) return engine;  // another run has built it meanwhile
  return buildFor(shapes, weightsOf(context));
}

std::shared_ptr<LoadedEngine> SubgraphRunner::buildFor(
    std::span<const std::span<const int64_t>> shapes, std::span<const Weight> weights) {
  std::shared_ptr<LoadedEngine> last;
  {
    const std::scoped_lock lock(mutex_);
    if (!engines_.empty()) last = engines_.back();
  }
  if (!last) return add(builder_.build(subgraph_, weights, exactly(shapes), true), true);
  try {
    const std::vector<ShapeRange> ranges = widened(last->ranges(), shapes);
    return add(builder_.build(subgraph_, weights, ranges, true), true);
  } catch (const Error& error) {
    logger_.write(kOrtInfo, str("sizes get engines of their own: ", error.message()));
  }
  return add(builder_.build(subgraph_, weights, exactly(shapes), false), false);
}

std::vector<Weight> SubgraphRunner::weightsOf(OrtKernelContext* context) const {
  std::vector<Weight> weights;
  for (const auto& [name, slot] : weightSlots_) {
    const OrtValue* value = nullptr;
    api_.check(api_.KernelContext_GetInput(context, slot, &value));
    weights.push_back(
        {name, api_.get(api_.GetTensorData, value), api_.get(api_.GetTensorSizeInBytes, value)});
  }
  return weights;
}

void SubgraphRunner::run(OrtKernelContext* context) {
  builder_.releaseFreed();
  std::vector<RunInput> inputs(inputSlots_.size());
  std::vector<std::span<const int64_t>> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const OrtValue* value = nullptr;
    api_.check(api_.KernelContext_GetInput(context, inputSlots_[i], &value));
    int code = 0;
    const int64_t* sizes = nullptr;
    size_t count = 0;
    api_.check(api_.GetTensorElementTypeAndShapeDataReference(value, &code, &sizes, &count));
    inputs[i] = {api_.get(api_.GetTensorData, value), {sizes, count}, 0};
    inputs[i].bytes = api_.get(api_.GetTensorSizeInBytes, value);
    shapes.push_back(inputs[i].shape);
  }
  engineFor(context, shapes)->run(inputs, [&](size_t output, std::span<const int64_t> shape) {
    OrtValue* value = nullptr;
    api_.check(api_.KernelContext_GetOutput(context, output, shape.data(), shape.size(), &value));
    HostMemory memory;
    api_.check(api_.GetTensorMutableData(value, &memory.data));
    memory.bytes = api_.get(api_.GetTensorSizeInBytes, static_cast<const OrtValue*>(value));
    return memory;
  });
}

}  // namespace camshaft::ort
