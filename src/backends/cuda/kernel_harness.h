// For tests: runs generated kernels, on the emulator or the GPU (kernel_machine.h), with random
// data and compares them with the operator's own evaluate().
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/kernel.h"

namespace camshaft::cuda {

using Sizes = std::vector<std::map<std::string, int64_t>>;

struct HarnessCase {
  // Graph text with one node, or several of which the last is the one under test:
  // "symbols n graph g(%x: f32[n, 3]) { %y = Softmax(%x) {axis = 1} return %y }"
  std::string graph;
  // Values of the symbols, one map per run. The kernel is prepared once for all runs.
  Sizes sizes = {{}};
  // Graph inputs that become constants of random data before the kernel is prepared.
  std::set<std::string> constants;
  // Bounds of random data by input: [low, high]. Otherwise floats are normal, integers small.
  std::map<std::string, std::pair<double, double>> ranges;
  // These values, again and again, instead of random data by input.
  std::map<std::string, std::vector<double>> values;
  // |got - want| <= tolerance * (1 + |want|). Negative: by the type of the output.
  double tolerance = -1;
  std::string only;  // this kernel alone
};

// Every generated kernel that supports the node, in every configuration, on poisoned and guarded
// memory, and in place where the kernel allows it. Fails the test when no kernel supports the node
// or a result differs. With CAMSHAFT_TEST_NVRTC in the environment every source is also compiled by
// NVRTC for each architecture named there: "sm_80 sm_90a sm_100".
void expectKernelsMatch(const HarnessCase& testCase);
inline void expectKernelsMatch(const std::string& graph, Sizes sizes = {{}}) {
  expectKernelsMatch(HarnessCase{.graph = graph, .sizes = std::move(sizes)});
}

// What each kernel says to the node: "cuda/x: reason; cuda/y: yes".
std::string refusalsOf(const std::string& graph);
// The same of kernels that support the node and are prepared for these sizes.
std::string refusalsAt(const std::string& graph, const std::map<std::string, int64_t>& sizes);

}  // namespace camshaft::cuda
