// Shared libraries of plugins. Such a library exports getCreators(), or getPluginCreators() for
// creators of version 1, and may export setLoggerFinder().
#include <dlfcn.h>

#include <algorithm>

#include "api/plugins/registry.h"

namespace camshaft::api {

using namespace nvinfer1;

namespace {

class LoggerFinder final : public ILoggerFinder {
 public:
  ILogger* findLogger() override { return getLogger(); }
};

template <class Function>
Function* findIn(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

std::vector<std::pair<IPluginCreatorInterface*, std::string>> creatorsIn(void* library,
                                                                         const char* path) {
  std::vector<std::pair<IPluginCreatorInterface*, std::string>> creators;
  int32_t count = 0;
  const auto note = [&](IPluginCreatorInterface* creator, const char* space) {
    creators.emplace_back(creator, space ? space : "");
  };
  if (auto* getAll = findIn<IPluginCreatorInterface* const*(int32_t&)>(library, "getCreators")) {
    IPluginCreatorInterface* const* all = getAll(count);
    for (int32_t i = 0; i < count; ++i) {
      if (IPluginCreator* first = asV1(all[i])) note(first, first->getPluginNamespace());
      if (IPluginCreatorV3One* third = asV3One(all[i])) note(third, third->getPluginNamespace());
    }
  } else if (auto* getFirst =
                 findIn<IPluginCreator* const*(int32_t&)>(library, "getPluginCreators")) {
    IPluginCreator* const* all = getFirst(count);
    for (int32_t i = 0; i < count; ++i) note(all[i], all[i]->getPluginNamespace());
  } else {
    fail(ErrorKind::kInvalidArgument, "library '", path,
         "' exports neither getCreators() nor getPluginCreators()");
  }
  return creators;
}

}  // namespace

std::vector<IPluginCreatorInterface*> PluginRegistry::addCreatorsOf(void* library,
                                                                    const char* path) {
  static LoggerFinder finder;
  if (auto* setFinder = findIn<void(ILoggerFinder*)>(library, "setLoggerFinder"))
    setFinder(&finder);
  std::vector<IPluginCreatorInterface*> added;
  // One that is registered already, say by a library that does so itself, stays; it was reported.
  for (const auto& [creator, space] : creatorsIn(library, path))
    if (registerCreator(*creator, space.c_str())) added.push_back(creator);
  return added;
}

IPluginRegistry::PluginLibraryHandle PluginRegistry::loadLibrary(const char* path) noexcept {
  return guarded<PluginLibraryHandle>(reporter(), nullptr, [&] {
    if (!path) fail(ErrorKind::kInvalidArgument, "loadLibrary was given no path");
    // Closed again should anything fail.
    std::unique_ptr<void, int (*)(void*)> library(dlopen(path, RTLD_NOW | RTLD_LOCAL), dlclose);
    if (!library) {
      const char* reason = dlerror();
      fail(ErrorKind::kIo, "the library of plugins cannot be loaded: ", reason ? reason : path);
    }
    {
      const std::lock_guard lock(mutex_);
      if (libraries_.contains(library.get()))
        fail(ErrorKind::kInvalidArgument, "library '", path, "' is loaded already");
      libraries_[library.get()];
    }
    try {
      std::vector<IPluginCreatorInterface*> added = addCreatorsOf(library.get(), path);
      const std::lock_guard lock(mutex_);
      libraries_[library.get()] = std::move(added);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      libraries_.erase(library.get());
      throw;
    }
    return library.release();
  });
}

void PluginRegistry::deregisterLibrary(PluginLibraryHandle handle) noexcept {
  guarded(reporter(), false, [&] {
    std::vector<IPluginCreatorInterface*> creators;
    {
      const std::lock_guard lock(mutex_);
      const auto found = libraries_.find(handle);
      if (found == libraries_.end())
        fail(ErrorKind::kInvalidArgument,
             "deregisterLibrary was given no library of this registry");
      creators = std::move(found->second);
      libraries_.erase(found);
    }
    for (const IPluginCreatorInterface* creator : creators) deregisterCreator(*creator);
    dlclose(handle);
    return true;
  });
}

}  // namespace camshaft::api
