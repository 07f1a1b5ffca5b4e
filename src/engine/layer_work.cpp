#include "engine/layer_work.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace camshaft {

namespace {

using Json = nlohmann::json;

double countOf(const std::vector<int64_t>& dims) {
  double count = 1;
  for (const int64_t dim : dims) {
    if (dim < 0) return -1;
    count *= static_cast<double>(dim);
  }
  return count;
}

const std::string* attributeText(const Step& step, std::string_view name) {
  for (const auto& [own, text] : step.info.attributes)
    if (own == name) return &text;
  return nullptr;
}

Json attribute(const Step& step, std::string_view name) {
  const std::string* text = attributeText(step, name);
  return text ? Json::parse(*text, nullptr, false) : Json();
}

// Sizes out of a list; nothing if it is something else, as files may hold anything.
std::vector<int64_t> sizesIn(const Json& list) {
  std::vector<int64_t> sizes;
  if (!list.is_array()) return sizes;
  for (const Json& size : list) {
    if (!size.is_number_integer()) return {};
    sizes.push_back(size.get<int64_t>());
  }
  return sizes;
}

// The network's shape of an input that is constant; empty: it is not.
std::vector<int64_t> constantShape(const Step& step, size_t input) {
  const Json shapes = attribute(step, "constant_shapes");
  return shapes.is_array() && input < shapes.size() ? sizesIn(shapes[input])
                                                    : std::vector<int64_t>();
}

std::vector<int64_t> firstDims(const std::vector<Operand>& operands) {
  for (const Operand& operand : operands)
    if (operand.place != Place::kNone && operand.place != Place::kWeights)
      return knownDims(operand.tensor);
  return {};
}

// Functions in the text of an expression, "relu(add(x0:f32, x1:f32))", for each result.
double operationsOfExpression(const std::string* text, double results) {
  if (!text) return 0;
  return static_cast<double>(std::count(text->begin(), text->end(), '(')) * results;
}

// Each result is a sum over its patch; of a transposed one, each input is added to a patch.
double operationsOfConv(const Step& step, double results) {
  const std::vector<int64_t> weights = constantShape(step, 1);
  if (weights.empty() || weights[0] <= 0) return -1;
  const bool isTransposed = step.info.layerType == "ConvTranspose";
  const double sums = isTransposed ? countOf(firstDims(step.inputs)) : results;
  return sums < 0 ? -1 : 2 * sums * countOf(weights) / static_cast<double>(weights[0]);
}

// Twice the length of the sums for each result.
double operationsOfProduct(const Step& step, double results) {
  const auto isTransposed = [&](const char* name) { return attribute(step, name) == Json(true); };
  const std::vector<int64_t> b = constantShape(step, 1);
  const std::vector<int64_t> a = firstDims(step.inputs);
  int64_t length = -1;
  if (b.size() >= 2)
    length = b[b.size() - (isTransposed("transpose_b") ? 1 : 2)];
  else if (!a.empty())
    length = a[a.size() - (isTransposed("transpose_a") && a.size() > 1 ? 2 : 1)];
  return length < 0 ? -1 : 2 * results * static_cast<double>(length);
}

// Products of queries with keys and of what comes of that with values. Heads are apart, [batch,
// heads, length, size], or side by side, [batch, length, heads * size]; windows of images, whose
// heights and widths come third and fourth, see their own tokens alone.
double operationsOfAttention(const Step& step, double results) {
  const std::vector<int64_t> windows = sizesIn(attribute(step, "windows"));
  if (windows.size() == 6) return 4 * results * countOf({windows[2], windows[3]});
  if (step.inputs.size() < 2) return -1;
  const std::vector<int64_t> keys = knownDims(step.inputs[1].tensor);
  const bool isTransposed = attribute(step, "transposed_keys") == Json(true);
  if (keys.size() < 2) return -1;
  const int64_t length = keys[keys.size() - (isTransposed ? 1 : 2)];
  return length < 0 ? -1 : 4 * results * static_cast<double>(length);
}

// Of the operators that go over their elements a few times.
double operationsPerElement(std::string_view type) {
  if (type == "Softmax") return 5;       // max, subtract, exp, sum, divide
  if (type.ends_with("Norm")) return 8;  // mean, variance, scale and shift
  if (type == "Reduce" || type == "ArgReduce") return 1;
  return -1;
}

// MatMul, MatMulInteger, NormMatMul and their kin.
bool isProduct(std::string_view type) { return type.find("MatMul") != type.npos; }
bool isConvolution(std::string_view type) { return type.starts_with("Conv"); }

bool onlyMoves(std::string_view type) {
  constexpr std::string_view kMoves[] = {
      "Transpose", "Reshape", "Identity", "BitCast", "Expand", "Slice",          "Concat",
      "Pad",       "Tile",    "Trilu",    "Gather",  "Copy",   "GatherElements", "GatherND",
      "OneHot",    "Shape",   "BindDims", "Observe", "Range",  "ReverseSequence"};
  return std::find(std::begin(kMoves), std::end(kMoves), type) != std::end(kMoves);
}

double operationsOfAnchor(const Step& step, double results) {
  const std::string_view type = step.info.layerType;
  if (onlyMoves(type)) return 0;
  if (isConvolution(type)) return operationsOfConv(step, results);
  if (isProduct(type)) return operationsOfProduct(step, results);
  if (type == "Attention") return operationsOfAttention(step, results);
  if (type == "Pointwise") return operationsOfExpression(attributeText(step, "expr"), results);
  if (type == "Pool") {
    const std::vector<int64_t> kernel = sizesIn(attribute(step, "kernel"));
    return kernel.empty() ? -1 : results * countOf(kernel);
  }
  const double each = operationsPerElement(type), elements = countOf(firstDims(step.inputs));
  return each < 0 || elements < 0 ? -1 : each * elements;
}

}  // namespace

std::vector<int64_t> knownDims(const TensorDesc& tensor) {
  std::vector<int64_t> dims;
  for (const DimRef& dim : tensor.dims) dims.push_back(dim.isConstant() ? dim.constant : -1);
  return dims;
}

int64_t knownBytes(const TensorDesc& tensor) {
  const double count = countOf(knownDims(tensor));
  constexpr double kMost = 1e12;  // sizes come from files
  return count < 0 || count > kMost
             ? -1
             : static_cast<int64_t>(bytesOf(tensor.type, static_cast<int64_t>(count)));
}

int64_t bytesMoved(const Step& step) {
  int64_t results = 0, operands = 0;
  for (const Operand& output : step.outputs) {
    const int64_t bytes = knownBytes(output.tensor);
    if (bytes < 0) return -1;
    results += bytes;
  }
  const bool looksUp = step.info.layerType.starts_with("Gather");
  for (const Operand& input : step.inputs) {
    if (input.place == Place::kNone) continue;
    const int64_t bytes = knownBytes(input.tensor);
    if (bytes < 0) return -1;
    operands += looksUp ? std::min(bytes, results) : bytes;
  }
  return results + operands;
}

double operationsOf(const Step& step) {
  const double results = countOf(firstDims(step.outputs));
  if (step.outputs.empty() || results < 0) return -1;
  const double anchor = operationsOfAnchor(step, results);
  if (anchor < 0) return -1;
  return anchor + operationsOfExpression(attributeText(step, "epilogue"), results);
}

}  // namespace camshaft
