#pragma once

// Layers that are plugins.

#include "NvInferLayerBase.h"

namespace nvinfer1 {

class CAMSHAFT_API IPluginV2Layer : public ILayer {
 public:
  IPluginV2& getPlugin() noexcept { return mImpl->getPlugin(); }

 protected:
  ~IPluginV2Layer() noexcept override = default;

  apiv::VPluginV2Layer* mImpl{};
};

class CAMSHAFT_API IPluginV3Layer : public ILayer {
 public:
  IPluginV3& getPlugin() noexcept { return mImpl->getPlugin(); }

 protected:
  ~IPluginV3Layer() noexcept override = default;

  apiv::VPluginV3Layer* mImpl{};
};

}  // namespace nvinfer1
