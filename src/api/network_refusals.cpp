// Layers and marks that networks cannot have yet. Most of these layers are there in parsed models.
#include "api/network.h"

namespace camshaft::api {

using namespace nvinfer1;

namespace {

constexpr char kNoDebugTensors[] =
    "debug tensors are not available yet; mark the tensor as an output of the network";
constexpr char kNoRefit[] = "weights of engines cannot be refitted yet, so naming them has no use";

}  // namespace

bool Network::setWeightsName(Weights, const char*) noexcept {
  return refused(reporter_, kNoRefit, false);
}

bool Network::markDebug(ITensor&) noexcept { return refused(reporter_, kNoDebugTensors, false); }

bool Network::unmarkDebug(ITensor&) noexcept { return refused(reporter_, kNoDebugTensors, false); }

bool Network::isDebugTensor(const ITensor&) const noexcept { return false; }

bool Network::markWeightsRefittable(const char*) noexcept {
  return refused(reporter_, kNoRefit, false);
}

bool Network::unmarkWeightsRefittable(const char*) noexcept {
  return refused(reporter_, kNoRefit, false);
}

bool Network::areWeightsMarkedRefittable(const char*) const noexcept { return false; }

bool Network::markUnfusedTensorsAsDebugTensors() noexcept {
  return refused(reporter_, kNoDebugTensors, false);
}

bool Network::unmarkUnfusedTensorsAsDebugTensors() noexcept {
  return true;  // none are
}

IAttention* Network::addAttention(ITensor&, ITensor&, ITensor&, AttentionNormalizationOp,
                                  bool) noexcept {
  return refused<IAttention*>(reporter_,
                              "attention layers cannot be added call by call yet; parse an ONNX "
                              "model that has the operator",
                              nullptr);
}

IRotaryEmbeddingLayer* Network::addRotaryEmbedding(ITensor&, ITensor&, ITensor&, bool,
                                                   int32_t) noexcept {
  return refused<IRotaryEmbeddingLayer*>(reporter_,
                                         "rotary embedding layers cannot be added call by call "
                                         "yet; parse an ONNX model that has the operator",
                                         nullptr);
}

IKVCacheUpdateLayer* Network::addKVCacheUpdate(ITensor&, ITensor&, ITensor&, KVCacheMode) noexcept {
  return refused<IKVCacheUpdateLayer*>(reporter_,
                                       "cache update layers cannot be added call by call yet; "
                                       "parse an ONNX model that has the operator",
                                       nullptr);
}

IMoELayer* Network::addMoE(ITensor&, ITensor&, ITensor&) noexcept {
  return refused<IMoELayer*>(reporter_, "mixture-of-experts layers are not available yet", nullptr);
}

IDistCollectiveLayer* Network::addDistCollective(ITensor&, CollectiveOperation, ReduceOperation,
                                                 int64_t, int64_t*, int64_t) noexcept {
  return refused<IDistCollectiveLayer*>(reporter_,
                                        "layers on several devices are not available yet", nullptr);
}

IAttention* Network::addAttentionV2(ITensor&, ITensor&, ITensor&, AttentionNormalizationOp,
                                    CausalMaskKind) noexcept {
  return refused<IAttention*>(reporter_,
                              "attention layers cannot be added call by call yet; parse an ONNX "
                              "model that has the operator",
                              nullptr);
}

}  // namespace camshaft::api
