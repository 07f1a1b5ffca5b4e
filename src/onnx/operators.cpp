#include "onnx/operators.h"

#include <algorithm>
#include <span>
#include <vector>

#include "onnx/ops/elementwise.h"
#include "onnx/ops/reduce.h"
#include "support/text.h"

namespace camshaft::onnx::importer {

#define ONNX_UNARY(name, since, scalarOp)
#define ONNX_BINARY(name, since, scalarOp)
#define ONNX_REDUCE(name, since, kind)
#define ONNX_OP(name, since, function) void function(NodeImport&);
#define ONNX_MICROSOFT(name, since, function) void function(NodeImport&);
#define ONNX_ML(name, since, function) void function(NodeImport&);
#define ONNX_PREVIEW(name, since, function) void function(NodeImport&);
#define ONNX_TRAINING(name, since, function) void function(NodeImport&);
#define ONNX_REFUSED(name, why)
#include "onnx/ops/table.def"
#undef ONNX_UNARY
#undef ONNX_BINARY
#undef ONNX_REDUCE
#undef ONNX_OP
#undef ONNX_MICROSOFT
#undef ONNX_ML
#undef ONNX_PREVIEW
#undef ONNX_TRAINING
#undef ONNX_REFUSED

namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";
constexpr std::string_view kMl = "ai.onnx.ml", kPreview = "ai.onnx.preview";
constexpr std::string_view kTraining = "ai.onnx.preview.training";

// One table, so that a lookup is a walk and nothing registers itself.
#define ONNX_UNARY(name, since, scalarOp) \
  {"", #name, since, [](NodeImport& node) { importUnary(node, ScalarOp::scalarOp); }},
#define ONNX_BINARY(name, since, scalarOp) \
  {"", #name, since, [](NodeImport& node) { importBinary(node, ScalarOp::scalarOp); }},
#define ONNX_REDUCE(name, since, kind) \
  {"", #name, since, [](NodeImport& node) { importReduce(node, ReduceKind::kind); }},
#define ONNX_OP(name, since, function) {"", #name, since, function},
#define ONNX_MICROSOFT(name, since, function) {kMicrosoft, #name, since, function},
#define ONNX_ML(name, since, function) {kMl, #name, since, function},
#define ONNX_PREVIEW(name, since, function) {kPreview, #name, since, function},
#define ONNX_TRAINING(name, since, function) {kTraining, #name, since, function},
#define ONNX_REFUSED(name, why)
constexpr OperatorEntry kOperators[] = {
#include "onnx/ops/table.def"
};
#undef ONNX_UNARY
#undef ONNX_BINARY
#undef ONNX_REDUCE
#undef ONNX_OP
#undef ONNX_MICROSOFT
#undef ONNX_ML
#undef ONNX_PREVIEW
#undef ONNX_TRAINING
#undef ONNX_REFUSED

struct Refusal {
  std::string_view name, why;
};

#define ONNX_UNARY(name, since, scalarOp)
#define ONNX_BINARY(name, since, scalarOp)
#define ONNX_REDUCE(name, since, kind)
#define ONNX_OP(name, since, function)
#define ONNX_MICROSOFT(name, since, function)
#define ONNX_ML(name, since, function)
#define ONNX_PREVIEW(name, since, function)
#define ONNX_TRAINING(name, since, function)
#define ONNX_REFUSED(name, why) {#name, why},
constexpr Refusal kRefusals[] = {
#include "onnx/ops/table.def"
};

}  // namespace

const OperatorEntry* findOperator(std::string_view domain, std::string_view name, int64_t opset) {
  const OperatorEntry* best = nullptr;
  for (const OperatorEntry& entry : kOperators)
    if (entry.name == name && entry.domain == domain && entry.sinceVersion <= opset &&
        (!best || entry.sinceVersion > best->sinceVersion))
      best = &entry;
  return best;
}

std::string whyUnknown(std::string_view domain, std::string_view name, int64_t opset) {
  for (const Refusal& refusal : kRefusals)
    if (domain.empty() && refusal.name == name) return std::string(refusal.why);
  if (domain == kTraining)
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
  if (names.empty())
    return str("nothing is known of operators of domain '", domain,
               "': the model must define it as a function");
  const std::string similar = nearest(name, names);
  return str("this operator is not supported",
             similar.empty() ? "" : str("; the nearest known name is ", similar));
}

}  // namespace camshaft::onnx::importer
