// The layer that a node of a parsed model is.
#pragma once

#include <memory>

#include "api/layers/layer.h"

namespace camshaft::api {

std::unique_ptr<LayerCore> layerFor(Network& network, Node* node);

}  // namespace camshaft::api
