#pragma once

// The registry of plugins.

#include "NvInferPluginBase.h"
#include "NvInferRuntimePlugin.h"

namespace nvinfer1 {

// Creators by name, version and namespace. Methods may be called from several threads at once; a
// list that was returned is valid until the next call that changes it.
class CAMSHAFT_API IPluginRegistry {
 public:
  using PluginLibraryHandle = void*;

  // A creator is borrowed. False when there is one of the same name, version and namespace.
  virtual bool registerCreator(IPluginCreator& creator,
                               const AsciiChar* const pluginNamespace) noexcept = 0;
  virtual IPluginCreator* const* getPluginCreatorList(
      int32_t* const numCreators) const noexcept = 0;
  virtual IPluginCreator* getPluginCreator(
      const AsciiChar* const pluginName, const AsciiChar* const pluginVersion,
      const AsciiChar* const pluginNamespace = "") noexcept = 0;

  IPluginRegistry() = default;
  IPluginRegistry(const IPluginRegistry&) = delete;
  IPluginRegistry(IPluginRegistry&&) = delete;
  IPluginRegistry& operator=(const IPluginRegistry&) & = delete;
  IPluginRegistry& operator=(IPluginRegistry&&) & = delete;

 protected:
  virtual ~IPluginRegistry() noexcept = default;

 public:
  virtual void setErrorRecorder(IErrorRecorder* const recorder) noexcept = 0;
  virtual IErrorRecorder* getErrorRecorder() const noexcept = 0;
  virtual bool deregisterCreator(const IPluginCreator& creator) noexcept = 0;
  // Whether a creator that is not here is looked for in the registry this one belongs to.
  virtual bool isParentSearchEnabled() const = 0;
  virtual void setParentSearchEnabled(const bool enabled) = 0;
  // Loads a shared library and registers the creators that its getCreators(), or
  // getPluginCreators(), gives. Null when it has neither.
  virtual PluginLibraryHandle loadLibrary(const AsciiChar* pluginPath) noexcept = 0;
  virtual void deregisterLibrary(PluginLibraryHandle handle) noexcept = 0;
  // The same for creators of every version.
  virtual bool registerCreator(IPluginCreatorInterface& creator,
                               const AsciiChar* const pluginNamespace) noexcept = 0;
  virtual IPluginCreatorInterface* const* getAllCreators(
      int32_t* const numCreators) const noexcept = 0;
  virtual IPluginCreatorInterface* getCreator(
      const AsciiChar* const pluginName, const AsciiChar* const pluginVersion,
      const AsciiChar* const pluginNamespace = "") noexcept = 0;
  virtual bool deregisterCreator(const IPluginCreatorInterface& creator) noexcept = 0;
  // The resource of that key, made by clone() of the one given when there is none yet. Each is
  // ended once it was released as often as acquired.
  virtual IPluginResource* acquirePluginResource(const AsciiChar* key,
                                                 IPluginResource* resource) noexcept = 0;
  virtual int32_t releasePluginResource(const AsciiChar* key) noexcept = 0;
  // With the parents', where they are searched.
  virtual IPluginCreatorInterface* const* getAllCreatorsRecursive(
      int32_t* const numCreators) noexcept = 0;
};

}  // namespace nvinfer1
