#include "api/layers/window.h"

#include "api/convert.h"
#include "ops/conv.h"
#include "ops/pool.h"

namespace camshaft::api {

using nvinfer1::PaddingMode;
using nvinfer1::PoolingType;

std::vector<int64_t> windowSizes(const std::string& layer, std::string_view what,
                                 const nvinfer1::Dims& dims, size_t rank, int64_t least) {
  std::vector<int64_t> sizes = fromPublic(dims);
  if (sizes.size() != rank)
    fail(ErrorKind::kInvalidArgument, "layer '", layer, "' has ", rank,
         " spatial dimensions and was given a ", what, " of ", sizes.size());
  for (int64_t size : sizes)
    if (size < least)
      fail(ErrorKind::kInvalidArgument, "layer '", layer, "' was given a ", what, " of ", size);
  return sizes;
}

void WindowParams::start(const nvinfer1::Dims& kernelSize) {
  kernel = fromPublic(kernelSize);
  strides = dilations = std::vector<int64_t>(kernel.size(), 1);
  padsBegin = padsEnd = std::vector<int64_t>(kernel.size(), 0);
}

void WindowParams::check(const Emission& at) const {
  requireKnown(padding, "padding mode");
  if (kernel.empty() || kernel.size() > 3)
    at.invalid("has a window of ", kernel.size(), " dimensions; 1 to 3 are possible");
  for (int64_t size : kernel)
    if (size < 1) at.invalid("has a window of size ", size);
  if (at.input(0)->rank() != static_cast<int64_t>(kernel.size()) + 2)
    at.invalid("needs an input of rank ", kernel.size() + 2, " (batch, channels, space) and got ",
               at.input(0)->type);
}

Shape WindowParams::pendingSizes(const Emission& at) const { return at.input(0)->shape(); }

Shape KernelParams::pendingSizes(const Emission& at) const {
  Shape sizes = at.input(0)->shape();
  if (sizes.size() > 1 && maps > 0) sizes[1] = maps;
  return sizes;
}

// SAME: the output has ceil(in/stride) elements, so the padding is
// max(0, (ceil(in/stride) - 1)*stride + extent - in); with stride 1 that is extent - 1.
std::pair<std::vector<int64_t>, std::vector<int64_t>> WindowParams::pads(const Emission& at) const {
  std::vector<int64_t> begin = padsBegin, end = padsEnd;
  if (padding == PaddingMode::kEXPLICIT_ROUND_DOWN) return {begin, end};
  for (size_t i = 0; i < kernel.size(); ++i) {
    const Window window{kernel[i], strides[i], dilations[i], begin[i], end[i]};
    const Dim& in = at.input(0)->shape()[i + 2];
    if (!in.isConstant() && window.stride != 1)
      at.unsupported("needs a fixed size of dimension ", i + 2,
                     " for its padding mode; set the padding explicitly");
    if (padding == PaddingMode::kEXPLICIT_ROUND_UP) {
      if (window.stride == 1) continue;
      const int64_t rest = (in.value() + begin[i] + end[i] - window.extent()) % window.stride;
      if (rest > 0) end[i] += window.stride - rest;
      continue;
    }
    int64_t total = window.extent() - 1;
    if (window.stride != 1) {
      const int64_t count = (in.value() + window.stride - 1) / window.stride;
      total = std::max<int64_t>(0, (count - 1) * window.stride + window.extent() - in.value());
    }
    begin[i] = padding == PaddingMode::kSAME_UPPER ? total / 2 : total - total / 2;
    end[i] = total - begin[i];
  }
  return {begin, end};
}

void KernelParams::start(const nvinfer1::ITensor& input, int64_t outputMaps,
                         const nvinfer1::Dims& kernelSize, const nvinfer1::Weights& kernelGiven,
                         const nvinfer1::Weights& bias) {
  WindowParams::start(kernelSize);
  maps = outputMaps;
  const nvinfer1::Dims dims = input.getDimensions();
  const int64_t ungrouped = maps * countOf(kernel) * (dims.nbDims > 1 ? dims.d[1] : 0);
  if (kernelGiven.count > 0 && ungrouped > 0 && ungrouped % kernelGiven.count)
    fail(ErrorKind::kInvalidArgument, "the convolution of '", input.getName(), "' with ", maps,
         " maps of [", join(kernel, ", "), "] needs ", ungrouped, " kernel weights and got ",
         kernelGiven.count);
  if (bias.count > 0 && bias.count != maps)
    fail(ErrorKind::kInvalidArgument, "the convolution of '", input.getName(), "' has ", maps,
         " maps and ", bias.count, " bias weights");
  // Copied once their numbers make sense: a wrong one leads past the end of what was given.
  kernelWeights = WeightsCopy(kernelGiven);
  biasWeights = WeightsCopy(bias);
}

namespace {

Value* zeros(Emission& at, std::string_view what, DataType type, const camshaft::Dims& dims) {
  const size_t bytes = bytesOf(type, countOf(dims));
  return at.graph.addConstant(str(at.name, ".", what), {type, makeShape(dims)},
                              ConstantData::own(std::vector<std::byte>(bytes)));
}

// Weights, or an input, or zeros with the problem noted.
Value* operand(Emission& at, std::string_view what, size_t input, const WeightsCopy& weights,
               const camshaft::Dims& dims) {
  if (at.has(input) && weights.empty()) return at.input(input);
  const DataType type = at.input(0)->dataType();
  if (weights.count == countOf(dims)) return weights.constant(at, what, type, dims);
  if (weights.empty())
    at.lacks("has no ", what, ": give it weights or set input ", input);
  else
    at.lacks("has ", weights.count, " ", what, " weights where [", join(dims, ", "), "] needs ",
             countOf(dims));
  return zeros(at, what, type, dims);
}

}  // namespace

std::vector<Value*> KernelParams::operands(Emission& at, bool transposed) const {
  check(at);
  const Dim& channels = at.input(0)->shape()[1];
  if (!channels.isConstant()) at.unsupported("needs a fixed number of channels");
  if (maps < 1) at.invalid("was given ", maps, " output maps");
  if (groups < 1 || channels.value() % groups || maps % groups)
    at.invalid("cannot divide ", channels, " channels and ", maps, " output maps into ", groups,
               " groups");
  camshaft::Dims dims = transposed ? camshaft::Dims{channels.value(), maps / groups}
                                   : camshaft::Dims{maps, channels.value() / groups};
  dims.insert(dims.end(), kernel.begin(), kernel.end());
  std::vector<Value*> operands{at.input(0), operand(at, "kernel", 1, kernelWeights, dims)};
  if (!biasWeights.empty() || at.has(2))
    operands.push_back(operand(at, "bias", 2, biasWeights, {maps}));
  return operands;
}

template <class A>
void KernelParams::readFrom(const Node& node) {
  const A& attrs = node.as<A>();
  strides = attrs.strides, dilations = attrs.dilations, padsBegin = attrs.padsBegin,
  padsEnd = attrs.padsEnd;
  groups = attrs.groups;
  if (node.input(1)->isConstant()) kernelWeights = WeightsCopy(node.input(1));
  if (node.hasInput(2) && node.input(2)->isConstant()) biasWeights = WeightsCopy(node.input(2));
  maps = node.output()->shape()[1].value();
  kernel = staticDims({node.input(1)->shape().begin() + 2, node.input(1)->shape().end()});
}

std::vector<Value*> ConvolutionParams::emit(Emission& at) const {
  std::vector<Value*> values = operands(at, false);
  ConvAttrs attrs;
  attrs.strides = strides;
  attrs.dilations = dilations;
  std::tie(attrs.padsBegin, attrs.padsEnd) = pads(at);
  attrs.groups = groups;
  return {at.add(&ops::Conv, std::move(values), std::move(attrs))};
}

void ConvolutionParams::read(const Node& node) { readFrom<ConvAttrs>(node); }

// SAME: the output has in*stride elements, so the padding is extent - stride; when that is negative
// the output is padded instead.
std::vector<Value*> DeconvolutionParams::emit(Emission& at) const {
  std::vector<Value*> values = operands(at, true);
  ConvTransposeAttrs attrs;
  attrs.strides = strides;
  attrs.dilations = dilations;
  attrs.padsBegin = padsBegin;
  attrs.padsEnd = padsEnd;
  attrs.outputPadding =
      outputPadding.empty() ? std::vector<int64_t>(kernel.size(), 0) : outputPadding;
  attrs.groups = groups;
  if (padding == PaddingMode::kSAME_UPPER || padding == PaddingMode::kSAME_LOWER) {
    for (size_t i = 0; i < kernel.size(); ++i) {
      const int64_t total = (kernel[i] - 1) * dilations[i] + 1 - strides[i];
      const int64_t cut = std::max<int64_t>(total, 0);
      attrs.padsBegin[i] = padding == PaddingMode::kSAME_UPPER ? cut / 2 : cut - cut / 2;
      attrs.padsEnd[i] = cut - attrs.padsBegin[i];
      attrs.outputPadding[i] = cut - total;
    }
  }
  return {at.add(&ops::ConvTranspose, std::move(values), std::move(attrs))};
}

void DeconvolutionParams::read(const Node& node) {
  readFrom<ConvTransposeAttrs>(node);
  outputPadding = node.as<ConvTransposeAttrs>().outputPadding;
}

std::vector<Value*> PoolingParams::emit(Emission& at) const {
  check(at);
  if (pooling == PoolingType::kMAX_AVERAGE_BLEND)
    at.unsupported(
        "blends maximum and average, which is not supported; use two pooling layers and add them");
  if (pooling != PoolingType::kMAX && pooling != PoolingType::kAVERAGE)
    at.invalid("was given an unknown pooling type ", static_cast<int>(pooling));
  PoolAttrs attrs;
  attrs.kind = pooling == PoolingType::kMAX ? PoolKind::kMax : PoolKind::kAverage;
  attrs.kernel = kernel;
  attrs.strides = strides;
  attrs.dilations = dilations;
  attrs.ceilMode = padding == PaddingMode::kEXPLICIT_ROUND_UP;
  std::tie(attrs.padsBegin, attrs.padsEnd) =
      attrs.ceilMode ? std::pair(padsBegin, padsEnd) : pads(at);
  attrs.countIncludePad = !excludesPadding;
  return {at.node(&ops::Pool, {at.input(0)}, std::move(attrs), 1)->output()};
}

void PoolingParams::read(const Node& node) {
  const auto& attrs = node.as<PoolAttrs>();
  kernel = attrs.kernel, strides = attrs.strides, dilations = attrs.dilations;
  padsBegin = attrs.padsBegin, padsEnd = attrs.padsEnd;
  pooling = attrs.kind == PoolKind::kMax ? PoolingType::kMAX : PoolingType::kAVERAGE;
  padding = attrs.ceilMode ? PaddingMode::kEXPLICIT_ROUND_UP : PaddingMode::kEXPLICIT_ROUND_DOWN;
  excludesPadding = !attrs.countIncludePad;
}

template <class I, class P>
nvinfer1::Dims WindowLayer<I, P>::view(const std::vector<int64_t>& sizes) {
  return toPublic(sizes);
}

template <class I, class P>
nvinfer1::Dims WindowLayer<I, P>::getPaddingNd() const noexcept {
  return guarded(this->reporter(), invalidDims(), [&] {
    if (this->params_.padsBegin != this->params_.padsEnd)
      fail(ErrorKind::kInvalidArgument, "layer '", this->name,
           "' is padded differently before and after; ask for getPrePadding and getPostPadding");
    return toPublic(this->params_.padsBegin);
  });
}

template class WindowLayer<nvinfer1::IConvolutionLayer, ConvolutionParams>;
template class WindowLayer<nvinfer1::IDeconvolutionLayer, DeconvolutionParams>;
template class WindowLayer<nvinfer1::IPoolingLayer, PoolingParams>;

}  // namespace camshaft::api
