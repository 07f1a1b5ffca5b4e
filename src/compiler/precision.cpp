#include "compiler/precision.h"

#include <algorithm>

#include "support/error.h"

namespace camshaft {

namespace {

bool isAllowed(DataType type, const CompileOptions& options) {
  return type == DataType::kF32 || (type == DataType::kF16 && options.allowF16) ||
         (type == DataType::kBF16 && options.allowBF16);
}

class RequestCheck {
 public:
  RequestCheck(const Node& node, const CompileOptions& options) : node_(node), options_(options) {}

  // Drops the request when it cannot be met; an error where it must be.
  void check(std::optional<DataType>& requested, std::string_view what) const {
    if (!requested || isAllowed(*requested, options_)) return;
    const bool is16Bit = *requested == DataType::kF16 || *requested == DataType::kBF16;
    const std::string reason =
        is16Bit ? str("which the builder flags do not allow") : "which is not built yet";
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

void checkRequests(Node& node, const CompileOptions& options) {
  dropWhereNotFloat(node);
  const RequestCheck request(node, options);
  request.check(node.precision.compute, "compute in");
  for (auto& output : node.precision.outputs) request.check(output, "store its result in");
  if (std::none_of(node.precision.outputs.begin(), node.precision.outputs.end(),
                   [](const auto& output) { return output.has_value(); }))
    node.precision.outputs.clear();
}

}  // namespace

void settlePrecision(Graph& graph, const CompileOptions& options, PassOptions& passOptions) {
  // 16-bit arithmetic is emulated there.
  const bool slow = options.device == "cpu";
  const bool allowed = options.allowF16 || options.allowBF16;
  const bool keeps = slow ? options.precisionRequests == PrecisionRequests::kObey
                          : options.precisionRequests != PrecisionRequests::kIgnore;
  if (slow && allowed)
    options.log.info("the CPU is faster in f32 than in 16 bits, so the engine computes in f32",
                     keeps ? " except where layers are told otherwise" : "");
  passOptions.allowF16 = options.allowF16 && !slow;
  passOptions.allowBF16 = options.allowBF16 && !slow;
  for (Node* node : graph.nodeList()) {
    if (!keeps) node->precision = {};
    if (!node->precision.empty()) checkRequests(*node, options);
  }
}

}  // namespace camshaft
