#include "api/formats.h"

#include <algorithm>

#include "backend/launch.h"
#include "engine/inspect.h"
#include "ops/move.h"
#include "support/error.h"

namespace camshaft::api {

using nvinfer1::TensorFormat;

namespace {

struct Layout {
  std::string_view name;
  int64_t vector = 1;       // components of a vector
  bool isLast = false;      // channels behind the spatial dimensions
  int64_t spatial = 0;      // 0: linear
  std::string_view text{};  // for people, before and after the type
  std::string_view after{};
};

// By TensorFormat.
constexpr Layout kLayouts[] = {
    {"kLINEAR", 1, false, 0, "Row-major linear ", " format"},
    {"kCHW2", 2, false, 2, "Two-wide channel vectorized row-major ", " format"},
    {"kHWC8", 8, true, 2, "Channel major ", " format where C % 8 == 0"},
    {"kCHW4", 4, false, 2, "Four-wide channel vectorized row-major ", " format"},
    {"kCHW16", 16, false, 2, "Sixteen-wide channel vectorized row-major ", " format"},
    {"kCHW32", 32, false, 2, "Thirty-two wide channel vectorized row-major ", " format"},
    {"kDHWC8", 8, true, 3, "Channel major ", " format where C % 8 == 0 and D is the first"},
    {"kCDHW32", 32, false, 3, "Thirty-two wide channel vectorized row-major ",
     " format with 3 spatial dimensions"},
    {"kHWC", 1, true, 2, "Channel major ", " format"},
    {"kDLA_LINEAR", 1, false, -1},
    {"kDLA_HWC4", 4, true, -1},
    {"kHWC16", 16, true, 2, "Channel major ", " format where C % 16 == 0"},
    {"kDHWC", 1, true, 3, "Channel major ", " format with 3 spatial dimensions"},
};
static_assert(std::size(kLayouts) == nvinfer1::EnumMax<TensorFormat>());

const Layout& layoutOf(TensorFormat format) { return kLayouts[static_cast<size_t>(format)]; }
const Layout& layoutOf(const IoTensor& tensor) { return layoutOf(formatOf(tensor)); }

size_t channelAxis(const Layout& layout, size_t rank) {
  return rank - 1 - static_cast<size_t>(layout.spatial);
}

// As many channels as fill the last vector.
Dim padded(const Dim& channels, int64_t vector) {
  return vector == 1 ? channels : Dim((channels.value() + vector - 1) / vector * vector);
}

Shape stored(const Layout& layout, Shape dims) {
  if (layout.spatial == 0) return dims;
  const size_t axis = channelAxis(layout, dims.size());
  const Dim channels = padded(dims[axis], layout.vector);
  if (layout.isLast) {
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    dims.push_back(channels);
  } else {
    dims[axis] = Dim(channels.value() / layout.vector);
    dims.push_back(Dim(layout.vector));
  }
  return dims;
}

// Nodes that lead from one layout to the other, in front of `before` or at the end.
class Conversion {
 public:
  Conversion(Graph& graph, const Layout& layout, const Shape& shape, std::string name, Node* before)
      : graph_(graph), layout_(layout), shape_(shape), name_(std::move(name)), before_(before) {
    axis_ = channelAxis(layout, shape.size());
    full_ = shape;
    full_[axis_] = padded(shape[axis_], layout.vector);
    split_ = full_;
    if (!layout.isLast) {
      split_[axis_] = Dim(full_[axis_].value() / layout.vector);
      split_.insert(split_.begin() + static_cast<std::ptrdiff_t>(axis_) + 1, Dim(layout.vector));
    }
  }

  Value* fromStored(Value* value) const {
    std::vector<int64_t> inverse(split_.size());
    for (size_t i = 0; i < inverse.size(); ++i)
      inverse[static_cast<size_t>(order()[i])] = static_cast<int64_t>(i);
    value = reshape(transpose(value, inverse), full_);
    if (full_ == shape_) return value;
    SliceAttrs slice;
    slice.axes = {static_cast<int64_t>(axis_)};
    slice.starts = {0};
    slice.sizes = {shape_[axis_]};
    slice.steps = {1};
    return add(&ops::Slice, value, std::move(slice));
  }

  Value* toStored(Value* value) const {
    if (full_ != shape_) {
      PadAttrs pad;
      pad.begin.assign(shape_.size(), Dim(0));
      pad.end = pad.begin;
      pad.end[axis_] = full_[axis_] - shape_[axis_];
      value = add(&ops::Pad, value, std::move(pad));
    }
    return transpose(reshape(value, split_), order());
  }

 private:
  // Of the split tensor, so that it becomes the stored one: what is behind `axis` goes last.
  std::vector<int64_t> order() const {
    const auto moved = static_cast<int64_t>(layout_.isLast ? axis_ : axis_ + 1);
    std::vector<int64_t> order;
    for (int64_t i = 0; i < static_cast<int64_t>(split_.size()); ++i)
      if (i != moved) order.push_back(i);
    order.push_back(moved);
    return order;
  }
  Value* reshape(Value* value, const Shape& shape) const {
    if (value->shape() == shape) return value;
    ReshapeAttrs attrs;
    attrs.shape = shape;
    return add(&ops::Reshape, value, std::move(attrs));
  }
  Value* transpose(Value* value, std::vector<int64_t> order) const {
    TransposeAttrs attrs;
    attrs.order = std::move(order);
    return add(&ops::Transpose, value, std::move(attrs));
  }
  template <class A>
  Value* add(Op op, Value* value, A attrs) const {
    return graph_.add(op, name_, {value}, std::move(attrs), before_)->output();
  }

  Graph& graph_;
  const Layout& layout_;
  Shape shape_, full_, split_;  // without padding; with it; with vectors as a dimension
  size_t axis_;
  std::string name_;
  Node* before_;
};

std::string whyNot(const Layout& layout, const TensorType& type) {
  if (layout.spatial < 0) return "is for the DLA, which there is none of";
  if (layout.spatial == 0) return {};
  if (isPacked(type.type)) return str("has no room for elements of type ", type.type);
  if (type.rank() < layout.spatial + 1)
    return str("needs at least ", layout.spatial + 1, " dimensions");
  if (type.rank() + 1 > kMaxRank && !layout.isLast) return "has too many dimensions";
  const Dim& channels = type.shape[channelAxis(layout, type.shape.size())];
  if (layout.vector > 1 && !channels.isConstant())
    return "needs a number of channels that is known when the engine is built";
  return {};
}

}  // namespace

TensorFormat chooseFormat(nvinfer1::TensorFormats allowed, const std::string& name,
                          const TensorType& type) {
  std::string reasons;
  for (size_t i = 0; i < std::size(kLayouts); ++i) {
    if ((allowed >> i & 1) == 0) continue;
    const std::string reason = whyNot(kLayouts[i], type);
    if (reason.empty()) return static_cast<TensorFormat>(i);
    reasons += str(reasons.empty() ? "" : ", ", kLayouts[i].name, " ", reason);
  }
  fail(ErrorKind::kInvalidArgument, "tensor '", name, "' of type ", type,
       " has none of the formats it is allowed: ", reasons);
}

void storeInput(Graph& graph, size_t index, TensorFormat format) {
  if (format == TensorFormat::kLINEAR) return;
  Value* input = graph.inputs[index];
  const Layout& layout = layoutOf(format);
  Node* first = graph.nodeCount() > 0 ? graph.nodes().front().get() : nullptr;
  const Shape shape = input->shape();
  // Its users go on with what is made of it.
  std::vector<std::pair<Node*, int>> uses;
  for (Node* user : std::vector<Node*>(input->users.begin(), input->users.end()))
    for (size_t i = 0; i < user->inputs.size(); ++i)
      if (user->inputs[i] == input) uses.emplace_back(user, static_cast<int>(i));
  input->type.shape = stored(layout, shape);
  Value* linear = Conversion(graph, layout, shape, str(input->name, " from ", layout.name), first)
                      .fromStored(input);
  for (const auto& [user, i] : uses) graph.setInput(user, i, linear);
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    if (graph.outputs[i].value == input) graph.setOutput(i, linear);
}

void storeOutput(Graph& graph, size_t index, TensorFormat format) {
  if (format == TensorFormat::kLINEAR) return;
  const auto& [name, value] = graph.outputs[index];
  const Layout& layout = layoutOf(format);
  graph.setOutput(index,
                  Conversion(graph, layout, value->shape(), str(name, " to ", layout.name), nullptr)
                      .toStored(value));
}

IoFormat ioFormat(TensorFormat format, const Shape& shape) {
  const Layout& layout = layoutOf(format);
  if (layout.spatial <= 0) return {};
  const Dim& channels = shape[channelAxis(layout, shape.size())];
  return {static_cast<uint8_t>(format), channels.isConstant() ? channels.value() : -1};
}

TensorFormat formatOf(const IoTensor& tensor) {
  const bool isKnown =
      tensor.format.code < std::size(kLayouts) && kLayouts[tensor.format.code].spatial >= 0;
  const Layout& layout = kLayouts[isKnown ? tensor.format.code : 0];
  const auto rank = static_cast<int64_t>(tensor.tensor.dims.size());
  if (!isKnown || (layout.spatial > 0 && rank < layout.spatial + (layout.isLast ? 1 : 2)))
    fail(ErrorKind::kInvalidEngine, "the engine is damaged: '", tensor.name,
         "' has no such format; build it again");
  return static_cast<TensorFormat>(tensor.format.code);
}

std::vector<int64_t> storedDims(const IoTensor& tensor, const std::vector<int64_t>& dims) {
  const Layout& layout = layoutOf(tensor);
  if (layout.spatial == 0) return dims;
  const size_t rank = tensor.tensor.dims.size() - (layout.isLast ? 0 : 1);
  if (dims.size() != rank)
    fail(ErrorKind::kInvalidArgument, "'", tensor.name, "' has ", rank, " dimensions, not ",
         dims.size());
  const int64_t channels = dims[channelAxis(layout, rank)];
  if (tensor.format.channels >= 0 && channels != tensor.format.channels)
    fail(ErrorKind::kInvalidArgument, "'", tensor.name, "' has ", tensor.format.channels,
         " channels, not ", channels);
  std::vector<int64_t> result;
  for (const Dim& dim : stored(layout, Shape(dims.begin(), dims.end())))
    result.push_back(dim.value());
  return result;
}

std::vector<int64_t> logicalDims(const IoTensor& tensor, const std::vector<int64_t>& stored) {
  const Layout& layout = layoutOf(tensor);
  if (layout.spatial == 0) return stored;
  std::vector<int64_t> dims = stored;
  const int64_t last = dims.back();
  dims.pop_back();
  const int64_t channels = tensor.format.channels >= 0 ? tensor.format.channels : last;
  if (layout.isLast)
    dims.insert(dims.end() - layout.spatial, channels);
  else
    dims[channelAxis(layout, dims.size())] = channels;
  return dims;
}

std::vector<int64_t> stridesOf(const IoTensor& tensor, const std::vector<int64_t>& stored) {
  const Layout& layout = layoutOf(tensor);
  std::vector<int64_t> sizes = stored;
  if (layout.spatial > 0 && !layout.isLast) sizes.pop_back();
  if (layout.spatial > 0 && layout.isLast) sizes.back() /= layout.vector;
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= sizes[i];
  }
  if (layout.spatial > 0 && layout.isLast) {  // channels, which are stored last, are counted first
    const int64_t channels = strides.back();
    strides.pop_back();
    strides.insert(strides.end() - layout.spatial, channels);
  }
  return strides;
}

int32_t vectorizedDim(const IoTensor& tensor) {
  const Layout& layout = layoutOf(tensor);
  if (layout.vector == 1) return -1;
  return static_cast<int32_t>(
      channelAxis(layout, tensor.tensor.dims.size() - (layout.isLast ? 0 : 1)));
}

int32_t componentsPerElement(const IoTensor& tensor) {
  const int64_t vector = layoutOf(tensor).vector;
  return vector == 1 ? -1 : static_cast<int32_t>(vector);
}

std::string formatText(const IoTensor& tensor) {
  const Layout& layout = layoutOf(tensor);
  return str(layout.text, typeText(tensor.tensor.type), layout.after);
}

std::string_view formatName(TensorFormat format) { return layoutOf(format).name; }

void storeProfile(ShapeProfile& profile, const Value& input, TensorFormat format) {
  const auto given = profile.inputs.find(input.name);
  if (given == profile.inputs.end() || format == TensorFormat::kLINEAR) return;
  IoTensor tensor{.name = input.name, .format = ioFormat(format, input.shape())};
  tensor.tensor.dims.resize(stored(layoutOf(format), input.shape()).size());
  for (std::vector<int64_t>* dims : {&given->second.min, &given->second.opt, &given->second.max})
    *dims = storedDims(tensor, *dims);
}

}  // namespace camshaft::api
