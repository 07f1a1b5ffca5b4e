// For tests: runs kernels on random data and compares them with the operator's own evaluate().
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/kernel.h"

namespace camshaft::cpu {

struct HarnessCase {
  // Graph text with one node, or several of which the last is the one under test:
  // "symbols n graph g(%x: f32[n, 3]) { %y = Softmax(%x) {axis = 1} return %y }"
  std::string graph;
  // Values of the symbols, one map per run. The kernel is prepared once for all runs.
  std::vector<std::map<std::string, int64_t>> sizes = {{}};
  // Graph inputs that become constants of random data before the kernel is prepared.
  std::set<std::string> constants;
  // Bounds of random data by input: [low, high]. Otherwise floats are normal, integers small.
  std::map<std::string, std::pair<double, double>> ranges;
  // |got - want| <= tolerance * (1 + |want|). Negative: by the type of the output.
  double tolerance = -1;
  std::string only;  // this kernel alone
};

// Every kernel of the CPU backend that supports the node, in every configuration, with 1, 2 and 3
// threads and on every instruction set of this machine, on memory that is poisoned, unaligned and
// guarded on both sides, and in place where the kernel allows it. Fails the test when no kernel
// supports the node or a result differs.
void expectKernelsMatch(const HarnessCase& testCase);
inline void expectKernelsMatch(const std::string& graph,
                               std::vector<std::map<std::string, int64_t>> sizes = {{}}) {
  expectKernelsMatch(HarnessCase{.graph = graph, .sizes = std::move(sizes)});
}

// What each kernel says to the node: "cpu/x: reason; cpu/y: yes".
std::string refusalsOf(const std::string& graph);

// The message of the Error that the first supporting kernel throws when run, or "no error".
std::string launchErrorOf(const HarnessCase& testCase);

}  // namespace camshaft::cpu
