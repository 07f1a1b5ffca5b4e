#include "onnx/operators.h"

#include <algorithm>
#include <span>
#include <vector>

#include "onnx/ops/elementwise.h"
#include "onnx/ops/reduce.h"
#include "support/text.h"

namespace camshaft::onnx::importer {

#define ONNX_IN(domain, name, since, function) void function(NodeImport&);
#include "onnx/ops/table.def"

namespace {

// One table, so that a lookup is a walk and nothing registers itself.
#define ONNX_UNARY(name, since, scalarOp) \
  {"", #name, since, [](NodeImport& node) { importUnary(node, ScalarOp::scalarOp); }},
#define ONNX_BINARY(name, since, scalarOp) \
  {"", #name, since, [](NodeImport& node) { importBinary(node, ScalarOp::scalarOp); }},
#define ONNX_REDUCE(name, since, kind) \
  {"", #name, since, [](NodeImport& node) { importReduce(node, ReduceKind::kind); }},
#define ONNX_IN(domain, name, since, function) {domain, #name, since, function},
constexpr OperatorEntry kOperators[] = {
#include "onnx/ops/table.def"
};

struct Refusal {
  std::string_view name, why;
};

#define ONNX_REFUSED(name, why) {#name, why},
constexpr Refusal kRefusals[] = {
#include "onnx/ops/table.def"
};

// Whether a node is likely to mean a plugin of TensorRT.
bool isLikePlugin(std::string_view domain, std::string_view name) {
  const auto has = [](std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
  };
  return has(name, "TRT") || has(name, "Plugin") || has(domain, "TRT") || has(domain, "trt");
}

std::string knownPlugins() {
  std::vector<std::string_view> names;
  for (const OperatorEntry& entry : kOperators)
    if (entry.domain == kAnyDomain) names.push_back(entry.name);
  return join(names, ", ");
}

}  // namespace

const OperatorEntry* findOperator(std::string_view domain, std::string_view name, int64_t opset) {
  const OperatorEntry* best = nullptr;
  for (const OperatorEntry& entry : kOperators)
    if (entry.name == name && (entry.domain == domain || entry.domain == kAnyDomain) &&
        entry.sinceVersion <= opset && (!best || entry.sinceVersion > best->sinceVersion))
      best = &entry;
  return best;
}

std::string whyUnknown(std::string_view domain, std::string_view name, int64_t opset) {
  for (const Refusal& refusal : kRefusals)
    if (domain.empty() && refusal.name == name) return std::string(refusal.why);
  if (domain == "ai.onnx.preview.training")
    return "it belongs to training, which an engine does not do: export the model for inference";
  std::vector<std::string_view> names;
  for (const OperatorEntry& entry : kOperators) {
    if (entry.domain != domain) continue;
    if (entry.name == name)
      return str("this operator exists since opset ", entry.sinceVersion,
                 " and the model imports opset ", opset);
    names.push_back(entry.name);
  }
  for (const OperatorEntry& entry : kOperators)
    if (entry.name == name)
      return str("this operator is not supported in this domain; it is known in domain '",
                 entry.domain.empty() ? "ai.onnx" : entry.domain, "'");
  if (isLikePlugin(domain, name))
    return str(
        "no creator of such a plugin is registered, and it is none of those that need "
        "none: ",
        knownPlugins());
  if (names.empty())
    return str("nothing is known of operators of domain '", domain,
               "': the model must define it as a function");
  const std::string similar = nearest(name, names);
  return str("this operator is not supported",
             similar.empty() ? "" : str("; the nearest known name is ", similar));
}

}  // namespace camshaft::onnx::importer
