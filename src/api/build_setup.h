// What a build is told, from the settings of its builder, network and configuration.
#pragma once

#include <memory>

#include "api/algorithm_selector.h"
#include "api/config.h"
#include "api/network.h"
#include "compiler/compile.h"

namespace camshaft::api {

// Options, and what they point to.
struct BuildSetup {
  CompileOptions options;
  std::unique_ptr<SelectorAdapter> selector;
  std::unique_ptr<BuildProgress> progress;
};

// What a builder is to the rest of the API.
class BuildSetups {
 public:
  virtual ~BuildSetups() = default;
  // All but ranges of tensors. Throws Error where the settings exclude one another.
  virtual BuildSetup setup(const Network& network, const BuilderConfig& config) const = 0;
};

}  // namespace camshaft::api
