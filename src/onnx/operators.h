// The table of operators that can be imported.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace camshaft::onnx::importer {

class NodeImport;
using ImportFunction = void (*)(NodeImport& node);

inline constexpr std::string_view kAnyDomain = "*";

struct OperatorEntry {
  std::string_view domain;  // or kAnyDomain
  std::string_view name;
  int64_t sinceVersion;  // of the domain's opset; the newest entry not past the model's is taken
  ImportFunction import;
};

// Null when the operator is unknown, or newer than the opset.
const OperatorEntry* findOperator(std::string_view domain, std::string_view name, int64_t opset);
// Why there is none: a sentence's end, with the nearest known name or the opset that has it.
std::string whyUnknown(std::string_view domain, std::string_view name, int64_t opset);

}  // namespace camshaft::onnx::importer
