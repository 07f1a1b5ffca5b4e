#include "compiler/precision.h"

#include <algorithm>

#include "backends/backends.h"
#include "ops/ops.h"
#include "support/error.h"

namespace camshaft {

namespace {

bool isAllowed(DataType type, const CompileOptions& options) {
  return type == DataType::kF32 || (type == DataType::kF16 && options.allowF16) ||
         (type == DataType::kBF16 && options.allowBF16) ||
         (type == DataType::kI8 && options.allowI8);
}

class RequestCheck {
 public:
  RequestCheck(const Node& node, const CompileOptions& options) : node_(node), options_(options) {}

  // Drops the request when it cannot be met; an error where it must be.
  void check(std::optional<DataType>& requested, std::string_view what) const {
    if (!requested || isAllowed(*requested, options_)) return;
    const bool isBuilt = *requested == DataType::kF16 || *requested == DataType::kBF16 ||
                         *requested == DataType::kI8;
    const std::string reason =
        isBuilt ? "which the builder flags do not allow" : "which is not built yet";
    const std::string message =
        str(describe(node_), " is asked to ", what, " ", *requested, ", ", reason);
    if (options_.precisionRequests == PrecisionRequests::kObey)
      fail(ErrorKind::kUnsupported, message);
    options_.log.warning(message, "; the request is ignored");
    requested.reset();
  }

 private:
  const Node& node_;
  const CompileOptions& options_;
};

// Requests on integers and booleans ask for what is there, or for nothing a pass could do.
void dropWhereNotFloat(Node& node) {
  const auto isFloating = [](const Value* value) { return isFloat(value->dataType()); };
  if (std::none_of(node.outputs.begin(), node.outputs.end(), isFloating)) {
    node.precision = {};
    return;
  }
  for (size_t i = 0; i < std::min(node.precision.outputs.size(), node.outputs.size()); ++i)
    if (!isFloating(node.outputs[i])) node.precision.outputs[i].reset();
}

// Bytes are what products compute in; what is stored in them follows from who reads it.
void keepBytesOfProducts(Node& node, bool hasIntegerProducts) {
  const bool isProduct = node.op == &ops::Conv || node.op == &ops::MatMul;
  if (node.precision.compute == DataType::kI8 && !(isProduct && hasIntegerProducts))
    node.precision.compute.reset();
  for (auto& output : node.precision.outputs)
    if (output == DataType::kI8) output.reset();
}

void checkRequests(Node& node, const CompileOptions& options, const BuildBackend& backend) {
  dropWhereNotFloat(node);
  const RequestCheck request(node, options);
  request.check(node.precision.compute, "compute in");
  for (auto& output : node.precision.outputs) request.check(output, "store its result in");
  keepBytesOfProducts(node, backend.fusion.integerProducts);
  if (std::none_of(node.precision.outputs.begin(), node.precision.outputs.end(),
                   [](const auto& output) { return output.has_value(); }))
    node.precision.outputs.clear();
}

void takeAsBf16(PrecisionRequest& precision) {
  const auto take = [](std::optional<DataType>& type) {
    if (type == DataType::kF16) type = DataType::kBF16;
  };
  take(precision.compute);
  for (auto& output : precision.outputs) take(output);
}

bool allows16Bit(const CompileOptions& options) { return options.allowF16 || options.allowBF16; }

Gain16 gainOf(const CompileOptions& options, const BuildBackend& backend) {
  return backend.gain16 ? backend.gain16(options.allowF16, options.allowBF16) : Gain16();
}

std::string_view sentenceFor(const CompileOptions& options, const BuildBackend& backend) {
  const Gain16 gain = gainOf(options, backend);
  if (gain.tensors)
    return "16 bits are bf16 on this CPU: operands of products, and tensors where kernels take "
           "them; sums are f32";
  if (gain.type == DataType::kBF16)
    return "products round their operands to bf16 and add up in f32, where that is faster; "
           "tensors stay f32";
  if (gain.type == DataType::kF16)
    return "products round their operands to f16 and add up in f32, a few at a time in f16 first, "
           "where that is faster; tensors stay f32";
  if (backend.gain16 && backend.gain16(true, true).type == DataType::kF16)
    return "this device computes no faster in bf16, so the engine stays f32; with kFP16 products "
           "would round their operands to f16";
  return "this device computes no faster in 16 bits, so the engine stays f32";
}

}  // namespace

LowPrecision lowPrecisionOf(std::string_view device) {
  const BuildBackend& backend = *buildBackends(device).front();
  LowPrecision low{.bytes = backend.fusion.integerProducts};
  if (backend.stores16Bit) {
    low.bits16 = {DataType::kF16, DataType::kBF16};
    low.tensors16 = true;
  } else if (backend.gain16) {
    const Gain16 gain = backend.gain16(true, true);
    if (gain.type != DataType::kF32) low.bits16 = {gain.type};
    low.tensors16 = gain.tensors;
  }
  return low;
}

DataType productTypeOf(const CompileOptions& options, const BuildBackend& backend) {
  return gainOf(options, backend).type;
}

void settlePrecision(Graph& graph, const CompileOptions& options, const BuildBackend& backend,
                     PassOptions& passOptions) {
  const bool stores = backend.stores16Bit;
  const Gain16 gain = gainOf(options, backend);
  const bool storesBf16 = gain.tensors;
  if (!stores && allows16Bit(options)) options.log.info(sentenceFor(options, backend));
  passOptions.allowF16 = options.allowF16 && stores;
  passOptions.allowBF16 = stores ? options.allowBF16 : storesBf16;
  passOptions.lowers = storesBf16 ? backend.worksInBf16 : nullptr;
  const bool obeys = options.precisionRequests == PrecisionRequests::kObey;
  const bool prefers = options.precisionRequests == PrecisionRequests::kPrefer;
  for (Node* node : graph.nodeList()) {
    // Where tensors stay f32, a wish for 16 bits is met by kernels, or not at all; but what is
    // wished to have 16 bits is not to have 8, which quantise_products sees to.
    const bool isByte = node->precision.compute == DataType::kI8;
    const bool isMet = !stores && prefers && node->precision.compute != DataType::kF32 && !isByte;
    const bool keepsFromBytes = isMet && node->precision.compute && !options.ranges.empty();
    if (!(obeys || prefers) || isMet) node->precision = {};
    if (!node->precision.empty()) checkRequests(*node, options, backend);
    if (storesBf16) takeAsBf16(node->precision);
    // Not a request: where f16 is taken as bf16, the flags need not allow that.
    if (keepsFromBytes) node->precision.compute = gain.type;
  }
}

}  // namespace camshaft
