#pragma once

// Plugins of version 2, which TensorRT deprecates, and how they are made.

#include "NvInferPluginBase.h"

namespace nvinfer1 {

enum class TensorFormat : int32_t;
using PluginFormat = TensorFormat;

namespace v_1_0 {

class IGpuAllocator;

}  // namespace v_1_0
using IGpuAllocator = v_1_0::IGpuAllocator;

static constexpr int32_t kPLUGIN_VERSION_PYTHON_BIT = 0x40;

// A tensor as a plugin gets it. The scale is that of an int8 tensor.
struct PluginTensorDesc {
  Dims dims;
  DataType type;
  TensorFormat format;
  float scale;
};

// The upper byte of what getTensorRTVersion() returns: which class a plugin is of.
enum class PluginVersion : uint8_t {
  kV2 = 0,
  kV2_EXT = 1,
  kV2_IOEXT = 2,
  kV2_DYNAMICEXT = 3,
  kV2_DYNAMICEXT_PYTHON = kPLUGIN_VERSION_PYTHON_BIT | 3,
};

enum class PluginCreatorVersion : int32_t {
  kV1 = 0,
  kV1_PYTHON = kPLUGIN_VERSION_PYTHON_BIT,
};

// Ended with destroy(). A return value of 0 is success, wherever one is an int32_t.
class CAMSHAFT_API IPluginV2 {
 public:
  virtual int32_t getTensorRTVersion() const noexcept {
    return static_cast<int32_t>(NV_TENSORRT_VERSION);
  }
  virtual const AsciiChar* getPluginType() const noexcept = 0;
  virtual const AsciiChar* getPluginVersion() const noexcept = 0;
  virtual int32_t getNbOutputs() const noexcept = 0;
  virtual Dims getOutputDimensions(int32_t index, const Dims* inputs,
                                   int32_t nbInputDims) noexcept = 0;
  virtual bool supportsFormat(DataType type, PluginFormat format) const noexcept = 0;
  virtual void configureWithFormat(const Dims* inputDims, int32_t nbInputs, const Dims* outputDims,
                                   int32_t nbOutputs, DataType type, PluginFormat format,
                                   int32_t maxBatchSize) noexcept = 0;
  virtual int32_t initialize() noexcept = 0;
  virtual void terminate() noexcept = 0;
  virtual size_t getWorkspaceSize(int32_t maxBatchSize) const noexcept = 0;
  virtual int32_t enqueue(int32_t batchSize, const void* const* inputs, void* const* outputs,
                          void* workspace, cudaStream_t stream) noexcept = 0;
  virtual size_t getSerializationSize() const noexcept = 0;
  virtual void serialize(void* buffer) const noexcept = 0;
  virtual void destroy() noexcept = 0;
  virtual IPluginV2* clone() const noexcept = 0;
  virtual void setPluginNamespace(const AsciiChar* pluginNamespace) noexcept = 0;
  virtual const AsciiChar* getPluginNamespace() const noexcept = 0;

  IPluginV2() = default;
  virtual ~IPluginV2() noexcept = default;

 protected:
  IPluginV2(const IPluginV2&) = default;
  IPluginV2(IPluginV2&&) = default;
  IPluginV2& operator=(const IPluginV2&) & = default;
  IPluginV2& operator=(IPluginV2&&) & = default;

  static constexpr int32_t versionOf(PluginVersion version) noexcept {
    return static_cast<int32_t>(static_cast<uint32_t>(version) << 24U |
                                (static_cast<uint32_t>(NV_TENSORRT_VERSION) & 0xFFFFFFU));
  }
};

class CAMSHAFT_API IPluginV2Ext : public IPluginV2 {
 public:
  virtual nvinfer1::DataType getOutputDataType(int32_t index, const nvinfer1::DataType* inputTypes,
                                               int32_t nbInputs) const noexcept = 0;
  virtual bool isOutputBroadcastAcrossBatch(int32_t outputIndex, const bool* inputIsBroadcasted,
                                            int32_t nbInputs) const noexcept = 0;
  virtual bool canBroadcastInputAcrossBatch(int32_t inputIndex) const noexcept = 0;
  virtual void configurePlugin(const Dims* inputDims, int32_t nbInputs, const Dims* outputDims,
                               int32_t nbOutputs, const DataType* inputTypes,
                               const DataType* outputTypes, const bool* inputIsBroadcast,
                               const bool* outputIsBroadcast, PluginFormat floatFormat,
                               int32_t maxBatchSize) noexcept = 0;

  IPluginV2Ext() = default;
  ~IPluginV2Ext() override = default;

  virtual void attachToContext(cudnnContext* /*cudnn*/, cublasContext* /*cublas*/,
                               IGpuAllocator* /*allocator*/) noexcept {}
  virtual void detachFromContext() noexcept {}
  IPluginV2Ext* clone() const noexcept override = 0;

 protected:
  IPluginV2Ext(const IPluginV2Ext&) = default;
  IPluginV2Ext(IPluginV2Ext&&) = default;
  IPluginV2Ext& operator=(const IPluginV2Ext&) & = default;
  IPluginV2Ext& operator=(IPluginV2Ext&&) & = default;

  int32_t getTensorRTVersion() const noexcept override { return versionOf(PluginVersion::kV2_EXT); }
  void configureWithFormat(const Dims* /*inputDims*/, int32_t /*nbInputs*/,
                           const Dims* /*outputDims*/, int32_t /*nbOutputs*/, DataType /*type*/,
                           PluginFormat /*format*/, int32_t /*maxBatchSize*/) noexcept override {}
};

class CAMSHAFT_API IPluginV2IOExt : public IPluginV2Ext {
 public:
  virtual void configurePlugin(const PluginTensorDesc* in, int32_t nbInput,
                               const PluginTensorDesc* out, int32_t nbOutput) noexcept = 0;
  // inOut has inputs, then outputs; those before `pos` are decided.
  virtual bool supportsFormatCombination(int32_t pos, const PluginTensorDesc* inOut,
                                         int32_t nbInputs, int32_t nbOutputs) const noexcept = 0;

  IPluginV2IOExt() = default;
  ~IPluginV2IOExt() override = default;

 protected:
  IPluginV2IOExt(const IPluginV2IOExt&) = default;
  IPluginV2IOExt(IPluginV2IOExt&&) = default;
  IPluginV2IOExt& operator=(const IPluginV2IOExt&) & = default;
  IPluginV2IOExt& operator=(IPluginV2IOExt&&) & = default;

  int32_t getTensorRTVersion() const noexcept override {
    return versionOf(PluginVersion::kV2_IOEXT);
  }

 private:
  // Replaced by those above.
  void configurePlugin(const Dims*, int32_t, const Dims*, int32_t, const DataType*, const DataType*,
                       const bool*, const bool*, PluginFormat, int32_t) noexcept final {}
  bool supportsFormat(DataType, PluginFormat) const noexcept final { return false; }
};

namespace v_1_0 {

// Makes plugins of version 2, from fields or from what serialize() wrote.
class CAMSHAFT_API IPluginCreator : public IPluginCreatorInterface {
 public:
  virtual const AsciiChar* getPluginName() const noexcept = 0;
  virtual const AsciiChar* getPluginVersion() const noexcept = 0;
  virtual const PluginFieldCollection* getFieldNames() noexcept = 0;
  virtual IPluginV2* createPlugin(const AsciiChar* name,
                                  const PluginFieldCollection* fc) noexcept = 0;
  virtual IPluginV2* deserializePlugin(const AsciiChar* name, const void* serialData,
                                       size_t serialLength) noexcept = 0;
  virtual void setPluginNamespace(const AsciiChar* pluginNamespace) noexcept = 0;
  virtual const AsciiChar* getPluginNamespace() const noexcept = 0;

  IPluginCreator() = default;
  ~IPluginCreator() override = default;
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"PLUGIN CREATOR_V1", 1, 0}; }

 protected:
  IPluginCreator(const IPluginCreator&) = default;
  IPluginCreator(IPluginCreator&&) = default;
  IPluginCreator& operator=(const IPluginCreator&) & = default;
  IPluginCreator& operator=(IPluginCreator&&) & = default;
};

}  // namespace v_1_0
using IPluginCreator = v_1_0::IPluginCreator;

}  // namespace nvinfer1
