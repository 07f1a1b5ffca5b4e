#include "api/algorithm_selector.h"

#include <algorithm>
#include <memory>

#include "api/convert.h"
#include "api/implements.h"
#include "support/error.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;

// Every tensor is contiguous and row-major, whichever the algorithm.
class IOInfo final : public Implements<IAlgorithmIOInfo> {
 public:
  explicit IOInfo(const TensorFacts& tensor)
      : type_(toPublic(tensor.type)), strides_(toPublic(tensor.opt)) {
    int64_t stride = 1;
    for (int32_t i = strides_.nbDims; i-- > 0;) {
      strides_.d[i] = stride;
      stride *= tensor.opt[static_cast<size_t>(i)];
    }
  }
  nvinfer1::DataType getDataType() const noexcept override { return type_; }
  nvinfer1::Dims getStrides() const noexcept override { return strides_; }
  int64_t getVectorizedDim() const noexcept override { return -1; }
  int64_t getComponentsPerElement() const noexcept override { return 1; }

 private:
  nvinfer1::DataType type_;
  nvinfer1::Dims strides_;
};

class Variant final : public Implements<IAlgorithmVariant> {
 public:
  explicit Variant(const Tactic& tactic) : tactic_(tactic) {}
  int64_t getImplementation() const noexcept override {
    return static_cast<int64_t>(tactic_.kernel);
  }
  int64_t getTactic() const noexcept override { return tactic_.config; }

 private:
  Tactic tactic_;
};

class LayerContext final : public Implements<IAlgorithmContext> {
 public:
  explicit LayerContext(LayerFacts layer) : layer_(std::move(layer)) {}
  const char* getName() const noexcept override { return layer_.name.c_str(); }
  int32_t getNbInputs() const noexcept override {
    return static_cast<int32_t>(layer_.inputs.size());
  }
  int32_t getNbOutputs() const noexcept override {
    return static_cast<int32_t>(layer_.outputs.size());
  }
  // Inputs come first.
  const TensorFacts* tensor(int32_t index) const {
    const int32_t inputs = getNbInputs();
    if (index < 0 || index >= inputs + getNbOutputs()) return nullptr;
    return index < inputs ? &layer_.inputs[static_cast<size_t>(index)]
                          : &layer_.outputs[static_cast<size_t>(index - inputs)];
  }
  nvinfer1::Dims getDimensions(int32_t index, OptProfileSelector select) const noexcept override {
    const TensorFacts* facts = tensor(index);
    if (!facts || facts->opt.size() > nvinfer1::Dims::MAX_DIMS) return invalidDims();
    return toPublic(select == OptProfileSelector::kMIN   ? facts->min
                    : select == OptProfileSelector::kMAX ? facts->max
                                                         : facts->opt);
  }

 private:
  LayerFacts layer_;
};

class Algorithm final : public Implements<IAlgorithm> {
 public:
  Algorithm(const LayerContext& layer, const Tactic& tactic) : tactic_(tactic), variant_(tactic) {
    for (int32_t i = 0; layer.tensor(i); ++i)
      tensors_.push_back(std::make_unique<IOInfo>(*layer.tensor(i)));
  }
  const IAlgorithmVariant& getAlgorithmVariant() const noexcept override { return variant_; }
  float getTimingMSec() const noexcept override {
    return static_cast<float>(std::max(tactic_.milliseconds, 0.0));
  }
  std::size_t getWorkspaceSize() const noexcept override {
    return static_cast<std::size_t>(tactic_.workspaceBytes);
  }
  const IAlgorithmIOInfo* getAlgorithmIOInfoByIndex(int32_t index) const noexcept override {
    const bool isThere = index >= 0 && static_cast<size_t>(index) < tensors_.size();
    return isThere ? tensors_[static_cast<size_t>(index)].get() : nullptr;
  }

 private:
  Tactic tactic_;
  Variant variant_;
  std::vector<std::unique_ptr<IOInfo>> tensors_;
};

template <class Pointer, class Object>
std::vector<const Pointer*> pointersTo(const std::vector<std::unique_ptr<Object>>& objects) {
  std::vector<const Pointer*> pointers;
  for (const auto& object : objects) pointers.push_back(object.get());
  return pointers;
}

}  // namespace

std::vector<size_t> SelectorAdapter::select(const LayerFacts& layer,
                                            std::span<const Tactic> tactics) {
  const LayerContext context(layer);
  std::vector<std::unique_ptr<Algorithm>> choices;
  for (const Tactic& tactic : tactics)
    choices.push_back(std::make_unique<Algorithm>(context, tactic));
  std::vector<int32_t> selection(tactics.size());
  const int32_t count =
      selector_.selectAlgorithms(context, pointersTo<IAlgorithm>(choices).data(),
                                 static_cast<int32_t>(choices.size()), selection.data());
  if (count < 0 || count > static_cast<int32_t>(tactics.size()))
    fail(ErrorKind::kInvalidArgument, "the algorithm selector chose ", count, " of the ",
         tactics.size(), " algorithms of layer '", layer.name, "'");
  if (count == 0 && rejectsEmpty_)
    fail(ErrorKind::kInvalidArgument, "the algorithm selector chose no algorithm for layer '",
         layer.name, "', which kREJECT_EMPTY_ALGORITHMS forbids");
  selection.resize(static_cast<size_t>(count));
  if (const auto wrong = std::ranges::find_if(selection, [](int32_t i) { return i < 0; });
      wrong != selection.end())
    fail(ErrorKind::kInvalidArgument, "the algorithm selector chose algorithm ", *wrong,
         " for layer '", layer.name, "', which there is not");
  return {selection.begin(), selection.end()};
}

void SelectorAdapter::report(std::span<const Selected> selected) {
  std::vector<std::unique_ptr<LayerContext>> contexts;
  std::vector<std::unique_ptr<Algorithm>> algorithms;
  for (const auto& [layer, tactic] : selected) {
    contexts.push_back(std::make_unique<LayerContext>(layer));
    algorithms.push_back(std::make_unique<Algorithm>(*contexts.back(), tactic));
  }
  selector_.reportAlgorithms(pointersTo<IAlgorithmContext>(contexts).data(),
                             pointersTo<IAlgorithm>(algorithms).data(),
                             static_cast<int32_t>(algorithms.size()));
}

}  // namespace camshaft::api
