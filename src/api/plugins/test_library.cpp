// A library of plugins, as the registry's tests load one.
#include "api/plugins/test_plugins.h"

extern "C" __attribute__((visibility("default"))) nvinfer1::IPluginCreatorInterface* const*
getCreators(int32_t& count) {
  static camshaft::api::CreatorOf<camshaft::api::ScalePlugin> scale;
  static camshaft::api::CreatorOfV2<camshaft::api::TwicePlugin> twice;
  static nvinfer1::IPluginCreatorInterface* const creators[] = {&scale, &twice};
  count = 2;
  return creators;
}

extern "C" __attribute__((visibility("default"))) void setLoggerFinder(
    nvinfer1::ILoggerFinder* finder) {
  finder->findLogger()->log(nvinfer1::ILogger::Severity::kERROR, "the library has a logger");
}
