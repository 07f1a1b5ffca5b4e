#include "api/tensor.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "api/convert.h"
#include "api/formats.h"
#include "api/network.h"
#include "ops/contents.h"
#include "ops/shape.h"

namespace camshaft::api {

namespace {

bool readsAsDims(const Node* user) {
  return user->op == &ops::BindDims || user->op == &ops::ReshapeDims;
}

// Whether its values decide dimensions, themselves or through shape arithmetic.
bool decidesDims(const Value* value, std::unordered_set<const Value*>& seen) {
  if (!seen.insert(value).second || !isInteger(value->dataType()) || !contentCount(value->type))
    return false;
  return std::any_of(value->users.begin(), value->users.end(), [&](const Node* user) {
    return readsAsDims(user) || (user->op->contents && decidesDims(user->output(), seen));
  });
}

}  // namespace

// Dimension names appear in the text form of graphs, so only letters, digits, '_' and '.' stay.
std::string symbolNamed(const std::string& text) {
  std::string symbol = text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) ? "_" : "";
  for (char c : text) symbol += std::isalnum(static_cast<unsigned char>(c)) || c == '.' ? c : '_';
  return symbol;
}

std::string defaultSymbol(const std::string& input, int64_t index) {
  return symbolNamed(str(input, ".", index));
}

nvinfer1::Dims publicDims(const Shape& shape) {
  camshaft::Dims sizes;
  for (const Dim& dim : shape) sizes.push_back(dim.isConstant() ? dim.value() : -1);
  return toPublic(sizes);
}

void Tensor::setName(const char* name) noexcept {
  guarded(network_.reporter(), false, [&] {
    network_.own(*this);
    if (!name || !*name)
      fail(ErrorKind::kInvalidArgument, "tensor '", value_->name, "' was given no name");
    Graph& graph = network_.graph();
    const Value* taken = graph.find(name);
    if (taken && taken != value_)
      fail(ErrorKind::kInvalidArgument, "tensor '", value_->name, "' cannot be named '", name,
           "', which another tensor of the network is");
    for (size_t i = 0; i < graph.outputs.size(); ++i)
      if (graph.outputs[i].value == value_) graph.renameOutput(i, name);
    graph.rename(value_, name);
    return true;
  });
}

const char* Tensor::getName() const noexcept { return value_ ? value_->name.c_str() : ""; }

void Tensor::setDimensions(const nvinfer1::Dims& dims) noexcept {
  guarded(network_.reporter(), false, [&] {
    network_.own(*this);
    if (!isNetworkInput())
      fail(ErrorKind::kInvalidArgument, "tensor '", value_->name,
           "' is no input, so its dimensions follow from its layer");
    const std::vector<int64_t> sizes = fromPublic(dims);
    Shape shape;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] < -1)
        fail(ErrorKind::kInvalidArgument, "input '", value_->name, "' was given dimension ", i,
             " of size ", sizes[i]);
      const bool keep =
          sizes[i] < 0 && i < value_->shape().size() && !value_->shape()[i].isConstant();
      shape.push_back(sizes[i] >= 0 ? Dim(sizes[i])
                      : keep ? value_->shape()[i]
                             : Dim::symbol(defaultSymbol(value_->name, static_cast<int64_t>(i))));
    }
    network_.setInputShape(*this, shape);
    return true;
  });
}

nvinfer1::Dims Tensor::getDimensions() const noexcept {
  return guarded(network_.reporter(), invalidDims(),
                 [&] { return value_ ? publicDims(value_->shape()) : invalidDims(); });
}

void Tensor::setType(nvinfer1::DataType type) noexcept {
  guarded(network_.reporter(), false, [&] {
    network_.own(*this);
    const auto own = fromPublic(type);
    if (!own || isPacked(*own))
      fail(ErrorKind::kInvalidArgument, "tensor '", value_->name, "' was given a type ",
           static_cast<int>(type), " that elements cannot be converted to");
    if (network_.getFlag(nvinfer1::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED) &&
        *own != value_->dataType())
      fail(ErrorKind::kInvalidArgument, "tensor '", value_->name, "' is ", value_->dataType(),
           " and cannot be given the type ", *own,
           ": a strongly typed network keeps its types; add a cast layer");
    borderType_ = *own;
    return true;
  });
}

nvinfer1::DataType Tensor::getType() const noexcept {
  if (borderType_ && (isNetworkInput() || isNetworkOutput())) return toPublic(*borderType_);
  return value_ ? toPublic(value_->dataType()) : nvinfer1::DataType::kFLOAT;
}

bool Tensor::isNetworkInput() const noexcept {
  return value_ && !value_->producer && !value_->isConstant();
}

bool Tensor::isNetworkOutput() const noexcept {
  return value_ && network_.graph().isOutput(value_);
}

bool Tensor::isShapeTensor() const noexcept {
  return guarded(network_.reporter(), false, [&] {
    std::unordered_set<const Value*> seen;
    return value_ && (isShapeOutput_ || value_->contents || decidesDims(value_, seen));
  });
}

bool Tensor::isExecutionTensor() const noexcept {
  return value_ && (!isShapeTensor() || isNetworkOutput() ||
                    !std::all_of(value_->users.begin(), value_->users.end(), readsAsDims));
}

void Tensor::setDimensionName(int32_t index, const char* name) noexcept {
  guarded(network_.reporter(), false, [&] {
    network_.own(*this);
    if (!isNetworkInput())
      fail(ErrorKind::kInvalidArgument, "tensor '", value_->name,
           "' is no input to name dimensions of");
    if (index < 0 || index >= value_->rank())
      fail(ErrorKind::kInvalidArgument, "input '", value_->name, "' has no dimension ", index);
    network_.nameDimension(*this, index,
                           name && *name ? symbolNamed(name) : defaultSymbol(value_->name, index));
    return true;
  });
}

const char* Tensor::getDimensionName(int32_t index) const noexcept {
  if (!isNetworkInput() || index < 0 || index >= value_->rank()) return nullptr;
  const Dim& dim = value_->shape()[index];
  if (!dim.isSymbol() || dim.symbolName() == defaultSymbol(value_->name, index)) return nullptr;
  return dim.symbolName().c_str();
}

nvinfer1::TensorLocation Tensor::getLocation() const noexcept {
  return isNetworkInput() && isShapeTensor() ? nvinfer1::TensorLocation::kHOST
                                             : nvinfer1::TensorLocation::kDEVICE;
}

void Tensor::setLocation(nvinfer1::TensorLocation location) noexcept {
  if (location != getLocation())
    refused(
        network_.reporter(),
        "where a tensor lies cannot be chosen: inputs whose values decide dimensions are on the "
        "host, all others on the device",
        false);
}

void Tensor::setAllowedFormats(nvinfer1::TensorFormats formats) noexcept {
  guarded(network_.reporter(), false, [&] {
    network_.own(*this);
    if (formats == 0 || (formats & ~kAnyFormat) != 0)
      fail(ErrorKind::kInvalidArgument, "tensor '", value_->name,
           "' was given formats of which none, or not all, are known: ", formats);
    formats_ = formats;
    return true;
  });
}

nvinfer1::TensorFormat Tensor::format() const {
  return chooseFormat(formats_, value_->name, value_->type);
}

bool Tensor::setDynamicRange(float min, float max) noexcept {
  return guarded(network_.reporter(), false, [&] {
    network_.own(*this);
    if (!std::isfinite(min) || !std::isfinite(max) || min > max)
      fail(ErrorKind::kInvalidArgument, "tensor '", value_->name, "' was given the range ", min,
           " to ", max, "; it needs two numbers, the smaller first");
    range_ = TensorRange{min, max};
    return true;
  });
}

float Tensor::getDynamicRangeMin() const noexcept {
  return range_ ? range_->min : std::numeric_limits<float>::quiet_NaN();
}
float Tensor::getDynamicRangeMax() const noexcept {
  return range_ ? range_->max : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace camshaft::api
