// How a layer is added: made, given its inputs, emitted and kept.
#pragma once

#include "api/network.h"

namespace camshaft::api {

template <class L, class MakeParams>
L* Network::add(const char* kind, std::span<nvinfer1::ITensor* const> inputs,
                MakeParams&& makeParams) noexcept {
  return guarded<L*>(
      reporter_, nullptr,
      [&] {
        requireWhole();
        auto layer = std::make_unique<L>(*this, str(kind, "_", nextSerial_), makeParams());
        for (nvinfer1::ITensor* input : inputs) {
          if (!input)
            fail(ErrorKind::kInvalidArgument, "layer '", layer->name, "' was given a null input");
          layer->inputs.push_back(own(*input));
        }
        roomForOneMore(layers_);
        layerNames_.try_emplace(layer->name, 0);  // first: nothing may fail once it is attached
        attach(*layer);
        L* raw = layer.get();
        layers_.push_back(std::move(layer));
        return raw;
      },
      OutOfMemory{"out of memory while adding a layer"});
}

template <class B>
B* Network::addBlock(const char* kind) noexcept {
  return guarded<B*>(reporter_, nullptr, [&] {
    requireWhole();
    const auto number = static_cast<int64_t>(blocks_.size());
    auto block = std::make_unique<B>(*this, number, str(kind, "_", number));
    B* raw = block.get();
    blocks_.push_back(std::move(block));
    return raw;
  });
}

}  // namespace camshaft::api
