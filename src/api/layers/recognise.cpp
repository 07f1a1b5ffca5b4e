#include "api/layers/recognise.h"

#include <algorithm>

#include "api/layers/data.h"
#include "api/layers/fill.h"
#include "api/layers/plugin.h"
#include "api/layers/pointwise.h"
#include "api/layers/product.h"
#include "api/layers/quantize.h"
#include "api/layers/reduce.h"
#include "api/layers/resize.h"
#include "api/layers/select.h"
#include "api/layers/shuffle.h"
#include "api/layers/slice.h"
#include "api/layers/window.h"
#include "api/network.h"
#include "ops/norm.h"
#include "ops/pool.h"
#include "ops/shape.h"
#include "ops/softmax.h"
#include "support/onnx_layer.h"

namespace camshaft::api {
namespace {

// Any operator without a layer class: its inputs can be replaced, its attributes stay.
struct OperatorParams {
  static constexpr auto kType = nvinfer1::LayerType::kCAMSHAFT_OPERATOR;
  static constexpr int32_t kMaxInputs = 1 << 16;
  Op op = nullptr;
  std::shared_ptr<const Attrs> attrs;
  int outputs = 1;

  void read(const Node& node) {
    op = node.op;
    attrs = node.attrs->clone();
    outputs = static_cast<int>(node.outputs.size());
  }
  std::vector<Value*> emit(Emission& at) const {
    return at.graph.addNode(op, at.name, at.inputs, attrs->clone(), outputs, at.before)->outputs;
  }
};
using OperatorLayer = LayerOf<nvinfer1::ILayer, OperatorParams>;

template <class L>
std::unique_ptr<LayerCore> make(Network& network, const Node& node) {
  typename L::Params params;
  if constexpr (requires { params.read(node); }) params.read(node);
  return std::make_unique<L>(network, node.name, std::move(params));
}

bool isNormalization(const Node& node) {
  if (!node.hasInput(1) || !node.hasInput(2)) return false;
  if (node.op == &ops::LayerNorm) return !node.as<LayerNormAttrs>().rms;
  const auto& attrs = node.as<GroupNormAttrs>();
  return attrs.groups > 1 && !attrs.channelsLast;
}

// How many there are and their sizes are numbers of the layer.
bool hasKnownFilters(const Node& node) { return isStatic(node.input(1)->shape()); }

bool isPooling(const Node& node) {
  const auto& attrs = node.as<PoolAttrs>();
  return attrs.kind != PoolKind::kLp && node.outputs.size() == 1 && !attrs.channelsLast;
}

// Models' plugins have no shape inputs.
std::unique_ptr<LayerCore> pluginLayerFor(Network& network, const Node& node) {
  const auto& plugin = node.as<PluginAttrs>().plugin;
  if (v2ObjectOf(*plugin))
    return std::make_unique<PluginV2Layer>(network, node.name, PluginV2Layer::Params{plugin});
  return std::make_unique<PluginV3Layer>(network, node.name, PluginV3Layer::Params{plugin});
}

// Null when no layer class describes the node in full.
std::unique_ptr<LayerCore> specialLayer(Network& network, const Node& node) {
  if (node.epilogue) return nullptr;
  const Op op = node.op;
  if (op == &ops::Pointwise) {
    auto layer = pointwiseLayerFor(network, node);
    return layer ? std::move(layer) : quantizeLayerFor(network, node);
  }
  if (op == &ops::Identity) return make<IdentityLayer>(network, node);
  if (op == &ops::Plugin) return pluginLayerFor(network, node);
  if (op == &ops::Conv && hasKnownFilters(node)) return make<ConvolutionLayer>(network, node);
  if (op == &ops::ConvTranspose && hasKnownFilters(node))
    return make<DeconvolutionLayer>(network, node);
  if (op == &ops::Pool && isPooling(node)) return make<PoolingLayer>(network, node);
  if (op == &ops::MatMul) return make<MatrixMultiplyLayer>(network, node);
  if (op == &ops::Einsum) return make<EinsumLayer>(network, node);
  if (op == &ops::Reduce && ReduceParams::hasOperation(node.as<ReduceAttrs>().kind))
    return make<ReduceLayer>(network, node);
  if (op == &ops::Softmax && node.as<SoftmaxAttrs>().kind == SoftmaxKind::kSoftmax)
    return make<SoftMaxLayer>(network, node);
  if ((op == &ops::LayerNorm || op == &ops::GroupNorm) && isNormalization(node))
    return make<NormalizationLayer>(network, node);
  if (op == &ops::Lrn && node.input(0)->rank() == 4) return make<LRNLayer>(network, node);
  if (op == &ops::Random || op == &ops::Range) return make<FillLayer>(network, node);
  if (op == &ops::Transpose || op == &ops::Reshape) return make<ShuffleLayer>(network, node);
  if (op == &ops::Slice) return make<SliceLayer>(network, node);
  if (op == &ops::Pad && PaddingParams::canRead(node)) return make<PaddingLayer>(network, node);
  if (op == &ops::Concat) return make<ConcatenationLayer>(network, node);
  if (op == &ops::Gather || op == &ops::GatherElements || op == &ops::GatherND)
    return make<GatherLayer>(network, node);
  if (ScatterParams::canRead(node)) return make<ScatterLayer>(network, node);
  if (op == &ops::ReverseSequence) return make<ReverseSequenceLayer>(network, node);
  if (op == &ops::TopK) return make<TopKLayer>(network, node);
  if (op == &ops::Resize && ResizeParams::canRead(node.as<ResizeAttrs>()))
    return make<ResizeLayer>(network, node);
  if (op == &ops::GridSample) return make<GridSampleLayer>(network, node);
  if (op == &ops::Shape && node.as<ShapeAttrs>().begin == 0 &&
      node.as<ShapeAttrs>().end == node.input(0)->rank())
    return make<ShapeLayer>(network, node);
  return nullptr;
}

Node* onlyUser(const Value* value, Op op) {
  return value->users.size() == 1 && (*value->users.begin())->op == op ? *value->users.begin()
                                                                       : nullptr;
}

// The nodes of the layer that this one belongs to: itself, or a NonZero with what makes its rows
// columns, as many as there are. A search that others read too is no layer of its own.
std::vector<Node*> nodesTogether(Node* node) {
  Node* search = node;
  while (search && (search->op == &ops::Transpose || search->op == &ops::Slice))
    search = search->input(0)->producer;
  if (!search || search->op != &ops::NonZero) return {node};
  Node* binding = onlyUser(search->outputs.back(), &ops::BindDims);
  Node* slice = onlyUser(search->output(0), &ops::Slice);
  Node* columns = slice ? onlyUser(slice->output(), &ops::Transpose) : nullptr;
  std::vector<Node*> together{search, binding, slice, columns};
  const bool isOne = binding && columns && std::ranges::count(together, node) == 1;
  return isOne ? together : std::vector<Node*>{node};
}

// Constant kernels and biases are the layer's weights, not inputs; so is the zero of a padding.
bool isWeight(const LayerCore& layer, size_t input, const Value* value) {
  return input > 0 && value && value->isConstant() &&
         (layer.type == nvinfer1::LayerType::kCONVOLUTION ||
          layer.type == nvinfer1::LayerType::kDECONVOLUTION ||
          layer.type == nvinfer1::LayerType::kPADDING);
}

// Inputs of the layer before the node's: dimensions, which a node has as numbers.
size_t firstInput(const LayerCore& layer) {
  return layer.type == nvinfer1::LayerType::kFILL ? 1 : 0;
}

}  // namespace

std::unique_ptr<LayerCore> layerFor(Network& network, Node* node) {
  const std::vector<Node*> nodes = nodesTogether(node);
  node = nodes.front();
  std::unique_ptr<LayerCore> layer = specialLayer(network, *node);
  if (nodes.size() > 1) {
    layer = std::make_unique<NonZeroLayer>(network, node->name,
                                           NonZeroParams{nvinfer1::DataType::kINT64});
  } else if (!layer) {
    layer = make<OperatorLayer>(network, *node);
  }
  layer->metadata = join(node->origins.list(), "\x1e");
  if (layer->type == nvinfer1::LayerType::kCAMSHAFT_OPERATOR)
    layer->metadata = withProperty(layer->metadata, str("Operator: ", node->op->name));
  layer->inputs.resize(firstInput(*layer));
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    Value* input = node->inputs[i];
    layer->inputs.push_back(input && !isWeight(*layer, i, input) ? network.tensorOf(input)
                                                                 : nullptr);
  }
  while (!layer->inputs.empty() && !layer->inputs.back()) layer->inputs.pop_back();
  for (Value* output : nodes.back()->outputs) layer->outputs.push_back(network.tensorOf(output));
  layer->nodes = nodes;
  layer->parsed = true;
  return layer;
}

}  // namespace camshaft::api
