// What all layers share: parameters that emit nodes, and the transaction that changes them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/implements.h"
#include "api/layers/emit.h"
#include "api/report.h"

namespace camshaft::api {

class Network;
class Tensor;

// A layer as its network keeps it: the nodes it stands for and the tensors around them.
class LayerCore {
 public:
  LayerCore(Network& network, nvinfer1::LayerType type, std::string name)
      : network(network), type(type), name(std::move(name)) {}
  virtual ~LayerCore() = default;

  virtual nvinfer1::ILayer* interface() = 0;
  // Adds the layer's nodes, from its parameters, and returns its outputs.
  virtual std::vector<Value*> emit(Emission& at) const = 0;
  // The sizes of the only output while parameters misfit that are set one by one: builds refuse
  // them then, and not the call that comes too early.
  virtual std::optional<Shape> pendingSizes(const Emission& /*at*/) const { return std::nullopt; }
  virtual int32_t maxInputs() const = 0;
  // Whether this input may be computed from the layer's own output: a recurrence's next value.
  virtual bool leadsBack(int32_t /*input*/) const { return false; }
  // Takes the parameters from the node again, after a change of symbols; for parsed layers.
  virtual void readAgain() = 0;

  Network& network;
  nvinfer1::LayerType type;
  std::string name, metadata;
  bool hasOwnMetadata = false;  // the user's, not what a parsed one begins with
  PrecisionRequest precision;   // what the user asked for; builds hand it to the nodes
  std::string problem;          // why it cannot be built yet, a sentence; empty: it can
  std::vector<Tensor*> inputs;  // null: absent
  std::vector<Tensor*> outputs;
  std::vector<Node*> nodes;  // in order; none for a constant
  bool removed = false;      // from the network, with its last tensor
  bool parsed = false;       // made from the nodes it stands for, and not edited since
  int64_t serial = -1;       // order of addition; -1 for a parsed one

  // What every ILayer does, without its template.
  void setName(const char* text) noexcept;
  void setMetadata(const char* text) noexcept;
  nvinfer1::ITensor* input(int32_t index) const;
  nvinfer1::ITensor* output(int32_t index) const;
  void setInput(int32_t index, nvinfer1::ITensor& tensor) noexcept;
  void setPrecision(nvinfer1::DataType type) noexcept;
  nvinfer1::DataType precisionOr(nvinfer1::DataType otherwise) const noexcept;
  void setOutputType(int32_t index, nvinfer1::DataType type) noexcept;
  nvinfer1::DataType outputType(int32_t index) const noexcept;
  void resetOutputType(int32_t index) noexcept;
  bool setNbRanks(int32_t count) const noexcept;
  const Reporter& reporter() const;
  void rebuild(const std::function<void()>& undo);
};

// A layer's class, its table, and the table of all layers.
template <class I>
class ImplementsLayer : public Implements<I>, public nvinfer1::apiv::VLayer {
 protected:
  ImplementsLayer() { this->mLayer = this; }
};
template <>
class ImplementsLayer<nvinfer1::ILayer> : public nvinfer1::ILayer, public nvinfer1::apiv::VLayer {
 protected:
  ImplementsLayer() { mLayer = this; }
};

// Interface I over parameters P, a copyable struct with
//   static constexpr nvinfer1::LayerType kType; static constexpr int32_t kMaxInputs;
//   std::vector<Value*> emit(Emission& at) const;
//   void read(const Node& node);  // when a node of a parsed model can be such a layer
//   Shape pendingSizes(const Emission& at) const;  // when it may be incomplete for a while
template <class I, class P>
class LayerOf : public ImplementsLayer<I>, public LayerCore {
 public:
  using Params = P;
  LayerOf(Network& network, std::string name, P params)
      : LayerCore(network, P::kType, std::move(name)), params_(std::move(params)) {}

  nvinfer1::ILayer* interface() override { return this; }
  std::vector<Value*> emit(Emission& at) const override { return params_.emit(at); }
  std::optional<Shape> pendingSizes(const Emission& at) const override {
    if constexpr (requires { params_.pendingSizes(at); })
      return params_.pendingSizes(at);
    else
      return std::nullopt;
  }
  int32_t maxInputs() const override { return P::kMaxInputs; }
  void readAgain() override {
    if constexpr (requires(P& params, const Node& node) { params.read(node); })
      params_.read(*nodes.front());
  }

  nvinfer1::LayerType getType() const noexcept override { return type; }
  void setName(const char* text) noexcept override { LayerCore::setName(text); }
  const char* getName() const noexcept override { return name.c_str(); }
  int32_t getNbInputs() const noexcept override { return static_cast<int32_t>(inputs.size()); }
  nvinfer1::ITensor* getInput(int32_t index) const noexcept override { return input(index); }
  int32_t getNbOutputs() const noexcept override { return static_cast<int32_t>(outputs.size()); }
  nvinfer1::ITensor* getOutput(int32_t index) const noexcept override { return output(index); }
  void setInput(int32_t index, nvinfer1::ITensor& tensor) noexcept override {
    LayerCore::setInput(index, tensor);
  }
  void setPrecision(nvinfer1::DataType type) noexcept override { LayerCore::setPrecision(type); }
  nvinfer1::DataType getPrecision() const noexcept override {
    return precisionOr(nvinfer1::DataType::kFLOAT);
  }
  bool precisionIsSet() const noexcept override { return precision.compute.has_value(); }
  void resetPrecision() noexcept override { precision.compute.reset(); }
  void setOutputType(int32_t index, nvinfer1::DataType type) noexcept override {
    LayerCore::setOutputType(index, type);
  }
  nvinfer1::DataType getOutputType(int32_t index) const noexcept override {
    return outputType(index);
  }
  bool outputTypeIsSet(int32_t index) const noexcept override {
    return index >= 0 && precision.output(static_cast<size_t>(index)).has_value();
  }
  void resetOutputType(int32_t index) noexcept override { LayerCore::resetOutputType(index); }
  void setMetadata(const char* text) noexcept override { LayerCore::setMetadata(text); }
  const char* getMetadata() const noexcept override { return metadata.c_str(); }
  bool setNbRanks(int32_t count) noexcept override { return LayerCore::setNbRanks(count); }
  int32_t getNbRanks() const noexcept override { return 1; }

 protected:
  // f(params) and what follows from it; on failure all is as before and the reason is reported.
  // A parameter that an input gave takes the input's place: it is absent from then on.
  template <class F>
  bool change(F&& f, int32_t replacedInput = -1) noexcept {
    return guarded(reporter(), false, [&] {
      P next = params_;
      f(next);
      std::vector<Tensor*> left = inputs;
      if (input(replacedInput)) left[static_cast<size_t>(replacedInput)] = nullptr;
      std::swap(params_, next);
      std::swap(inputs, left);
      rebuild([&] {
        std::swap(params_, next);
        std::swap(inputs, left);
      });
      return true;
    });
  }
  // change() of one field.
  template <class Field, class V>
  bool set(Field field, V&& value) noexcept {
    return change([&](P& params) { params.*field = std::forward<V>(value); });
  }

  P params_;
};

}  // namespace camshaft::api
