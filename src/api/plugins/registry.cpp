#include "api/plugins/registry.h"

#include <algorithm>

#include "NvInferPlugin.h"

namespace camshaft::api {

using namespace nvinfer1;

namespace {

std::string textOf(const char* text) { return text ? text : ""; }

template <class T>
T* const* listIn(const std::vector<T*>& list, int32_t* count) {
  if (count) *count = static_cast<int32_t>(list.size());
  return list.empty() ? nullptr : list.data();
}

}  // namespace

IPluginCreator* asV1(IPluginCreatorInterface* creator) {
  return std::string_view(creator->getInterfaceInfo().kind) == "PLUGIN CREATOR_V1"
             ? static_cast<IPluginCreator*>(creator)
             : nullptr;
}

IPluginCreatorV3One* asV3One(IPluginCreatorInterface* creator) {
  return std::string_view(creator->getInterfaceInfo().kind) == "PLUGIN CREATOR_V3ONE"
             ? static_cast<IPluginCreatorV3One*>(creator)
             : nullptr;
}

PluginRegistry::Entry::Entry(IPluginCreatorInterface& given, const char* pluginNamespace)
    : creator(&given), space(textOf(pluginNamespace)) {
  if (const IPluginCreator* first = asV1(creator)) {
    name = textOf(first->getPluginName());
    version = textOf(first->getPluginVersion());
  } else if (const IPluginCreatorV3One* third = asV3One(creator)) {
    name = textOf(third->getPluginName());
    version = textOf(third->getPluginVersion());
  } else {
    fail(ErrorKind::kInvalidArgument, "a plugin creator of the unknown kind '",
         textOf(creator->getInterfaceInfo().kind), "' cannot be registered");
  }
}

bool PluginRegistry::Entry::isCalled(std::string_view otherName, std::string_view otherVersion,
                                     std::string_view otherSpace) const {
  return name == otherName && version == otherVersion && space == otherSpace;
}

PluginRegistry::~PluginRegistry() {
  for (auto& [key, resource] : resources_) resource.shared->release();
  while (!libraries_.empty()) deregisterLibrary(libraries_.begin()->first);
}

// It has no logger of its own.
Reporter PluginRegistry::reporter() const {
  Reporter current(getLogger());
  current.setRecorder(recorder_.get());
  return current;
}

bool PluginRegistry::add(IPluginCreatorInterface& creator, const char* pluginNamespace) noexcept {
  return guarded(reporter(), false, [&] {
    const Entry made(creator, pluginNamespace);
    const std::lock_guard lock(mutex_);
    if (std::ranges::any_of(entries_, [&](const Entry& entry) {
          return entry.isCalled(made.name, made.version, made.space);
        }))
      fail(ErrorKind::kInvalidArgument, "a plugin '", made.name, "' of version '", made.version,
           "' is registered already in the namespace '", made.space, "'");
    entries_.push_back(made);
    list();
    return true;
  });
}

void PluginRegistry::list() {
  first_.clear();
  all_.clear();
  for (const Entry& entry : entries_) {
    all_.push_back(entry.creator);
    if (IPluginCreator* first = asV1(entry.creator)) first_.push_back(first);
  }
}

bool PluginRegistry::registerCreator(IPluginCreator& creator,
                                     const char* pluginNamespace) noexcept {
  if (!add(creator, pluginNamespace)) return false;
  creator.setPluginNamespace(pluginNamespace ? pluginNamespace : "");
  return true;
}

bool PluginRegistry::registerCreator(IPluginCreatorInterface& creator,
                                     const char* pluginNamespace) noexcept {
  if (IPluginCreator* first = asV1(&creator)) return registerCreator(*first, pluginNamespace);
  return add(creator, pluginNamespace);
}

bool PluginRegistry::deregisterCreator(const IPluginCreator& creator) noexcept {
  return deregisterCreator(static_cast<const IPluginCreatorInterface&>(creator));
}

bool PluginRegistry::deregisterCreator(const IPluginCreatorInterface& creator) noexcept {
  return guarded(reporter(), false, [&] {
    const std::lock_guard lock(mutex_);
    const auto removed =
        std::erase_if(entries_, [&](const Entry& entry) { return entry.creator == &creator; });
    list();
    return removed > 0;
  });
}

IPluginCreator* const* PluginRegistry::getPluginCreatorList(int32_t* count) const noexcept {
  const std::lock_guard lock(mutex_);
  return listIn(first_, count);
}

IPluginCreatorInterface* const* PluginRegistry::getAllCreators(int32_t* count) const noexcept {
  const std::lock_guard lock(mutex_);
  return listIn(all_, count);
}

IPluginCreatorInterface* const* PluginRegistry::getAllCreatorsRecursive(int32_t* count) noexcept {
  return guarded<IPluginCreatorInterface* const*>(reporter(), nullptr, [&] {
    int32_t inherited = 0;
    IPluginCreatorInterface* const* parents = nullptr;
    if (IPluginRegistry* parent = searchedParent())
      parents = parent->getAllCreatorsRecursive(&inherited);
    const std::lock_guard lock(mutex_);
    recursive_ = all_;
    if (parents) recursive_.insert(recursive_.end(), parents, parents + inherited);
    return listIn(recursive_, count);
  });
}

IPluginCreator* PluginRegistry::getPluginCreator(const char* name, const char* version,
                                                 const char* pluginNamespace) noexcept {
  IPluginCreatorInterface* creator = getCreator(name, version, pluginNamespace);
  return creator ? asV1(creator) : nullptr;
}

IPluginCreatorInterface* PluginRegistry::getCreator(const char* name, const char* version,
                                                    const char* pluginNamespace) noexcept {
  const auto viewOf = [](const char* text) { return std::string_view(text ? text : ""); };
  {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_)
      if (entry.isCalled(viewOf(name), viewOf(version), viewOf(pluginNamespace)))
        return entry.creator;
  }
  IPluginRegistry* parent = searchedParent();
  return parent ? parent->getCreator(name, version, pluginNamespace) : nullptr;
}

IPluginResource* PluginRegistry::acquirePluginResource(const char* key,
                                                       IPluginResource* resource) noexcept {
  return guarded<IPluginResource*>(reporter(), nullptr, [&] {
    if (!key) fail(ErrorKind::kInvalidArgument, "acquirePluginResource was given no key");
    const std::lock_guard lock(mutex_);
    auto found = resources_.find(std::string_view(key));
    if (found == resources_.end()) {
      if (!resource)
        fail(ErrorKind::kInvalidArgument, "no plugin has shared a resource '", key,
             "', and none was given to be shared");
      std::unique_ptr<IPluginResource> shared(resource->clone());
      if (!shared)
        fail(ErrorKind::kInvalidArgument, "resource '", key, "' failed: clone() gave no object");
      found = resources_.emplace(key, Resource{std::move(shared)}).first;
    }
    ++found->second.uses;
    return found->second.shared.get();
  });
}

int32_t PluginRegistry::releasePluginResource(const char* key) noexcept {
  return guarded(reporter(), int32_t{-1}, [&] {
    const std::lock_guard lock(mutex_);
    const auto found = resources_.find(std::string_view(key ? key : ""));
    if (found == resources_.end())
      fail(ErrorKind::kInvalidArgument, "no plugin holds a resource '", textOf(key), "'");
    if (--found->second.uses > 0) return 0;
    const int32_t status = found->second.shared->release();
    resources_.erase(found);
    return status;
  });
}

// The standard plugins are compositions of operators, which networks are made of: the library that
// only runs engines has none, and their code is not in it.
[[gnu::weak]] void registerStandardPlugins(PluginRegistry& registry, const char* pluginNamespace);

PluginRegistry& globalPluginRegistry() {
  static auto* registry = new PluginRegistry;
  return *registry;
}

}  // namespace camshaft::api

extern "C" CAMSHAFT_API nvinfer1::IPluginRegistry* getPluginRegistry() noexcept {
  return &camshaft::api::globalPluginRegistry();
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

extern "C" CAMSHAFT_API bool initLibNvInferPlugins(void* /*logger*/, const char* libNamespace) {
  using namespace camshaft::api;
  return guarded(Reporter(getLogger()), false, [&] {
    if (registerStandardPlugins)
      registerStandardPlugins(globalPluginRegistry(), libNamespace ? libNamespace : "");
    return true;
  });
}
