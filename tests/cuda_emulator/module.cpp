#include "cuda_emulator/module.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "cuda_emulator/compiler.h"
#include "cuda_emulator/emulator.h"

namespace camshaft::emulator {
namespace {

[[noreturn]] void failWith(const std::string& message) {
  throw std::runtime_error("CUDA emulator: " + message);
}

// Weak, so that a module goes when its last user goes.
struct LoadedModules {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<const LoadedModule>> byPath;
  std::weak_ptr<const LoadedModule> newest;
};

LoadedModules& loadedModules() {
  static LoadedModules* instance = new LoadedModules;
  return *instance;
}

struct TlsQuery {
  size_t module = 0;
  size_t bytes = 0;
};

size_t threadLocalBytes(void* handle) {
  TlsQuery query;
  if (dlinfo(handle, RTLD_DI_TLS_MODID, &query.module) != 0) failWith(dlerror());
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* wanted = static_cast<TlsQuery*>(data);
        if (info->dlpi_tls_modid != wanted->module) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type == PT_TLS) wanted->bytes = info->dlpi_phdr[i].p_memsz;
        }
        return 1;
      },
      &query);
  return query.bytes;
}

template <class T>
T symbol(void* handle, const char* name) {
  void* address = dlsym(handle, name);
  if (!address) failWith(std::string("a compiled source lacks '") + name + "'");
  return reinterpret_cast<T>(address);
}

std::shared_ptr<const LoadedModule> load(const std::string& path) {
  LoadedModules& modules = loadedModules();
  std::lock_guard lock(modules.mutex);
  if (auto loaded = modules.byPath[path].lock()) return loaded;
  auto module = std::make_shared<LoadedModule>();
  module->path = path;
  module->handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module->handle) failWith(std::string("the compiled source does not load: ") + dlerror());
  module->entries = symbol<const EntryPoint*>(module->handle, "camshaftEntryPoints");
  module->threadState = symbol<ThreadState* (*)()>(module->handle, "camshaftThreadState");
  module->sharedBytes = threadLocalBytes(module->handle);
  modules.byPath[path] = module;
  modules.newest = module;
  return module;
}

}  // namespace

LoadedModule::~LoadedModule() {
  if (handle) dlclose(handle);
}

void* LoadedModule::sharedStorage() const {
  void* storage = nullptr;
  if (dlinfo(handle, RTLD_DI_TLS_DATA, &storage) != 0 || !storage) {
    failWith("the thread-local storage of a compiled source is missing");
  }
  return storage;
}

// glibc before 2.39 looks up thread-local variables the slow way until the thread has touched those
// of the library loaded last.
void refreshThreadStorage() {
  std::shared_ptr<const LoadedModule> newest;
  {
    std::lock_guard lock(loadedModules().mutex);
    newest = loadedModules().newest.lock();
  }
  if (newest) newest->threadState();
}

std::shared_ptr<Module> Module::compile(const std::string& source) {
  return std::shared_ptr<Module>(new Module(load(compileToFile(source))));
}

Function Module::find(const std::string& name) const {
  for (const EntryPoint* entry = loaded_->entries; entry->name; ++entry) {
    if (name != entry->name) continue;
    return {loaded_,
            entry,
            name,
            {entry->parameterSizes, entry->parameterSizes + entry->parameterCount}};
  }
  failWith("the source has no kernel '" + name + "'");
}

std::vector<std::string> Module::kernels() const {
  std::vector<std::string> names;
  for (const EntryPoint* entry = loaded_->entries; entry->name; ++entry) {
    names.emplace_back(entry->name);
  }
  return names;
}

void prefetch(const std::vector<std::string>& sources) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr firstFailure;
  const auto work = [&] {
    for (size_t i = next++; i < sources.size(); i = next++) {
      try {
        compileToFile(sources[i]);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!firstFailure) firstFailure = std::current_exception();
      }
    }
  };
  std::thread second(work);
  work();
  second.join();
  if (firstFailure) std::rethrow_exception(firstFailure);
}

}  // namespace camshaft::emulator
