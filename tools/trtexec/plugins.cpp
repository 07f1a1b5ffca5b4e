#include "plugins.h"

#include <dlfcn.h>

#include <memory>
#include <stdexcept>

#include "NvInferPlugin.h"
#include "require.h"

namespace trtexec {

void loadPlugins(const SystemOptions& system, ConsoleLogger& log) {
  for (const std::string& path : system.staticPlugins) {
    log.info("Loading supplied plugin library: " + path);
    // Its creators register themselves when it is loaded.
    if (!dlopen(path.c_str(), RTLD_LAZY | RTLD_GLOBAL))
      throw std::runtime_error("--staticPlugins: " + std::string(dlerror()));
  }
  if (system.dynamicPlugins.empty()) return;
  // The registry reports to the logger of a builder.
  const std::unique_ptr<nvinfer1::IBuilder> builder(nvinfer1::createInferBuilder(log));
  require(builder != nullptr);
  for (const std::string& path : system.dynamicPlugins) {
    log.info("Loading supplied plugin library: " + path);
    require(builder->getPluginRegistry().loadLibrary(path.c_str()) != nullptr);
  }
}

}  // namespace trtexec
