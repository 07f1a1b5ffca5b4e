// Operators under test as graph text: constants in, numbers out.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include "ops/evaluate.h"
#include "ops/ops.h"

namespace camshaft::testing {

// "symbols n", "%x: f32[n]", "%y = Softmax(%x) {axis = 0} return %y" as one graph.
inline Graph parseBody(const std::string& body, const std::string& inputs = "",
                       const std::string& symbols = "") {
  return parseGraph(symbols + "\ngraph g(" + inputs + ") {\n" + body + "\n}\n", findOp);
}

// The outputs of a graph of constants and nodes.
inline std::vector<HostTensor> evaluateText(const std::string& body) {
  return evaluateGraph(parseBody(body), {});
}

inline std::vector<double> numbersOf(const HostTensor& tensor) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.count(); ++i)
    numbers.push_back(readElement(tensor.type, tensor.view().data, i));
  return numbers;
}

// Every output against the numbers it should hold; NaN equals NaN.
inline void expectValues(const std::string& body,
                         std::initializer_list<std::vector<double>> expected,
                         double tolerance = 2e-5) {
  SCOPED_TRACE(body);
  const std::vector<HostTensor> results = evaluateText(body);
  ASSERT_EQ(results.size(), expected.size());
  size_t output = 0;
  for (const std::vector<double>& want : expected) {
    const std::vector<double> have = numbersOf(results[output]);
    ASSERT_EQ(have.size(), want.size()) << "output " << output;
    for (size_t i = 0; i < want.size(); ++i) {
      const bool equal = have[i] == want[i] || (std::isnan(have[i]) && std::isnan(want[i])) ||
                         std::fabs(have[i] - want[i]) <= tolerance * (1 + std::fabs(want[i]));
      EXPECT_TRUE(equal) << "output " << output << "[" << i << "] is " << have[i] << ", not "
                         << want[i];
    }
    ++output;
  }
}

// The inferred type of the graph's first output: "f32[n, 4]".
inline std::string typeOf(const std::string& symbols, const std::string& inputs,
                          const std::string& body) {
  const Graph graph = parseBody(body, inputs, "symbols " + symbols);
  return toString(graph.outputs[0].value->type);
}

// What the graph is refused with, or "" when it is not.
inline std::string refusalOf(const std::string& inputs, const std::string& body) {
  try {
    parseBody(body, inputs);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

}  // namespace camshaft::testing
