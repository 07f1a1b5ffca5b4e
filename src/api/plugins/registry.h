// IPluginRegistry: creators by name, version and namespace, and where they come from.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "NvInfer.h"
#include "api/report.h"

namespace camshaft::api {

// The creator as the class that it is of; null: of another.
nvinfer1::IPluginCreator* asV1(nvinfer1::IPluginCreatorInterface* creator);
nvinfer1::IPluginCreatorV3One* asV3One(nvinfer1::IPluginCreatorInterface* creator);

class PluginRegistry final : public nvinfer1::IPluginRegistry {
 public:
  // Creators that are not here are looked for in the parent, which must outlive this.
  explicit PluginRegistry(nvinfer1::IPluginRegistry* parent = nullptr) : parent_(parent) {}
  ~PluginRegistry() override;
  void setParent(nvinfer1::IPluginRegistry* parent) { parent_ = parent; }

  bool registerCreator(nvinfer1::IPluginCreator& creator,
                       const char* pluginNamespace) noexcept override;
  bool registerCreator(nvinfer1::IPluginCreatorInterface& creator,
                       const char* pluginNamespace) noexcept override;
  bool deregisterCreator(const nvinfer1::IPluginCreator& creator) noexcept override;
  bool deregisterCreator(const nvinfer1::IPluginCreatorInterface& creator) noexcept override;

  nvinfer1::IPluginCreator* const* getPluginCreatorList(int32_t* count) const noexcept override;
  nvinfer1::IPluginCreatorInterface* const* getAllCreators(int32_t* count) const noexcept override;
  nvinfer1::IPluginCreatorInterface* const* getAllCreatorsRecursive(
      int32_t* count) noexcept override;
  nvinfer1::IPluginCreator* getPluginCreator(const char* name, const char* version,
                                             const char* pluginNamespace) noexcept override;
  nvinfer1::IPluginCreatorInterface* getCreator(const char* name, const char* version,
                                                const char* pluginNamespace) noexcept override;

  void setErrorRecorder(nvinfer1::IErrorRecorder* recorder) noexcept override {
    recorder_ = RecorderUse(recorder);
  }
  nvinfer1::IErrorRecorder* getErrorRecorder() const noexcept override { return recorder_.get(); }
  bool isParentSearchEnabled() const override { return searchesParent_; }
  void setParentSearchEnabled(bool enabled) override { searchesParent_ = enabled; }

  PluginLibraryHandle loadLibrary(const char* path) noexcept override;
  void deregisterLibrary(PluginLibraryHandle handle) noexcept override;

  nvinfer1::IPluginResource* acquirePluginResource(
      const char* key, nvinfer1::IPluginResource* resource) noexcept override;
  int32_t releasePluginResource(const char* key) noexcept override;

 private:
  struct Entry {
    nvinfer1::IPluginCreatorInterface* creator;
    std::string name, version, space;
    Entry(nvinfer1::IPluginCreatorInterface& given, const char* pluginNamespace);
    bool isCalled(std::string_view otherName, std::string_view otherVersion,
                  std::string_view otherSpace) const;
  };
  struct Resource {
    std::unique_ptr<nvinfer1::IPluginResource> shared;
    int64_t uses = 0;
  };

  Reporter reporter() const;
  bool add(nvinfer1::IPluginCreatorInterface& creator, const char* pluginNamespace) noexcept;
  void list();
  std::vector<nvinfer1::IPluginCreatorInterface*> addCreatorsOf(void* library, const char* path);
  nvinfer1::IPluginRegistry* searchedParent() const { return searchesParent_ ? parent_ : nullptr; }

  nvinfer1::IPluginRegistry* parent_;
  bool searchesParent_ = true;
  RecorderUse recorder_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  std::vector<nvinfer1::IPluginCreator*> first_;  // what callers hold of the lists
  std::vector<nvinfer1::IPluginCreatorInterface*> all_, recursive_;
  std::map<void*, std::vector<nvinfer1::IPluginCreatorInterface*>> libraries_;  // by handle
  std::map<std::string, Resource, std::less<>> resources_;
};

// That of the process, which is never ended: creators in other libraries leave it when the process
// ends.
PluginRegistry& globalPluginRegistry();

}  // namespace camshaft::api
