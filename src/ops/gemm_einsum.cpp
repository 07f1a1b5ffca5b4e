#include <algorithm>
#include <map>

#include "ops/gemm.h"
#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

// "bij,bjk->bik", spaces allowed.
Equation parseEquation(const Node& node) {
  std::string text = node.as<EinsumAttrs>().equation;
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  if (arrow == std::string::npos)
    fail(ErrorKind::kInvalidModel, describe(node), " has the equation '", text, "' without '->'");
  Equation equation{{""}, text.substr(arrow + 2)};
  for (char c : text.substr(0, arrow)) {
    if (c == ',')
      equation.operands.emplace_back();
    else
      equation.operands.back() += c;
  }
  if (static_cast<int>(equation.operands.size()) != node.ownInputs())
    fail(ErrorKind::kInvalidModel, describe(node), " has ", node.ownInputs(),
         " inputs where its equation '", text, "' names ", equation.operands.size());
  return equation;
}

std::vector<TensorType> inferEinsum(const Node& node) {
  const Equation equation = parseEquation(node);
  std::map<char, Dim> sizes;
  for (int i = 0; i < node.ownInputs(); ++i) {
    const std::string& labels = equation.operands[i];
    requireSameType(node, i, 0);
    requireRank(node, i, str("an operand '", labels, "'"), static_cast<int64_t>(labels.size()));
    for (size_t axis = 0; axis < labels.size(); ++axis) {
      const Dim& size = node.inputs[i]->shape()[axis];
      auto [known, isNew] = sizes.try_emplace(labels[axis], size);
      if (!isNew)
        known->second = broadcastSize(known->second, size,
                                      str(describe(node), " under the label '", labels[axis], "'"));
    }
  }
  Shape shape;
  for (char label : equation.result) {
    if (!sizes.contains(label) || std::ranges::count(equation.result, label) > 1)
      fail(ErrorKind::kInvalidModel, describe(node), " has the label '", label,
           "' in its result, which must be once in there and in an operand");
    shape.push_back(sizes.at(label));
  }
  return {{node.inputs[0]->dataType(), shape}};
}

// Strides of a tensor under an index over all labels; a label used twice walks the diagonal, and
// a dimension of size 1 broadcasts.
Dims stridesUnder(const std::string& labels, const std::string& own, const Dims& dims) {
  Dims strides(labels.size(), 0);
  const Dims ownStrides = stridesOf(dims);
  for (size_t i = 0; i < own.size(); ++i)
    if (dims[i] != 1) strides[labels.find(own[i])] += ownStrides[i];
  return strides;
}

template <class Wide>
std::vector<Wide> contract(const Evaluation& evaluation,
                           std::vector<Wide> (*read)(const ConstTensorView&)) {
  const Equation equation = parseEquation(evaluation.node);
  std::string labels = equation.result;
  Dims sizes = evaluation.outputs[0].dims;
  for (size_t i = 0; i < equation.operands.size(); ++i) {
    for (size_t axis = 0; axis < equation.operands[i].size(); ++axis) {
      const char label = equation.operands[i][axis];
      const size_t at = labels.find(label);
      if (at == std::string::npos) {
        labels += label;
        sizes.push_back(evaluation.inputs[i].dims[axis]);
      } else if (at >= equation.result.size()) {
        if (sizes[at] == 1) sizes[at] = evaluation.inputs[i].dims[axis];  // or both are equal
      }
    }
  }
  std::vector<std::vector<Wide>> operands;
  std::vector<Dims> strides;
  for (size_t i = 0; i < equation.operands.size(); ++i) {
    operands.push_back(read(evaluation.inputs[i]));
    strides.push_back(stridesUnder(labels, equation.operands[i], evaluation.inputs[i].dims));
  }
  const Dims outStrides = stridesUnder(labels, equation.result, evaluation.outputs[0].dims);
  std::vector<Wide> out(evaluation.outputs[0].count());
  forEachIndex(sizes, [&](const Dims& index) {
    Wide product = 1;
    for (size_t i = 0; i < operands.size(); ++i)
      product *= operands[i][offsetOf(index, strides[i])];
    out[offsetOf(index, outStrides)] += product;
  });
  return out;
}

void evaluateEinsum(const Evaluation& evaluation) {
  if (isFloat(evaluation.inputs[0].type))
    writeReals(evaluation.outputs[0], contract(evaluation, readReals));
  else
    writeIntegers(evaluation.outputs[0], contract(evaluation, readIntegers));
}

}  // namespace

const OpInfo ops::Einsum = {"Einsum",      1, -1, 1, makeAttrsOf<EinsumAttrs>, inferEinsum,
                            evaluateEinsum};

}  // namespace camshaft
