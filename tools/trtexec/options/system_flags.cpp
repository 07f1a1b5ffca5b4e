#include "flag.h"

namespace trtexec {

std::vector<Flag> systemFlags(Options& options) {
  SystemOptions& system = options.system;
  return {
      {{"device"}, "N", "GPU to use (default 0)", storesNumber<int>(system.device, 0, 1023)},
      {{"useDLACore"}, "N", "DLA core to use", storesNumber<int>(system.dlaCore, 0, 1023)},
      {{"staticPlugins", "plugins"},
       "FILE",
       "Load a library that registers its plugins by itself; once for each library",
       appends(system.staticPlugins),
       true},
      {{"dynamicPlugins"},
       "FILE",
       "Let the plugin registry load a library; once for each library",
       appends(system.dynamicPlugins),
       true},
      {{"setPluginsToSerialize"},
       "FILE",
       "Put a library of plugins into the engine; once for each library",
       appends(system.serializedPlugins),
       true},
  };
}

}  // namespace trtexec
