#include "quantize/equalize.h"

#include <algorithm>
#include <cmath>

#include "ir/tensor.h"

namespace camshaft {
namespace {

// Constants that channels are divided in, each seen as value[(o * channels + c) * inner + i].
struct Divided {
  size_t node, input;
  RealTensor tensor;
  ChannelLayout layout;
};

class Equalizer {
 public:
  Equalizer(ModelEditor& editor, const std::vector<Product>& products)
      : editor_(editor), products_(products) {
    for (const Product& product : products) readers_[product.input].push_back(&product);
  }

  bool equalize(const std::string& tensor, const TensorStatistics& statistics) {
    const std::span<const float> largest = statistics.channelLargest();
    const auto& readers = readers_.find(tensor)->second;
    if (!editor_.isReadByNodesAlone(tensor) || editor_.usesOf(tensor).size() != readers.size())
      return false;
    const auto channels = static_cast<int64_t>(largest.size());
    for (const Product* reader : readers)
      if (reader->inputChannels() != channels) return false;
    std::vector<Divided> divided;
    if (!findMaker(tensor, channels, divided)) return false;
    const std::vector<float> factors = factorsFor(readers, statistics);
    if (factors.empty()) return false;
    for (Divided& constant : divided) divide(constant, factors);
    for (const Product* reader : readers) multiply(*reader, factors);
    editor_.refresh();
    return true;
  }

 private:
  const onnx::Node& node(size_t index) const { return editor_.loaded().model.graph.nodes[index]; }

  // One number for each channel, which is the last dimension.
  bool addConstant(size_t index, size_t input, int64_t channels,
                   std::vector<Divided>& divided) const {
    auto constant = editor_.findReals(node(index).inputs[input]);
    if (!constant || static_cast<int64_t>(constant->values.size()) != channels) return false;
    if (constant->dims.empty() || constant->dims.back() != channels) return false;
    divided.push_back({index, input, std::move(*constant), {1, channels, 1}});
    return true;
  }

  bool findMaker(std::string tensor, int64_t channels, std::vector<Divided>& divided) const {
    const auto index = editor_.producerOf(tensor);
    if (!index || !isStandard(node(*index))) return false;
    const onnx::Node& maker = node(*index);
    if (maker.opType == "Relu" || maker.opType == "LeakyRelu" || maker.opType == "PRelu") {
      const std::string input(maker.inputs[0]);
      return editor_.soleUse(input) && findProduct(input, channels, divided);
    }
    if (findProduct(tensor, channels, divided)) return true;
    divided.clear();
    return findNorm(*index, channels, divided);
  }

  bool findProduct(const std::string& tensor, int64_t channels,
                   std::vector<Divided>& divided) const {
    const auto it = std::ranges::find(products_, tensor, &Product::output);
    if (it == products_.end() || it->rows() != channels) return false;
    const onnx::Node& maker = node(it->node);
    if (it->op == "Gemm" &&
        (floatAttribute(maker, "alpha", 1) != 1 || floatAttribute(maker, "beta", 1) != 1))
      return false;
    const auto weights = editor_.findReals(maker.inputs[1]);
    if (!weights) return false;
    const int64_t inner =
        countOf(std::span(it->weights.dims).subspan(static_cast<size_t>(it->channelAxis) + 1));
    const auto elements = static_cast<int64_t>(weights->values.size());
    divided.push_back({it->node, 1, *weights, {elements / channels / inner, channels, inner}});
    if (maker.inputs.size() < 3 || maker.inputs[2].empty()) return true;
    return addConstant(it->node, 2, channels, divided);
  }

  // A LayerNormalization, or the Mul by a constant, and perhaps the Add of one, that end a norm.
  bool findNorm(size_t index, int64_t channels, std::vector<Divided>& divided) const {
    const onnx::Node& maker = node(index);
    if (maker.opType == "LayerNormalization" && maker.outputs.size() == 1) {
      const bool hasShift = maker.inputs.size() > 2 && !maker.inputs[2].empty();
      return addConstant(index, 1, channels, divided) &&
             (!hasShift || addConstant(index, 2, channels, divided));
    }
    size_t scale = index;
    if (maker.opType == "Add") {
      const auto shift = constantInput(maker);
      if (!shift || !addConstant(index, *shift, channels, divided)) return false;
      const std::string scaled(maker.inputs[1 - *shift]);
      const auto producer = editor_.producerOf(scaled);
      if (!producer || !editor_.soleUse(scaled)) return false;
      scale = *producer;
    }
    if (!isStandard(node(scale)) || node(scale).opType != "Mul") return false;
    const auto factor = constantInput(node(scale));
    return factor && addConstant(scale, *factor, channels, divided);
  }

  std::optional<size_t> constantInput(const onnx::Node& node) const {
    if (node.inputs.size() != 2) return std::nullopt;
    for (size_t i = 0; i < 2; ++i)
      if (editor_.findReals(node.inputs[i])) return i;
    return std::nullopt;
  }

  // Those that leave the least noise; none where that is how the channels are.
  std::vector<float> factorsFor(const std::vector<const Product*>& readers,
                                const TensorStatistics& statistics) const {
    constexpr double kStrengths[] = {0, 0.25, 0.5, 0.75, 1};
    const std::span<const float> largest = statistics.channelLargest();
    const std::vector<double> weights = largestWeights(readers, largest.size());
    const std::vector<double> power = statistics.channelMeanSquares();
    std::vector<float> best;
    double least = noise(readers, std::vector<float>(largest.size(), 1), largest, power);
    for (const double strength : kStrengths) {
      std::vector<float> factors;
      for (size_t i = 0; i < largest.size(); ++i)
        factors.push_back(factorOf(largest[i], weights[i], strength));
      factors = normalized(std::move(factors), largest);
      if (const double with = noise(readers, factors, largest, power); with < least) {
        least = with;
        best = std::move(factors);
      }
    }
    return best;
  }

  static std::vector<double> largestWeights(const std::vector<const Product*>& readers,
                                            size_t channels) {
    std::vector<double> weights(channels, 0);
    for (const Product* reader : readers)
      for (int64_t row = 0; row < reader->rows(); ++row)
        for (int64_t column = 0; column < reader->columns(); ++column) {
          double& most = weights[static_cast<size_t>(reader->inputChannel(row, column))];
          most = std::max<double>(most, std::abs(reader->weights.values[reader->at(row, column)]));
        }
    return weights;
  }

  // What rounding adds to the results of readers, as squares and up to a factor: inputs have one
  // step for the tensor, weights one for each row.
  static double noise(const std::vector<const Product*>& readers, std::span<const float> factors,
                      std::span<const float> largest, std::span<const double> power) {
    double range = 0, sum = 0;
    for (size_t i = 0; i < factors.size(); ++i)
      range = std::max<double>(range, largest[i] / factors[i]);
    for (const Product* reader : readers)
      for (int64_t row = 0; row < reader->rows(); ++row) {
        double most = 0, squares = 0, input = 0;
        for (int64_t column = 0; column < reader->columns(); ++column) {
          const auto channel = static_cast<size_t>(reader->inputChannel(row, column));
          const double factor = factors[channel];
          const double weight = std::abs(reader->weights.values[reader->at(row, column)]) * factor;
          most = std::max(most, weight);
          squares += weight * weight;
          input += power[channel] / (factor * factor);
        }
        sum += range * range * squares + most * most * input;
      }
    return sum;
  }

  // Nothing is known of channels that were never seen, or that nobody reads.
  static float factorOf(double input, double weight, double strength) {
    if (input <= 0 || weight <= 0) return 1;
    return static_cast<float>(std::pow(input, strength) / std::pow(weight, 1 - strength));
  }

  // So that the largest channel stays as large as it was, and none grows or shrinks out of bounds.
  static std::vector<float> normalized(std::vector<float> factors, std::span<const float> largest) {
    float before = 0, after = 0;
    for (size_t i = 0; i < factors.size(); ++i) {
      before = std::max(before, largest[i]);
      after = std::max(after, largest[i] / factors[i]);
    }
    const float scale = before > 0 && after > 0 ? after / before : 1;
    for (float& factor : factors) factor = std::clamp(factor * scale, 1e-3F, 1e3F);
    return factors;
  }

  void divide(Divided& constant, std::span<const float> factors) {
    float* value = constant.tensor.values.data();
    for (int64_t outer = 0; outer < constant.layout.outer; ++outer)
      for (int64_t channel = 0; channel < constant.layout.channels; ++channel)
        for (int64_t inner = 0; inner < constant.layout.inner; ++inner)
          *value++ /= factors[static_cast<size_t>(channel)];
    replace(constant.node, constant.input, constant.tensor);
  }

  void multiply(const Product& reader, std::span<const float> factors) {
    // Read again: it may have been divided as somebody's maker.
    RealTensor weights = *editor_.findReals(node(reader.node).inputs[1]);
    for (int64_t row = 0; row < reader.rows(); ++row)
      for (int64_t column = 0; column < reader.columns(); ++column)
        weights.values[reader.at(row, column)] *=
            factors[static_cast<size_t>(reader.inputChannel(row, column))];
    replace(reader.node, 1, weights);
  }

  void replace(size_t index, size_t input, const RealTensor& tensor) {
    constexpr std::string_view kSuffix = "_equalized";
    std::string_view& name = editor_.graph().nodes[index].inputs[input];
    const std::string_view base = name.substr(0, name.find(kSuffix));
    name = editor_.addReals(str(base, kSuffix), tensor);
  }

  ModelEditor& editor_;
  const std::vector<Product>& products_;
  std::map<std::string, std::vector<const Product*>, std::less<>> readers_;
};

}  // namespace

std::vector<std::string> equalizeChannels(
    ModelEditor& editor, const std::vector<Product>& products,
    const std::map<std::string, TensorStatistics, std::less<>>& statistics) {
  Equalizer equalizer(editor, products);
  std::vector<std::string> changed;
  for (const auto& [tensor, each] : statistics)
    if (!each.isEmpty() && equalizer.equalize(tensor, each)) changed.push_back(tensor);
  editor.removeUnread();
  return changed;
}

}  // namespace camshaft
