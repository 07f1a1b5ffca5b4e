// Names and marks of weights, for engines that can be refitted.
#include "api/network.h"

namespace camshaft::api {

using namespace nvinfer1;

namespace {

// Whether a constant of the network was copied from there, or lies there.
bool isAt(const Value& constant, const void* values) {
  return constant.constant->given == values || constant.constant->bytes.data() == values;
}

}  // namespace

std::string Network::weightsNameOf(const Value& constant) const {
  for (const void* place :
       {constant.constant->given, static_cast<const void*>(constant.constant->bytes.data())})
    if (const auto found = weightsNames_.find(place); found != weightsNames_.end())
      return found->second;
  return constant.name;
}

std::map<std::string, std::string> Network::constantLayers() const {
  std::map<std::string, std::string> names;
  for (const auto& layer : layers_)
    if (layer->type == nvinfer1::LayerType::kCONSTANT && layer->outputs[0]->value())
      names.emplace(layer->outputs[0]->value()->name, layer->name);
  return names;
}

bool Network::hasWeights(std::string_view name) const {
  for (const Value* value : graph_.values())
    if (value->isConstant() && weightsNameOf(*value) == name) return true;
  return false;
}

bool Network::setWeightsName(Weights weights, const char* name) noexcept {
  return guarded(reporter_, false, [&] {
    if (!name) fail(ErrorKind::kInvalidArgument, "setWeightsName was given no name");
    if (!weights.values)
      fail(ErrorKind::kInvalidArgument, "setWeightsName was given weights without values for '",
           name, "'");
    for (const Value* value : graph_.values())
      if (value->isConstant() && isAt(*value, weights.values)) {
        weightsNames_[weights.values] = name;
        return true;
      }
    fail(ErrorKind::kInvalidArgument, "the weights to be named '", name,
         "' are of no layer of the network; add the layer first, from the same memory");
  });
}

bool Network::markWeightsRefittable(const char* name) noexcept {
  return guarded(reporter_, false, [&] {
    if (!name || !hasWeights(name))
      fail(ErrorKind::kInvalidArgument, "the network has no weights '", name ? name : "(null)",
           "' to be marked; setWeightsName() names those of a layer");
    refittableWeights_.insert(name);
    return true;
  });
}

bool Network::unmarkWeightsRefittable(const char* name) noexcept {
  return guarded(reporter_, false, [&] {
    if (!name || refittableWeights_.erase(name) == 0)
      fail(ErrorKind::kInvalidArgument, "the weights '", name ? name : "(null)",
           "' are not marked refittable");
    return true;
  });
}

bool Network::areWeightsMarkedRefittable(const char* name) const noexcept {
  return name && refittableWeights_.contains(std::string_view(name));
}

}  // namespace camshaft::api
