#pragma once

// Plugins whose shapes are expressions of their inputs': version 3, and version 2's last form.

#include "NvInferCallbacks.h"

namespace nvinfer1 {

enum class DimensionOperation : int32_t {
  kSUM = 0,
  kPROD = 1,
  kMAX = 2,
  kMIN = 3,
  kSUB = 4,
  kEQUAL = 5,
  kLESS = 6,
  kFLOOR_DIV = 7,
  kCEIL_DIV = 8,
};
template <>
constexpr int32_t EnumMax<DimensionOperation>() noexcept {
  return 9;
}

// A size that follows from those of a plugin's inputs. Belongs to the expression builder.
class CAMSHAFT_API IDimensionExpr : public INoCopy {
 public:
  bool isConstant() const noexcept { return mImpl->isConstant(); }
  // The least int64_t when it is not constant.
  int64_t getConstantValue() const noexcept { return mImpl->getConstantValue(); }
  // Whether it is the value of a size tensor.
  bool isSizeTensor() const noexcept { return mImpl->isSizeTensor(); }

 protected:
  ~IDimensionExpr() noexcept override = default;

  apiv::VDimensionExpr* mImpl{};
};

// Makes sizes while a plugin tells the shapes of its outputs.
class CAMSHAFT_API IExprBuilder : public INoCopy {
 public:
  const IDimensionExpr* constant(int64_t value) noexcept { return mImpl->constant(value); }
  const IDimensionExpr* operation(DimensionOperation op, const IDimensionExpr& first,
                                  const IDimensionExpr& second) noexcept {
    return mImpl->operation(op, first, second);
  }
  // The size that the plugin computes when it runs and writes to this output, a scalar; `opt` is
  // what kernels are chosen for, `upper` what memory is planned for.
  const IDimensionExpr* declareSizeTensor(int32_t outputIndex, const IDimensionExpr& opt,
                                          const IDimensionExpr& upper) noexcept {
    return mImpl->declareSizeTensor(outputIndex, opt, upper);
  }

 protected:
  ~IExprBuilder() noexcept override = default;

  apiv::VExprBuilder* mImpl{};
};

class DimsExprs {
 public:
  int32_t nbDims;
  const IDimensionExpr* d[Dims::MAX_DIMS];
};

// A tensor of which the profile gives ranges; -1 in desc.dims for what only a run knows.
struct DynamicPluginTensorDesc {
  PluginTensorDesc desc;
  Dims min;
  Dims max;
  Dims opt;
};

class CAMSHAFT_API IPluginV2DynamicExt : public nvinfer1::IPluginV2Ext {
 public:
  IPluginV2DynamicExt* clone() const noexcept override = 0;
  virtual DimsExprs getOutputDimensions(int32_t outputIndex, const DimsExprs* inputs,
                                        int32_t nbInputs, IExprBuilder& exprBuilder) noexcept = 0;
  static constexpr int32_t kFORMAT_COMBINATION_LIMIT = 100;
  // inOut has inputs, then outputs; those before `pos` are decided.
  virtual bool supportsFormatCombination(int32_t pos, const PluginTensorDesc* inOut,
                                         int32_t nbInputs, int32_t nbOutputs) noexcept = 0;
  virtual void configurePlugin(const DynamicPluginTensorDesc* in, int32_t nbInputs,
                               const DynamicPluginTensorDesc* out, int32_t nbOutputs) noexcept = 0;
  virtual size_t getWorkspaceSize(const PluginTensorDesc* inputs, int32_t nbInputs,
                                  const PluginTensorDesc* outputs,
                                  int32_t nbOutputs) const noexcept = 0;
  virtual int32_t enqueue(const PluginTensorDesc* inputDesc, const PluginTensorDesc* outputDesc,
                          const void* const* inputs, void* const* outputs, void* workspace,
                          cudaStream_t stream) noexcept = 0;

 protected:
  int32_t getTensorRTVersion() const noexcept override {
    return versionOf(PluginVersion::kV2_DYNAMICEXT);
  }
  ~IPluginV2DynamicExt() noexcept override = default;

 private:
  // Replaced by those above.
  void configurePlugin(const Dims*, int32_t, const Dims*, int32_t, const DataType*, const DataType*,
                       const bool*, const bool*, PluginFormat, int32_t) noexcept final {}
  bool supportsFormat(DataType, PluginFormat) const noexcept final { return false; }
  Dims getOutputDimensions(int32_t, const Dims*, int32_t) noexcept final { return {-1, {}}; }
  bool isOutputBroadcastAcrossBatch(int32_t, const bool*, int32_t) const noexcept final {
    return false;
  }
  bool canBroadcastInputAcrossBatch(int32_t) const noexcept final { return true; }
  size_t getWorkspaceSize(int32_t) const noexcept final { return 0; }
  int32_t enqueue(int32_t, const void* const*, void* const*, void*, cudaStream_t) noexcept final {
    return 1;
  }
};

// What a plugin may use of the context it is attached to.
class CAMSHAFT_API IPluginResourceContext {
 public:
  virtual IGpuAllocator* getGpuAllocator() const noexcept = 0;
  virtual IErrorRecorder* getErrorRecorder() const noexcept = 0;
  virtual ~IPluginResourceContext() noexcept = default;

 protected:
  IPluginResourceContext() = default;
  IPluginResourceContext(const IPluginResourceContext&) = default;
  IPluginResourceContext(IPluginResourceContext&&) = default;
  IPluginResourceContext& operator=(const IPluginResourceContext&) & = default;
  IPluginResourceContext& operator=(IPluginResourceContext&&) & = default;
};

namespace v_1_0 {

class CAMSHAFT_API IPluginV3OneCore : public IPluginCapability {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"PLUGIN_V3ONE_CORE", 1, 0}; }

  virtual const AsciiChar* getPluginName() const noexcept = 0;
  virtual const AsciiChar* getPluginVersion() const noexcept = 0;
  virtual const AsciiChar* getPluginNamespace() const noexcept = 0;
};

// What a build asks of a plugin. A return value of 0 is success, wherever one is a status.
class CAMSHAFT_API IPluginV3OneBuild : public IPluginCapability {
 public:
  static constexpr int32_t kDEFAULT_FORMAT_COMBINATION_LIMIT = 100;

  InterfaceInfo getInterfaceInfo() const noexcept override { return {"PLUGIN_V3ONE_BUILD", 1, 0}; }

  virtual int32_t configurePlugin(const DynamicPluginTensorDesc* in, int32_t nbInputs,
                                  const DynamicPluginTensorDesc* out,
                                  int32_t nbOutputs) noexcept = 0;
  virtual int32_t getOutputDataTypes(DataType* outputTypes, int32_t nbOutputs,
                                     const DataType* inputTypes,
                                     int32_t nbInputs) const noexcept = 0;
  // shapeInputs are the values of inputs that hold sizes.
  virtual int32_t getOutputShapes(const DimsExprs* inputs, int32_t nbInputs,
                                  const DimsExprs* shapeInputs, int32_t nbShapeInputs,
                                  DimsExprs* outputs, int32_t nbOutputs,
                                  IExprBuilder& exprBuilder) noexcept = 0;
  // inOut has inputs, then outputs; those before `pos` are decided.
  virtual bool supportsFormatCombination(int32_t pos, const DynamicPluginTensorDesc* inOut,
                                         int32_t nbInputs, int32_t nbOutputs) noexcept = 0;
  virtual int32_t getNbOutputs() const noexcept = 0;
  virtual size_t getWorkspaceSize(const DynamicPluginTensorDesc* /*inputs*/, int32_t /*nbInputs*/,
                                  const DynamicPluginTensorDesc* /*outputs*/,
                                  int32_t /*nbOutputs*/) const noexcept {
    return 0;
  }
  // Tactics are positive numbers that the build times; a plugin without any has one way to run.
  virtual int32_t getValidTactics(int32_t* /*tactics*/, int32_t /*nbTactics*/) noexcept {
    return 0;
  }
  virtual int32_t getNbTactics() noexcept { return 0; }
  // Null: timings of the plugin are not remembered.
  virtual const char* getTimingCacheID() noexcept { return nullptr; }
  virtual int32_t getFormatCombinationLimit() noexcept { return kDEFAULT_FORMAT_COMBINATION_LIMIT; }
  // Follows the layer into the engine inspector.
  virtual const char* getMetadataString() noexcept { return nullptr; }
};

class CAMSHAFT_API IPluginV3OneRuntime : public IPluginCapability {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override {
    return {"PLUGIN_V3ONE_RUNTIME", 1, 0};
  }

  virtual int32_t setTactic(int32_t /*tactic*/) noexcept { return 0; }
  virtual int32_t onShapeChange(const PluginTensorDesc* in, int32_t nbInputs,
                                const PluginTensorDesc* out, int32_t nbOutputs) noexcept = 0;
  virtual int32_t enqueue(const PluginTensorDesc* inputDesc, const PluginTensorDesc* outputDesc,
                          const void* const* inputs, void* const* outputs, void* workspace,
                          cudaStream_t stream) noexcept = 0;
  // A copy for one execution context, which the library ends.
  virtual IPluginV3* attachToContext(IPluginResourceContext* context) noexcept = 0;
  // What the engine keeps, and the creator gets back in phase kRUNTIME.
  virtual const PluginFieldCollection* getFieldsToSerialize() noexcept = 0;
};

// Makes plugins of version 3.
class CAMSHAFT_API IPluginCreatorV3One : public IPluginCreatorInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override {
    return {"PLUGIN CREATOR_V3ONE", 1, 0};
  }

  virtual IPluginV3* createPlugin(const AsciiChar* name, const PluginFieldCollection* fc,
                                  TensorRTPhase phase) noexcept = 0;
  virtual const PluginFieldCollection* getFieldNames() noexcept = 0;
  virtual const AsciiChar* getPluginName() const noexcept = 0;
  virtual const AsciiChar* getPluginVersion() const noexcept = 0;
  virtual const AsciiChar* getPluginNamespace() const noexcept = 0;

  IPluginCreatorV3One() = default;
  ~IPluginCreatorV3One() override = default;

 protected:
  IPluginCreatorV3One(const IPluginCreatorV3One&) = default;
  IPluginCreatorV3One(IPluginCreatorV3One&&) = default;
  IPluginCreatorV3One& operator=(const IPluginCreatorV3One&) & = default;
  IPluginCreatorV3One& operator=(IPluginCreatorV3One&&) & = default;
};

}  // namespace v_1_0

namespace v_2_0 {

// Adds outputs that share their memory with an input, which the plugin changes in place.
class CAMSHAFT_API IPluginV3OneBuild : public v_1_0::IPluginV3OneBuild {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"PLUGIN_V3ONE_BUILD", 2, 0}; }

  // The input, or -1.
  virtual int32_t getAliasedInput(int32_t /*outputIndex*/) noexcept { return -1; }
};

}  // namespace v_2_0
using IPluginV3OneCore = v_1_0::IPluginV3OneCore;
using IPluginV3OneBuild = v_1_0::IPluginV3OneBuild;
using IPluginV3OneRuntime = v_1_0::IPluginV3OneRuntime;
using IPluginV3OneBuildV2 = v_2_0::IPluginV3OneBuild;
using IPluginCreatorV3One = v_1_0::IPluginCreatorV3One;

}  // namespace nvinfer1
