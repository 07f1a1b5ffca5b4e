// What is taken for granted about the sizes of a model's inputs.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "onnx/names.h"

namespace camshaft::onnx::importer {

// A size may be 0 until something is imported that is decided only where it is not: x[-1:] has size
// one, and not min(n, 1), where x has rows. From then on its symbol's range begins at one, which
// profiles are held to.
class InputSizes {
 public:
  // Of a body's graph, where `outer` is that of the graph around it.
  explicit InputSizes(Graph& graph, InputSizes* outer = nullptr) : graph_(graph), outer_(outer) {}

  // Lets the symbol be taken as at least one; in a body, as what it is outside then is.
  void mayAssume(const std::string& symbol, std::optional<Dim> outside = std::nullopt);
  // Whether a >= b, for all sizes that there may be; or for all without 0, where that decides it.
  bool isAtLeast(const Dim& a, const Dim& b);
  bool isAtLeastAnyway(const Dim& a, const Dim& b) const;

 private:
  DimRange assumed(const std::string& symbol) const;
  void assume(const Dim& dim);

  Graph& graph_;
  InputSizes* outer_;
  std::map<std::string, std::optional<Dim>> assumable_;
};

}  // namespace camshaft::onnx::importer
