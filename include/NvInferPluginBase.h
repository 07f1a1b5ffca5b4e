#pragma once

// What plugins of every kind share: fields, capabilities, resources, and the core of version 3.

#include "NvInferRuntimeBase.h"

namespace nvinfer1 {

enum class PluginFieldType : int32_t {
  kFLOAT16 = 0,
  kFLOAT32 = 1,
  kFLOAT64 = 2,
  kINT8 = 3,
  kINT16 = 4,
  kINT32 = 5,
  kCHAR = 6,
  kDIMS = 7,  // Dims structures
  kUNKNOWN = 8,
  kBF16 = 9,
  kINT64 = 10,
  kFP8 = 11,
  kINT4 = 12,
  kFP4 = 13,
};

// A named attribute of a plugin: `length` values of the type. Borrowed.
class PluginField {
 public:
  const AsciiChar* name;
  const void* data;
  PluginFieldType type;
  int32_t length;

  PluginField(const AsciiChar* const name_ = nullptr, const void* const data_ = nullptr,
              const PluginFieldType type_ = PluginFieldType::kUNKNOWN,
              const int32_t length_ = 0) noexcept
      : name(name_), data(data_), type(type_), length(length_) {}
};

struct PluginFieldCollection {
  int32_t nbFields{};
  const PluginField* fields{};
};

// What a creator makes a plugin for.
enum class TensorRTPhase : int32_t {
  kBUILD = 0,
  kRUNTIME = 1,
};

enum class PluginCapabilityType : int32_t {
  kCORE = 0,
  kBUILD = 1,
  kRUNTIME = 2,
};

namespace v_1_0 {

// Root of what a plugin can do: IPluginV3OneCore, IPluginV3OneBuild, IPluginV3OneRuntime.
class CAMSHAFT_API IPluginCapability : public IVersionedInterface {};

// Something that plugins share by a key, see IPluginRegistry::acquirePluginResource. clone() makes
// the shared object from the one a plugin offers; release() ends what it holds, and 0 is success.
class CAMSHAFT_API IPluginResource : public IVersionedInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"IPluginResource", 1, 0}; }

  virtual int32_t release() noexcept = 0;
  virtual IPluginResource* clone() noexcept = 0;

  ~IPluginResource() noexcept override = default;
  IPluginResource() = default;
  IPluginResource(const IPluginResource&) = default;
  IPluginResource(IPluginResource&&) = default;
  IPluginResource& operator=(const IPluginResource&) & = default;
  IPluginResource& operator=(IPluginResource&&) & = default;
};

// Root of IPluginCreator and IPluginCreatorV3One; getInterfaceInfo() tells which one it is.
class CAMSHAFT_API IPluginCreatorInterface : public IVersionedInterface {
 public:
  ~IPluginCreatorInterface() noexcept override = default;

 protected:
  IPluginCreatorInterface() = default;
  IPluginCreatorInterface(const IPluginCreatorInterface&) = default;
  IPluginCreatorInterface(IPluginCreatorInterface&&) = default;
  IPluginCreatorInterface& operator=(const IPluginCreatorInterface&) & = default;
  IPluginCreatorInterface& operator=(IPluginCreatorInterface&&) & = default;
};

// An operator of the caller's own. Its capabilities are separate interfaces, owned by the plugin;
// null where it lacks one. clone() gives an independent copy, which the library ends.
class CAMSHAFT_API IPluginV3 : public IVersionedInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"PLUGIN", 1, 0}; }

  virtual IPluginCapability* getCapabilityInterface(PluginCapabilityType type) noexcept = 0;
  virtual IPluginV3* clone() noexcept = 0;
};

}  // namespace v_1_0
using IPluginCapability = v_1_0::IPluginCapability;
using IPluginResource = v_1_0::IPluginResource;
using IPluginCreatorInterface = v_1_0::IPluginCreatorInterface;
using IPluginV3 = v_1_0::IPluginV3;

}  // namespace nvinfer1
