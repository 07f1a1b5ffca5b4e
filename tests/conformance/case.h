// The conformance suite's problems: graphs as text, with the shapes to run them at.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ops/evaluate.h"
#include "plan/profile.h"

namespace camshaft::conformance {

// One inference: a value for every symbol of the inputs' shapes, and the elements of inputs whose
// values matter.
struct Run {
  std::map<std::string, int64_t> sizes;
  std::map<std::string, std::vector<double>> values;
};

struct Case {
  std::string name;
  std::string file;
  std::string text;
  std::vector<std::string> weights;  // inputs of the text that become constants
  std::map<std::string, std::pair<double, double>> ranges;  // of the elements of an input
  std::vector<Run> runs;
  int profileCount = 1;  // run i belongs to profile i % profileCount
  double tolerance = 1e-4;

  Graph graph() const;
  std::vector<HostTensor> inputs(const Graph& graph, const Run& run) const;
  std::vector<ShapeProfile> profiles(const Graph& graph) const;
  int profileOf(size_t run) const { return static_cast<int>(run) % profileCount; }
};

// Every case of the suite's *.txt files, in the order of files and lines.
const std::vector<Case>& allCases();

struct Device {
  std::string name;
  std::map<std::string, std::string> skips;  // case to the reason
};
// Of devices.list, those that can be used here; or the ones named by useDevices() before.
std::vector<Device> allDevices();
// Optimisation levels to build at: 0 takes the first kernel of each list, 3 the fastest.
const std::vector<int>& allLevels();
void useDevices(std::vector<std::string> names, std::vector<int> levels);

}  // namespace camshaft::conformance
