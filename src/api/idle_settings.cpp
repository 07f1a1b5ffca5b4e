#include "api/idle_settings.h"

namespace camshaft::api {
namespace {

using namespace nvinfer1;

template <class Setting>
struct Idle {
  Setting setting;
  const char *name, *reason;
};

constexpr Idle<BuilderFlag> kFlags[] = {
    {BuilderFlag::kDEBUG, "kDEBUG", "no run waits for its layers one by one"},
    {BuilderFlag::kSPARSE_WEIGHTS, "kSPARSE_WEIGHTS", "no kernel gains from sparse weights"},
    {BuilderFlag::kSAFETY_SCOPE, "kSAFETY_SCOPE", "no engine is for a certified runtime"},
    {BuilderFlag::kDIRECT_IO, "kDIRECT_IO", "layers work on row-major tensors alone"},
    {BuilderFlag::kVERSION_COMPATIBLE, "kVERSION_COMPATIBLE",
     "every version loads the engines of its file format, and refuses kernels it lacks by name"},
    {BuilderFlag::kEXCLUDE_LEAN_RUNTIME, "kEXCLUDE_LEAN_RUNTIME", "no engine holds a runtime"},
    {BuilderFlag::kFP8, "kFP8", "a network has the types it is written with"},
    {BuilderFlag::kINT4, "kINT4", "a network has the types it is written with"},
    {BuilderFlag::kFP4, "kFP4", "a network has the types it is written with"},
    {BuilderFlag::kDISABLE_COMPILATION_CACHE, "kDISABLE_COMPILATION_CACHE",
     "timing caches hold no compiled code"},
    {BuilderFlag::kSTRICT_NANS, "kSTRICT_NANS", "no pass hides NaN or infinity"},
    {BuilderFlag::kDISTRIBUTIVE_INDEPENDENCE, "kDISTRIBUTIVE_INDEPENDENCE",
     "kernels may add up the rows of a tensor in different orders"},
};

constexpr Idle<PreviewFeature> kFeatures[] = {
    {PreviewFeature::kPROFILE_SHARING_0806, "kPROFILE_SHARING_0806",
     "contexts may share a profile anyway"},
    {PreviewFeature::kALIASED_PLUGIN_IO_10_03, "kALIASED_PLUGIN_IO_10_03",
     "plugins may change inputs in place anyway"},
    {PreviewFeature::kRUNTIME_ACTIVATION_RESIZE_10_10, "kRUNTIME_ACTIVATION_RESIZE_10_10",
     "contexts have memory for the largest shapes of their profile"},
    {PreviewFeature::kMULTIDEVICE_RUNTIME_10_16, "kMULTIDEVICE_RUNTIME_10_16",
     "an engine runs on one device"},
};

}  // namespace

void logIdleSettings(const BuilderConfig& config, const Log& log) {
  for (const auto& [flag, name, reason] : kFlags)
    if (config.getFlag(flag)) log.info("builder flag ", name, " changes nothing: ", reason);
  for (const auto& [feature, name, reason] : kFeatures) {
    const bool byDefault =
        (BuilderConfig::kDefaultPreviewFeatures >> static_cast<uint32_t>(feature) & 1) != 0;
    if (config.getPreviewFeature(feature) != byDefault)
      log.info("preview feature ", name, " changes nothing: ", reason);
  }
  if (config.getTilingOptimizationLevel() != TilingOptimizationLevel::kNONE)
    log.info("the level of tiling changes nothing: layers run one after the other");
  if (config.getProfileStream())
    log.info("the profile stream changes nothing: kernels are timed on a stream of the build's");
  if (config.getQuantizationFlags() != 0)
    log.info("quantisation flags change nothing: tensors are always calibrated before fusion");
}

}  // namespace camshaft::api
