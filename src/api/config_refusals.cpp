// Settings that builds cannot follow yet. Each takes the value it has, and refuses all others.
#include "api/config.h"

namespace camshaft::api {

using namespace nvinfer1;

bool BuilderConfig::setRemoteAutoTuningConfig(const char* config) noexcept {
  if (!config || !*config) return true;
  return refused(reporter_, "kernels cannot be timed on another machine yet", false);
}

bool BuilderConfig::setBuildRoute(const char* route) noexcept {
  if (!route || !*route) return true;
  return refused(reporter_, "there is one build route, which has no name", false);
}

}  // namespace camshaft::api
