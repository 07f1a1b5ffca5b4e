#include <gtest/gtest.h>

#include "backends/cpu/gemm/test_support.h"
#include "backends/cpu/kernel_harness.h"
#include "support/text.h"

namespace camshaft::cpu {
namespace {

class RecurrentKernels : public IsaTest {};
INSTANTIATE_TEST_SUITE_P(Isas, RecurrentKernels, testing::ValuesIn(availableIsas()), isaTestName);

using Sizes = std::vector<std::map<std::string, int64_t>>;

Sizes usualSizes() { return {{{"t", 6}, {"b", 3}}, {{"t", 1}, {"b", 1}}, {{"t", 3}, {"b", 8}}}; }

struct Layer {
  std::string kind = "lstm", direction = "forward", attributes;
  bool bias = true, state = false, lengths = false, peepholes = false;
  bool constantWeights = true, batchFirst = false;
  int inputs = 11, hidden = 19;
  Sizes sizes = usualSizes();
};

// Weights small enough that states neither vanish nor saturate.
void expectLayerMatches(const Layer& layer) {
  const bool isLstm = layer.kind == "lstm";
  const int directions = layer.direction == "bidirectional" ? 2 : 1;
  const int rows = (isLstm ? 4 : layer.kind == "gru" ? 3 : 1) * layer.hidden;
  const std::string sequence = layer.batchFirst ? "b, t" : "t, b";
  const std::string state =
      str(layer.batchFirst ? str("b, ", directions) : str(directions, ", b"), ", ", layer.hidden);
  std::string inputs = str("%x: f32[", sequence, ", ", layer.inputs, "]"), operands = "%x";
  const auto add = [&](bool isThere, const std::string& name, const std::string& type) {
    operands += isThere ? ", %" + name : ", _";
    if (isThere) inputs += str(", %", name, ": ", type);
  };
  add(true, "w", str("f32[", directions, ", ", rows, ", ", layer.inputs, "]"));
  add(true, "r", str("f32[", directions, ", ", rows, ", ", layer.hidden, "]"));
  add(layer.bias, "bias", str("f32[", directions, ", ", 2 * rows, "]"));
  add(layer.lengths, "lengths", "i32[b]");
  add(layer.state, "h", str("f32[", state, "]"));
  add(layer.state && isLstm, "c", str("f32[", state, "]"));
  add(layer.peepholes, "p", str("f32[", directions, ", ", 3 * layer.hidden, "]"));
  std::set<std::string> constants;
  if (layer.constantWeights) constants = {"w", "r"};
  if (layer.constantWeights && layer.bias) constants.insert("bias");
  if (layer.constantWeights && layer.peepholes) constants.insert("p");
  const std::string results = isLstm ? "%y, %yh, %yc" : "%y, %yh";
  expectKernelsMatch(
      {.graph = str("symbols t, b graph g(", inputs, ") { ", results, " = Recurrent(", operands,
                    ") {kind = ", layer.kind, ", direction = ", layer.direction,
                    ", hidden = ", layer.hidden, layer.batchFirst ? ", batch_first = true" : "",
                    layer.attributes, "} return ", results, " }"),
       .sizes = layer.sizes,
       .constants = constants,
       .ranges = {{"w", {-0.4, 0.4}}, {"r", {-0.4, 0.4}}, {"p", {-0.4, 0.4}}, {"lengths", {0, 6}}},
       .tolerance = 2e-5});
}

// Every kind of cell in every direction.
template <class Check>
void forEachCell(Check check) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    check(Layer{.kind = "lstm", .direction = direction});
    check(Layer{.kind = "gru", .direction = direction});
    check(
        Layer{.kind = "gru", .direction = direction, .attributes = ", linear_before_reset = true"});
    check(Layer{.kind = "rnn", .direction = direction});
  }
}

TEST_P(RecurrentKernels, EveryCell) {
  forEachCell([](Layer layer) {
    expectLayerMatches(layer);
    layer.state = true;
    layer.bias = false;
    expectLayerMatches(layer);
  });
}

TEST_P(RecurrentKernels, SequencesOfSeveralLengths) {
  forEachCell([](Layer layer) {
    layer.lengths = layer.state = true;
    layer.sizes.push_back({{"t", 4}, {"b", 23}});
    expectLayerMatches(layer);
    layer.batchFirst = true;
    expectLayerMatches(layer);
  });
}

TEST_P(RecurrentKernels, WeightsThatAreNoConstants) {
  forEachCell([](Layer layer) {
    layer.constantWeights = false;
    layer.peepholes = layer.kind == "lstm";
    expectLayerMatches(layer);
  });
}

TEST_P(RecurrentKernels, Clipping) {
  forEachCell([](Layer layer) {
    layer.attributes += ", clip = 0.3";
    expectLayerMatches(layer);
  });
}

TEST_P(RecurrentKernels, PeepholesAndCoupledGates) {
  for (const char* attributes : {"", ", input_forget = true"})
    expectLayerMatches(
        {.direction = "bidirectional", .attributes = attributes, .state = true, .peepholes = true});
}

TEST_P(RecurrentKernels, EveryActivation) {
  for (const char* name : {"Sigmoid", "Tanh", "Relu", "Affine", "LeakyRelu", "ThresholdedRelu",
                           "ScaledTanh", "HardSigmoid", "Elu", "Softsign", "Softplus"})
    expectLayerMatches(
        {.kind = "rnn",
         .attributes = str(", activations = \"", name,
                           "\", activation_alpha = [0.3], activation_beta = [0.6]")});
  expectLayerMatches(
      {.direction = "bidirectional",
       .attributes = ", activations = \"HardSigmoid,Relu,Softsign,Sigmoid,Elu,Tanh\""});
  expectLayerMatches({.kind = "gru",
                      .direction = "bidirectional",
                      .attributes = ", activations = \"Sigmoid,Softsign,HardSigmoid,Tanh\""});
}

TEST_P(RecurrentKernels, OddAndWholeSizes) {
  const Sizes sizes = {{{"t", 2}, {"b", 1}}, {{"t", 2}, {"b", 5}}};
  for (int hidden : {1, 16, 33, 64})
    for (const char* kind : {"lstm", "gru", "rnn"})
      expectLayerMatches({.kind = kind,
                          .lengths = true,
                          .inputs = hidden % 7 + 1,
                          .hidden = hidden,
                          .sizes = sizes});
}

// More steps than are multiplied with the input's weights at once.
TEST_P(RecurrentKernels, LongSequences) {
  for (bool batchFirst : {false, true})
    expectLayerMatches({.direction = "bidirectional",
                        .batchFirst = batchFirst,
                        .inputs = 5,
                        .hidden = 6,
                        .sizes = {{{"t", 300}, {"b", 1}}, {{"t", 67}, {"b", 9}}}});
}

// Batches that threads divide, and steps that they share.
TEST_P(RecurrentKernels, LayersForAllThreads) {
  for (const char* kind : {"lstm", "gru"}) {
    expectLayerMatches({.kind = kind,
                        .inputs = 40,
                        .hidden = 60,
                        .sizes = {{{"t", 5}, {"b", 40}}, {{"t", 4}, {"b", 13}}}});
    expectLayerMatches({.kind = kind, .hidden = 260, .sizes = {{{"t", 3}, {"b", 2}}}});
  }
}

}  // namespace
}  // namespace camshaft::cpu
