// IPluginRegistry: creators by name, version and namespace. Nothing uses them yet: networks refuse
// plugins.
#include "api/plugin_registry.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "NvInfer.h"
#include "NvInferPlugin.h"
#include "api/report.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;

// Which class a creator is of.
IPluginCreator* asFirst(IPluginCreatorInterface* creator) {
  return std::string_view(creator->getInterfaceInfo().kind) == "PLUGIN CREATOR_V1"
             ? static_cast<IPluginCreator*>(creator)
             : nullptr;
}
IPluginCreatorV3One* asThird(IPluginCreatorInterface* creator) {
  return std::string_view(creator->getInterfaceInfo().kind) == "PLUGIN CREATOR_V3ONE"
             ? static_cast<IPluginCreatorV3One*>(creator)
             : nullptr;
}

std::string textOf(const char* text) { return text ? text : ""; }

struct Entry {
  IPluginCreatorInterface* creator;
  std::string name, version, space;

  Entry(IPluginCreatorInterface& given, const char* pluginNamespace)
      : creator(&given), space(textOf(pluginNamespace)) {
    if (IPluginCreator* first = asFirst(creator)) {
      name = textOf(first->getPluginName());
      version = textOf(first->getPluginVersion());
    } else if (IPluginCreatorV3One* third = asThird(creator)) {
      name = textOf(third->getPluginName());
      version = textOf(third->getPluginVersion());
    } else {
      fail(ErrorKind::kInvalidArgument, "a plugin creator of the unknown kind '",
           textOf(creator->getInterfaceInfo().kind), "' cannot be registered");
    }
  }
  bool isCalled(const Entry& other) const {
    return isCalled(other.name, other.version, other.space);
  }
  bool isCalled(const std::string& otherName, const std::string& otherVersion,
                const std::string& otherSpace) const {
    return name == otherName && version == otherVersion && space == otherSpace;
  }
};

class PluginRegistry final : public IPluginRegistry {
 public:
  ~PluginRegistry() override = default;

  bool registerCreator(IPluginCreator& creator, const char* pluginNamespace) noexcept override {
    if (!add(creator, pluginNamespace)) return false;
    creator.setPluginNamespace(pluginNamespace ? pluginNamespace : "");
    return true;
  }
  bool registerCreator(IPluginCreatorInterface& creator,
                       const char* pluginNamespace) noexcept override {
    if (IPluginCreator* first = asFirst(&creator)) return registerCreator(*first, pluginNamespace);
    return add(creator, pluginNamespace);
  }
  bool deregisterCreator(const IPluginCreator& creator) noexcept override {
    return deregisterCreator(static_cast<const IPluginCreatorInterface&>(creator));
  }
  bool deregisterCreator(const IPluginCreatorInterface& creator) noexcept override {
    return guarded(reporter(), false, [&] {
      const std::lock_guard lock(mutex_);
      const auto removed =
          std::erase_if(entries_, [&](const Entry& entry) { return entry.creator == &creator; });
      list();
      return removed > 0;
    });
  }

  IPluginCreator* const* getPluginCreatorList(int32_t* const count) const noexcept override {
    const std::lock_guard lock(mutex_);
    if (count) *count = static_cast<int32_t>(first_.size());
    return first_.empty() ? nullptr : first_.data();
  }
  IPluginCreatorInterface* const* getAllCreators(int32_t* const count) const noexcept override {
    const std::lock_guard lock(mutex_);
    if (count) *count = static_cast<int32_t>(all_.size());
    return all_.empty() ? nullptr : all_.data();
  }
  IPluginCreatorInterface* const* getAllCreatorsRecursive(int32_t* const count) noexcept override {
    return getAllCreators(count);
  }
  IPluginCreator* getPluginCreator(const char* name, const char* version,
                                   const char* pluginNamespace) noexcept override {
    IPluginCreatorInterface* creator = getCreator(name, version, pluginNamespace);
    return creator ? asFirst(creator) : nullptr;
  }
  IPluginCreatorInterface* getCreator(const char* name, const char* version,
                                      const char* pluginNamespace) noexcept override {
    return guarded<IPluginCreatorInterface*>(
        reporter(), nullptr, [&]() -> IPluginCreatorInterface* {
          const std::lock_guard lock(mutex_);
          for (const Entry& entry : entries_)
            if (entry.isCalled(textOf(name), textOf(version), textOf(pluginNamespace)))
              return entry.creator;
          return nullptr;
        });
  }

  void setErrorRecorder(IErrorRecorder* const recorder) noexcept override {
    recorder_ = RecorderUse(recorder);
  }
  IErrorRecorder* getErrorRecorder() const noexcept override { return recorder_.get(); }
  // It has no parent.
  bool isParentSearchEnabled() const override { return searchesParent_; }
  void setParentSearchEnabled(const bool enabled) override { searchesParent_ = enabled; }

  // Refused.
  PluginLibraryHandle loadLibrary(const char*) noexcept override {
    return refused<PluginLibraryHandle>(
        reporter(),
        "libraries of plugins cannot be loaded by the registry yet; load the library and register "
        "its creators",
        nullptr);
  }
  void deregisterLibrary(PluginLibraryHandle) noexcept override {}
  IPluginResource* acquirePluginResource(const char*, IPluginResource*) noexcept override {
    return refused<IPluginResource*>(reporter(), kNoResources, nullptr);
  }
  int32_t releasePluginResource(const char*) noexcept override {
    return refused(reporter(), kNoResources, int32_t{-1});
  }

 private:
  static constexpr char kNoResources[] = "plugins cannot share resources yet";

  // It has no logger of its own.
  Reporter reporter() const {
    Reporter current(getLogger());
    current.setRecorder(recorder_.get());
    return current;
  }

  bool add(IPluginCreatorInterface& creator, const char* pluginNamespace) noexcept {
    return guarded(reporter(), false, [&] {
      const Entry made(creator, pluginNamespace);
      const std::lock_guard lock(mutex_);
      if (std::any_of(entries_.begin(), entries_.end(),
                      [&](const Entry& entry) { return entry.isCalled(made); }))
        fail(ErrorKind::kInvalidArgument, "a plugin '", made.name, "' of version '", made.version,
             "' is registered already in the namespace '", made.space, "'");
      entries_.push_back(made);
      list();
      return true;
    });
  }

  void list() {
    first_.clear();
    all_.clear();
    for (const Entry& entry : entries_) {
      all_.push_back(entry.creator);
      if (IPluginCreator* first = asFirst(entry.creator)) first_.push_back(first);
    }
  }

  RecorderUse recorder_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  std::vector<IPluginCreator*> first_;
  std::vector<IPluginCreatorInterface*> all_;
  bool searchesParent_ = true;
};

}  // namespace

// Never ended: creators in other libraries leave it when the process ends.
IPluginRegistry& pluginRegistry() {
  static auto* registry = new PluginRegistry;
  return *registry;
}

}  // namespace camshaft::api

extern "C" CAMSHAFT_API nvinfer1::IPluginRegistry* getPluginRegistry() noexcept {
  return &camshaft::api::pluginRegistry();
}

namespace nvinfer1 {

extern "C" CAMSHAFT_API IPluginRegistry* getBuilderPluginRegistry(
    EngineCapability capability) noexcept {
  return capability == EngineCapability::kSTANDARD ? getPluginRegistry() : nullptr;
}

extern "C" CAMSHAFT_API safe::IPluginRegistry* getBuilderSafePluginRegistry(
    EngineCapability) noexcept {
  return nullptr;
}

extern "C" CAMSHAFT_API bool setInternalLibraryPath(const AsciiChar*) noexcept { return true; }

}  // namespace nvinfer1

extern "C" CAMSHAFT_API bool initLibNvInferPlugins(void* /*logger*/, const char* /*libNamespace*/) {
  return true;
}
