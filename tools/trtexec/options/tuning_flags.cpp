#include "flag.h"

namespace trtexec {

std::vector<Flag> tuningFlags(Options& options) {
  BuildOptions& build = options.build;
  return {
      {{"setBuildRoute"}, "ROUTE", "Build along this route", stores(build.buildRoute)},
      {{"helpBuildRoute"},
       "[=KNOB]",
       "Print the routes that builds may take, and end",
       turnsOn(build.showBuildRoutes)},
  };
}

}  // namespace trtexec
