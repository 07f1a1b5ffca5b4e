// INetworkDefinition: a graph seen as layers and tensors.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api/implements.h"
#include "api/layers/layer.h"
#include "api/link.h"
#include "api/plugins/registry.h"
#include "api/report.h"
#include "api/tensor.h"
#include "ir/graph.h"
#include "plan/plan.h"
#include "support/room.h"

namespace camshaft {

struct CompileOptions;
struct RefitRequest;

}  // namespace camshaft

namespace camshaft::api {

class Block;

class Network final : public Implements<nvinfer1::INetworkDefinition> {
 public:
  Network(nvinfer1::NetworkDefinitionCreationFlags flags, nvinfer1::IBuilder& builder,
          std::shared_ptr<PluginRegistry> plugins, const Reporter& reporter);
  ~Network() override;

  Graph& graph() { return graph_; }
  bool isEmpty() const { return graph_.nodeCount() == 0 && tensorOfValue_.empty(); }
  void setGraph(Graph graph);  // of an empty network: what the parser read
  Link<Network> link() const { return anchor_.link(); }
  void keepAlive(std::shared_ptr<const void> memory) { kept_.push_back(std::move(memory)); }
  // A copy for one build. Throws when a layer still lacks something it needs.
  Graph graphToBuild() const;
  // The same without what its borders ask for: inputs are as layers read them, and tensors have the
  // names that callers know.
  Graph graphToCalibrate() const;
  // graphToBuild(), with what else it asks of a build in its options.
  Graph graphFor(CompileOptions& options) const;
  // Of layers and tensors, by name.
  void setPrecisions(const std::map<std::string, DataType>& layers, const TensorRanges& ranges);
  TensorRanges tensorRanges() const;  // that callers have set
  bool hasQuantization() const;       // layers that quantise, so that ranges say nothing
  // What is made of it; of the options, profiles are of the tensors as callers know them.
  // network_build.cpp; `refit` says how the engine can be refitted, if it can.
  Plan compiled(CompileOptions options, const std::optional<RefitRequest>& refit) const;

  PluginRegistry& plugins() const { return *plugins_; }  // the builder's
  // What callers know weights by: the name they gave, the model's, or that of the layer.
  std::string weightsNameOf(const Value& constant) const;
  std::map<std::string, std::string> constantLayers() const;  // by their constants' names
  const std::set<std::string, std::less<>>& refittableWeights() const { return refittableWeights_; }

  // For tensors and layers.
  const Reporter& reporter() const { return reporter_; }
  Tensor* tensorOf(Value* value);                // the one object for this value
  Tensor* own(nvinfer1::ITensor& tensor) const;  // throws when it is not of this network
  LayerCore* layerOf(Node* node);                // null for a node that only binds dimensions
  LayerCore* producerOf(const Tensor& tensor);   // null for an input
  // Emits the layer again after its parameters changed, and everything the change reaches. On
  // failure `undo`, which does not throw, restores the parameters, the graph is as it was, and the
  // error goes on. After a change of inputs the nodes may need another order.
  void rebuild(LayerCore& layer, const std::function<void()>& undo, bool reorder = false);
  void setLayerInput(LayerCore& layer, int32_t index, nvinfer1::ITensor& tensor);
  // Several at once, from `first` on; null: it has none any more.
  void setLayerInputs(LayerCore& layer, int32_t first, std::span<nvinfer1::ITensor* const> tensors);
  void setInputShape(Tensor& input, const Shape& shape);
  void nameDimension(Tensor& input, int32_t index, const std::string& symbol);

  // network_add.h: a new layer of class L, or null with the reason reported.
  template <class L, class MakeParams>
  L* add(const char* kind, std::span<nvinfer1::ITensor* const> inputs,
         MakeParams&& makeParams) noexcept;
  template <class L, class MakeParams>
  L* add(const char* kind, std::initializer_list<nvinfer1::ITensor*> inputs,
         MakeParams&& makeParams) noexcept {
    return add<L>(kind, std::span(inputs.begin(), inputs.size()), makeParams);
  }

  void setName(const char* name) noexcept override;
  const char* getName() const noexcept override { return graph_.name.c_str(); }
  nvinfer1::NetworkDefinitionCreationFlags getFlags() const noexcept override { return flags_; }
  bool getFlag(nvinfer1::NetworkDefinitionCreationFlag flag) const noexcept override {
    return guarded(reporter_, false, [&] {
      requireKnown(flag, "network flag");
      return ((flags_ >> static_cast<uint32_t>(flag)) & 1) != 0;
    });
  }
  bool hasImplicitBatchDimension() const noexcept override { return false; }
  nvinfer1::IBuilder& getBuilder() const noexcept override { return builder_; }
  void setErrorRecorder(nvinfer1::IErrorRecorder* recorder) noexcept override {
    reporter_.setRecorder(recorder);
  }
  nvinfer1::IErrorRecorder* getErrorRecorder() const noexcept override {
    return reporter_.recorder();
  }

  nvinfer1::ITensor* addInput(const char* name, nvinfer1::DataType type,
                              const nvinfer1::Dims& dims) noexcept override;
  void markOutput(nvinfer1::ITensor& tensor) noexcept override;
  void unmarkOutput(nvinfer1::ITensor& tensor) noexcept override;
  void removeTensor(nvinfer1::ITensor& tensor) noexcept override;
  bool markOutputForShapes(nvinfer1::ITensor& tensor) noexcept override;
  bool unmarkOutputForShapes(nvinfer1::ITensor& tensor) noexcept override;

  int32_t getNbLayers() const noexcept override;
  nvinfer1::ILayer* getLayer(int32_t index) const noexcept override;
  int32_t getNbInputs() const noexcept override {
    return static_cast<int32_t>(graph_.inputs.size());
  }
  nvinfer1::ITensor* getInput(int32_t index) const noexcept override;
  int32_t getNbOutputs() const noexcept override {
    return static_cast<int32_t>(graph_.outputs.size());
  }
  nvinfer1::ITensor* getOutput(int32_t index) const noexcept override;

  nvinfer1::IConvolutionLayer* addConvolutionNd(nvinfer1::ITensor& input, int64_t maps,
                                                const nvinfer1::Dims& kernelSize,
                                                nvinfer1::Weights kernel,
                                                nvinfer1::Weights bias) noexcept override;
  nvinfer1::IDeconvolutionLayer* addDeconvolutionNd(nvinfer1::ITensor& input, int64_t maps,
                                                    const nvinfer1::Dims& kernelSize,
                                                    nvinfer1::Weights kernel,
                                                    nvinfer1::Weights bias) noexcept override;
  nvinfer1::IPoolingLayer* addPoolingNd(nvinfer1::ITensor& input, nvinfer1::PoolingType type,
                                        const nvinfer1::Dims& windowSize) noexcept override;
  nvinfer1::IActivationLayer* addActivation(nvinfer1::ITensor& input,
                                            nvinfer1::ActivationType type) noexcept override;
  nvinfer1::IParametricReLULayer* addParametricReLU(nvinfer1::ITensor& input,
                                                    nvinfer1::ITensor& slope) noexcept override;
  nvinfer1::IScaleLayer* addScale(nvinfer1::ITensor& input, nvinfer1::ScaleMode mode,
                                  nvinfer1::Weights shift, nvinfer1::Weights scale,
                                  nvinfer1::Weights power) noexcept override;
  nvinfer1::IScaleLayer* addScaleNd(nvinfer1::ITensor& input, nvinfer1::ScaleMode mode,
                                    nvinfer1::Weights shift, nvinfer1::Weights scale,
                                    nvinfer1::Weights power, int32_t channelAxis) noexcept override;
  nvinfer1::IElementWiseLayer* addElementWise(nvinfer1::ITensor& input1, nvinfer1::ITensor& input2,
                                              nvinfer1::ElementWiseOperation op) noexcept override;
  nvinfer1::IUnaryLayer* addUnary(nvinfer1::ITensor& input,
                                  nvinfer1::UnaryOperation op) noexcept override;
  nvinfer1::ISelectLayer* addSelect(nvinfer1::ITensor& condition, nvinfer1::ITensor& thenInput,
                                    nvinfer1::ITensor& elseInput) noexcept override;
  nvinfer1::ICastLayer* addCast(nvinfer1::ITensor& input,
                                nvinfer1::DataType toType) noexcept override;
  nvinfer1::ISoftMaxLayer* addSoftMax(nvinfer1::ITensor& input) noexcept override;
  nvinfer1::INormalizationLayer* addNormalization(nvinfer1::ITensor& input,
                                                  nvinfer1::ITensor& scale, nvinfer1::ITensor& bias,
                                                  uint32_t axesMask) noexcept override;
  nvinfer1::INormalizationLayer* addNormalizationV2(nvinfer1::ITensor& input,
                                                    nvinfer1::ITensor& scale,
                                                    nvinfer1::ITensor& bias,
                                                    uint32_t axesMask) noexcept override;
  nvinfer1::IReduceLayer* addReduce(nvinfer1::ITensor& input, nvinfer1::ReduceOperation op,
                                    uint32_t axes, bool keepDimensions) noexcept override;
  nvinfer1::ITopKLayer* addTopK(nvinfer1::ITensor& input, nvinfer1::TopKOperation op, int32_t k,
                                uint32_t axes) noexcept override;
  nvinfer1::ITopKLayer* addTopKV2(nvinfer1::ITensor& input, nvinfer1::TopKOperation op, int32_t k,
                                  uint32_t axes, nvinfer1::DataType indicesType) noexcept override;
  nvinfer1::ICumulativeLayer* addCumulative(nvinfer1::ITensor& input, nvinfer1::ITensor& axis,
                                            nvinfer1::CumulativeOperation op, bool exclusive,
                                            bool reverse) noexcept override;
  nvinfer1::IMatrixMultiplyLayer* addMatrixMultiply(
      nvinfer1::ITensor& input0, nvinfer1::MatrixOperation op0, nvinfer1::ITensor& input1,
      nvinfer1::MatrixOperation op1) noexcept override;
  nvinfer1::IEinsumLayer* addEinsum(nvinfer1::ITensor* const* inputs, int32_t nbInputs,
                                    const char* equation) noexcept override;
  nvinfer1::IConstantLayer* addConstant(const nvinfer1::Dims& dims,
                                        nvinfer1::Weights weights) noexcept override;
  nvinfer1::IIdentityLayer* addIdentity(nvinfer1::ITensor& input) noexcept override;
  nvinfer1::IShapeLayer* addShape(nvinfer1::ITensor& input) noexcept override;
  nvinfer1::IConcatenationLayer* addConcatenation(nvinfer1::ITensor* const* inputs,
                                                  int32_t nbInputs) noexcept override;
  nvinfer1::IShuffleLayer* addShuffle(nvinfer1::ITensor& input) noexcept override;
  nvinfer1::ISqueezeLayer* addSqueeze(nvinfer1::ITensor& input,
                                      nvinfer1::ITensor& axes) noexcept override;
  nvinfer1::IUnsqueezeLayer* addUnsqueeze(nvinfer1::ITensor& input,
                                          nvinfer1::ITensor& axes) noexcept override;
  nvinfer1::ISliceLayer* addSlice(nvinfer1::ITensor& input, const nvinfer1::Dims& start,
                                  const nvinfer1::Dims& size,
                                  const nvinfer1::Dims& stride) noexcept override;
  nvinfer1::IGatherLayer* addGather(nvinfer1::ITensor& data, nvinfer1::ITensor& indices,
                                    int32_t axis) noexcept override;
  nvinfer1::IGatherLayer* addGatherV2(nvinfer1::ITensor& data, nvinfer1::ITensor& indices,
                                      nvinfer1::GatherMode mode) noexcept override;
  nvinfer1::IOneHotLayer* addOneHot(nvinfer1::ITensor& indices, nvinfer1::ITensor& values,
                                    nvinfer1::ITensor& depth, int32_t axis) noexcept override;
  nvinfer1::IResizeLayer* addResize(nvinfer1::ITensor& input) noexcept override;
  nvinfer1::ILRNLayer* addLRN(nvinfer1::ITensor& input, int64_t window, float alpha, float beta,
                              float k) noexcept override;
  nvinfer1::IFillLayer* addFill(const nvinfer1::Dims& dimensions,
                                nvinfer1::FillOperation op) noexcept override;
  nvinfer1::IFillLayer* addFillV2(const nvinfer1::Dims& dimensions, nvinfer1::FillOperation op,
                                  nvinfer1::DataType outputType) noexcept override;
  nvinfer1::IPaddingLayer* addPaddingNd(nvinfer1::ITensor& input, const nvinfer1::Dims& prePadding,
                                        const nvinfer1::Dims& postPadding) noexcept override;
  nvinfer1::IScatterLayer* addScatter(nvinfer1::ITensor& data, nvinfer1::ITensor& indices,
                                      nvinfer1::ITensor& updates,
                                      nvinfer1::ScatterMode mode) noexcept override;
  nvinfer1::IReverseSequenceLayer* addReverseSequence(
      nvinfer1::ITensor& input, nvinfer1::ITensor& sequenceLens) noexcept override;
  nvinfer1::IGridSampleLayer* addGridSample(nvinfer1::ITensor& input,
                                            nvinfer1::ITensor& grid) noexcept override;
  nvinfer1::INonZeroLayer* addNonZero(nvinfer1::ITensor& input) noexcept override;
  nvinfer1::INonZeroLayer* addNonZeroV2(nvinfer1::ITensor& input,
                                        nvinfer1::DataType indicesType) noexcept override;
  nvinfer1::INMSLayer* addNMS(nvinfer1::ITensor& boxes, nvinfer1::ITensor& scores,
                              nvinfer1::ITensor& maxOutputBoxesPerClass) noexcept override;
  nvinfer1::INMSLayer* addNMSV2(nvinfer1::ITensor& boxes, nvinfer1::ITensor& scores,
                                nvinfer1::ITensor& maxOutputBoxesPerClass,
                                nvinfer1::DataType indicesType) noexcept override;
  nvinfer1::IRaggedSoftMaxLayer* addRaggedSoftMax(nvinfer1::ITensor& input,
                                                  nvinfer1::ITensor& bounds) noexcept override;
  nvinfer1::IAssertionLayer* addAssertion(nvinfer1::ITensor& condition,
                                          const char* message) noexcept override;
  nvinfer1::IQuantizeLayer* addQuantize(nvinfer1::ITensor& input,
                                        nvinfer1::ITensor& scale) noexcept override;
  nvinfer1::IQuantizeLayer* addQuantizeV2(nvinfer1::ITensor& input, nvinfer1::ITensor& scale,
                                          nvinfer1::DataType outputType) noexcept override;
  nvinfer1::IDequantizeLayer* addDequantize(nvinfer1::ITensor& input,
                                            nvinfer1::ITensor& scale) noexcept override;
  nvinfer1::IDequantizeLayer* addDequantizeV2(nvinfer1::ITensor& input, nvinfer1::ITensor& scale,
                                              nvinfer1::DataType outputType) noexcept override;
  nvinfer1::IDynamicQuantizeLayer* addDynamicQuantize(
      nvinfer1::ITensor& input, int32_t axis, int32_t blockSize, nvinfer1::DataType toType,
      nvinfer1::DataType scaleType) noexcept override;
  nvinfer1::IDynamicQuantizeLayer* addDynamicQuantizeV2(
      nvinfer1::ITensor& input, const nvinfer1::Dims& blockShape, nvinfer1::DataType toType,
      nvinfer1::DataType scaleType) noexcept override;

  nvinfer1::IPluginV2Layer* addPluginV2(nvinfer1::ITensor* const* inputs, int32_t nbInputs,
                                        nvinfer1::IPluginV2& plugin) noexcept override;
  nvinfer1::IPluginV3Layer* addPluginV3(nvinfer1::ITensor* const* inputs, int32_t nbInputs,
                                        nvinfer1::ITensor* const* shapeInputs,
                                        int32_t nbShapeInputs,
                                        nvinfer1::IPluginV3& plugin) noexcept override;

  // api/layers/conditional.cpp, loop.cpp, attention.cpp, transformer.cpp
  nvinfer1::IIfConditional* addIfConditional() noexcept override;
  nvinfer1::ILoop* addLoop() noexcept override;
  nvinfer1::IAttention* addAttention(nvinfer1::ITensor& query, nvinfer1::ITensor& key,
                                     nvinfer1::ITensor& value,
                                     nvinfer1::AttentionNormalizationOp normOp,
                                     bool isCausal) noexcept override;
  nvinfer1::IAttention* addAttentionV2(nvinfer1::ITensor& query, nvinfer1::ITensor& key,
                                       nvinfer1::ITensor& value,
                                       nvinfer1::AttentionNormalizationOp normOp,
                                       nvinfer1::CausalMaskKind causalKind) noexcept override;
  nvinfer1::IRotaryEmbeddingLayer* addRotaryEmbedding(nvinfer1::ITensor& input,
                                                      nvinfer1::ITensor& cosCache,
                                                      nvinfer1::ITensor& sinCache, bool interleaved,
                                                      int32_t rotaryEmbeddingDim) noexcept override;
  nvinfer1::IKVCacheUpdateLayer* addKVCacheUpdate(
      nvinfer1::ITensor& cache, nvinfer1::ITensor& update, nvinfer1::ITensor& writeIndices,
      nvinfer1::KVCacheMode cacheMode) noexcept override;
  nvinfer1::IMoELayer* addMoE(nvinfer1::ITensor& hiddenStates,
                              nvinfer1::ITensor& selectedExpertsForTokens,
                              nvinfer1::ITensor& scoresForSelectedExperts) noexcept override;
  nvinfer1::IDistCollectiveLayer* addDistCollective(nvinfer1::ITensor& input,
                                                    nvinfer1::CollectiveOperation distCollectiveOp,
                                                    nvinfer1::ReduceOperation reduceOp,
                                                    int64_t root, int64_t* groups,
                                                    int64_t groupSize) noexcept override;

  // network_debug.cpp
  bool markDebug(nvinfer1::ITensor& tensor) noexcept override;
  bool unmarkDebug(nvinfer1::ITensor& tensor) noexcept override;
  bool isDebugTensor(const nvinfer1::ITensor& tensor) const noexcept override;
  bool markUnfusedTensorsAsDebugTensors() noexcept override;
  bool unmarkUnfusedTensorsAsDebugTensors() noexcept override;

  // network_refit.cpp
  bool setWeightsName(nvinfer1::Weights weights, const char* name) noexcept override;
  bool markWeightsRefittable(const char* name) noexcept override;
  bool unmarkWeightsRefittable(const char* name) noexcept override;
  bool areWeightsMarkedRefittable(const char* name) const noexcept override;

 private:
  using Changes =
      std::unordered_map<const Value*, Shape>;  // values of another type, and their old shapes

  // A change of what is there already. Where memory runs out in its midst there is none to undo it
  // with: the network is torn, and nobody builds it or adds to it any more.
  template <class F>
  void edit(F&& change) {
    requireWhole();
    try {
      change();
    } catch (const std::bad_alloc&) {
      isTorn_ = true;
      throw;
    }
  }
  void requireWhole() const;  // throws when it is torn

  // network_edit.cpp
  void attach(LayerCore& layer);  // emits a new layer
  void emitAgain(LayerCore& layer, Changes& changed);
  void refresh(Changes changed);
  void tryInputShape(Tensor& input, const Shape& shape);
  void applyInputShape(Tensor& input, const Shape& shape);
  void replaceOutput(LayerCore& layer, size_t index, Value* value, Changes& changed);
  void eraseLayer(LayerCore& layer);
  void eraseNodes(LayerCore& layer);
  void forget(const Value* value);

  template <class B>
  B* addBlock(const char* kind) noexcept;  // network_add.h: a conditional or loop
  void lowerInto(Graph& copy) const;
  void castBorders(Graph& copy) const;
  void storeBorders(Graph& copy) const;  // network_build.cpp
  nvinfer1::TensorFormat formatOf(const Value* value) const;
  void observeMarked(Graph& copy) const;
  const std::vector<LayerCore*>& listing() const;
  std::string uniqueLayerName(const std::string& base);
  bool hasWeights(std::string_view name) const;

  std::shared_ptr<PluginRegistry> plugins_;  // outlives the objects it made
  nvinfer1::NetworkDefinitionCreationFlags flags_;
  nvinfer1::IBuilder& builder_;
  Reporter reporter_;
  Graph graph_{};
  std::vector<std::shared_ptr<const void>> kept_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
  std::unordered_map<const Value*, Tensor*> tensorOfValue_;
  std::vector<std::unique_ptr<LayerCore>> layers_;
  std::vector<std::unique_ptr<LayerCore>> removed_;  // callers may hold them still
  std::vector<std::unique_ptr<Block>> blocks_;
  std::unordered_map<const Node*, LayerCore*> layerOfNode_;
  std::unordered_map<const void*, std::string> weightsNames_;  // by the caller's memory
  std::set<std::string, std::less<>> refittableWeights_;       // marked, by name
  int64_t nextSerial_ = 0;
  std::unordered_map<std::string, int> layerNames_;  // given so far, with the next suffix
  bool isTorn_ = false;
  bool marksUnfused_ = false;
  mutable std::vector<LayerCore*> listing_;  // empty: to be worked out
  Anchor<Network> anchor_{this};
};

}  // namespace camshaft::api
