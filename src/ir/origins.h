// Whose work a node does: that of ONNX nodes, each as in metadata (support/onnx_layer.h), or of
// layers, by the metadata or name they were given.
#pragma once

#include <compare>
#include <memory>
#include <string>
#include <vector>

namespace camshaft {

// One of the nodes that the importer made of an ONNX node, where it kept a trace of them
// (onnx/trace.h). The text form leaves it out.
struct ImportedPart {
  int node = -1;  // among the traced ones; -1: there is no trace
  int part = -1;  // among those made for it
  friend auto operator<=>(const ImportedPart&, const ImportedPart&) = default;
};

// A set of ONNX nodes, or parts of them, in the order they came. Passes copy and join these sets
// all the time, and that of a long chain is as long as the chain: sets share their parts, so both
// take no time.
class Origins {
 public:
  Origins() = default;
  Origins(std::initializer_list<std::string> names);

  bool empty() const { return root_ == nullptr; }
  void add(std::string name, ImportedPart part = {});
  void add(const Origins& others);
  // Each name once, where it came first. Takes time in proportion to what was ever added.
  std::vector<std::string> list() const;
  // Likewise what is known by a trace.
  std::vector<ImportedPart> parts() const;

 private:
  struct Part;
  template <class F>
  void visit(F leaf) const;  // each once, in order

  std::shared_ptr<const Part> root_;
};

}  // namespace camshaft
