#include "slim/report.h"

#include <algorithm>
#include <cstdio>

#include "support/json_text.h"
#include "support/text.h"

namespace camshaft {

namespace {

using Member = int64_t SlimReport::Count::*;

void countNodes(SlimReport& report, const onnx::Graph& graph, Member when) {
  report.initializers.*when += static_cast<int64_t>(graph.initializers.size());
  for (const onnx::Node& node : graph.nodes) {
    ++(report.nodes.*when);
    const std::string prefix = node.domain.empty() ? "" : str(node.domain, ".");
    ++(report.operators[prefix + std::string(node.opType)].*when);
    for (const onnx::Attribute& attribute : node.attributes)
      for (const onnx::Graph& inner : attribute.graphs) countNodes(report, inner, when);
  }
}

std::string readable(int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
  double size = static_cast<double>(bytes);
  int unit = 0;
  for (; size >= 1024 && unit < 3; ++unit) size /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", size, kUnits[unit]);
  return text;
}

std::string row(std::string_view name, std::string_view before, std::string_view after, int width) {
  char line[256];
  std::snprintf(line, sizeof line, "%-*.*s %12.*s %12.*s\n", width, static_cast<int>(name.size()),
                name.data(), static_cast<int>(before.size()), before.data(),
                static_cast<int>(after.size()), after.data());
  return line;
}

std::string jsonOf(const SlimReport::Count& count) {
  return str("{\"before\": ", count.before, ", \"after\": ", count.after, "}");
}

}  // namespace

int64_t nodesIn(const onnx::Graph& graph) {
  int64_t count = static_cast<int64_t>(graph.nodes.size());
  for (const onnx::Node& node : graph.nodes)
    for (const onnx::Attribute& attribute : node.attributes)
      for (const onnx::Graph& inner : attribute.graphs) count += nodesIn(inner);
  return count;
}

void countInto(SlimReport& report, const onnx::Model& before, const onnx::Model& after) {
  countNodes(report, before.graph, &SlimReport::Count::before);
  countNodes(report, after.graph, &SlimReport::Count::after);
}

std::string SlimReport::table() const {
  int width = 12;
  for (const auto& [name, count] : operators)
    width = std::min(48, std::max(width, static_cast<int>(name.size())));
  std::string text = row("", "before", "after", width);
  for (const auto& [name, count] : operators)
    text += row(name, str(count.before), count.after ? str(count.after) : "-", width);
  text += row("all nodes", str(nodes.before), str(nodes.after), width);
  text += row("initializers", str(initializers.before), str(initializers.after), width);
  text += row("size", readable(bytes.before), readable(bytes.after), width);
  for (const std::string& one : kept) text += str("left as it was: ", one, "\n");
  return text;
}

std::string SlimReport::json() const {
  std::string text = "{\"operators\": {";
  bool first = true;
  for (const auto& [name, count] : operators) {
    text += str(first ? "" : ", ", jsonText(name), ": ", jsonOf(count));
    first = false;
  }
  text += str("}, \"nodes\": ", jsonOf(nodes), ", \"initializers\": ", jsonOf(initializers),
              ", \"bytes\": ", jsonOf(bytes), ", \"kept\": [");
  for (size_t i = 0; i < kept.size(); ++i) text += str(i ? ", " : "", jsonText(kept[i]));
  return text + "]}";
}

}  // namespace camshaft
