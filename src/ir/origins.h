// Which ONNX nodes a node does the work of.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace camshaft {

// A set of names in the order they came. Passes copy and join these sets all the time, and that of
// a long chain is as long as the chain: sets share their parts, so both take no time.
class Origins {
 public:
  Origins() = default;
  Origins(std::initializer_list<std::string> names);

  bool empty() const { return root_ == nullptr; }
  void clear() { root_.reset(); }
  void add(std::string name);
  void add(const Origins& others);
  // Each name once, where it came first. Takes time in proportion to what was ever added.
  std::vector<std::string> list() const;

 private:
  struct Part;
  std::shared_ptr<const Part> root_;
};

}  // namespace camshaft
