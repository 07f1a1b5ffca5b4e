// IAlgorithmSelector of a user, as the tuner's selector.
#pragma once

#include "NvInfer.h"
#include "tuner/selector.h"

namespace camshaft::api {

class SelectorAdapter final : public KernelSelector {
 public:
  // `rejectsEmpty`: a selection of nothing ends the build, instead of leaving the choice to it.
  SelectorAdapter(nvinfer1::IAlgorithmSelector& selector, bool rejectsEmpty)
      : selector_(selector), rejectsEmpty_(rejectsEmpty) {}

  std::vector<size_t> select(const LayerFacts& layer, std::span<const Tactic> tactics) override;
  void report(std::span<const Selected> selected) override;

 private:
  nvinfer1::IAlgorithmSelector& selector_;
  bool rejectsEmpty_;
};

}  // namespace camshaft::api
