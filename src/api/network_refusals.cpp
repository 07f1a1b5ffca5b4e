// Marks that networks cannot have yet.
#include "api/network.h"

namespace camshaft::api {

using namespace nvinfer1;

namespace {

constexpr char kNoRefit[] = "weights of engines cannot be refitted yet, so naming them has no use";

}  // namespace

bool Network::setWeightsName(Weights, const char*) noexcept {
  return refused(reporter_, kNoRefit, false);
}

bool Network::markWeightsRefittable(const char*) noexcept {
  return refused(reporter_, kNoRefit, false);
}

bool Network::unmarkWeightsRefittable(const char*) noexcept {
  return refused(reporter_, kNoRefit, false);
}

bool Network::areWeightsMarkedRefittable(const char*) const noexcept { return false; }

}  // namespace camshaft::api
