// For tests: runs kernels on random data and compares them with the operator's own evaluate().
#pragma once

#include <string>
#include <utility>

#include "testing/kernel_harness.h"

namespace camshaft::cpu {

// Every kernel of the CPU backend that supports the node, in every configuration, with 1, 2 and 3
// threads and on every instruction set of this machine, on memory that is poisoned, unaligned and
// guarded on both sides, and in place where the kernel allows it. Fails the test when no kernel
// supports the node or a result differs.
void expectKernelsMatch(const HarnessCase& testCase);
inline void expectKernelsMatch(const std::string& graph, Sizes sizes = {{}}) {
  expectKernelsMatch(HarnessCase{.graph = graph, .sizes = std::move(sizes)});
}

// What each kernel says to the node: "cpu/x: reason; cpu/y: yes".
std::string refusalsOf(const std::string& graph);

// The message of the Error that the first supporting kernel throws when run, or "no error".
std::string launchErrorOf(const HarnessCase& testCase);

}  // namespace camshaft::cpu
