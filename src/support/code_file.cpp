#include "support/code_file.h"

#include <dlfcn.h>
#include <link.h>

namespace camshaft {

std::string fileOf(const void* code) {
  Dl_info info{};
  return dladdr(code, &info) && info.dli_fname ? info.dli_fname : "";
}

std::string fileOfLoaded(std::span<const char* const> libraries) {
  for (const char* name : libraries) {
    void* handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (!handle) continue;
    const link_map* map = nullptr;
    std::string path = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : name;
    dlclose(handle);
    return path;
  }
  return "";
}

std::string folderOf(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

}  // namespace camshaft
