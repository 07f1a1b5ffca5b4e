// Einsum: makes the equation explicit, without spaces and ellipses.
#include <algorithm>
#include <map>

#include "onnx/ops/einsum_product.h"
#include "ops/gemm.h"

namespace camshaft::onnx::importer {

namespace {

constexpr std::string_view kEllipsis = "...";

std::vector<std::string> splitTerms(const std::string& text) {
  std::vector<std::string> terms(1);
  for (const char c : text) {
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  }
  return terms;
}

// Labels not in use, for the dimensions an ellipsis stands for; they broadcast from the right.
std::string freeLabels(const std::string& equation, size_t count) {
  std::string labels;
  for (char c = 'A'; c <= 'z' && labels.size() < count; ++c)
    if (std::isalpha(static_cast<unsigned char>(c)) && equation.find(c) == std::string::npos)
      labels += c;
  return labels;
}

// Letters that occur once, in alphabetical order, after the ellipsis.
std::string implicitOutput(const std::vector<std::string>& terms) {
  std::map<char, int> uses;
  bool hasEllipsis = false;
  for (const std::string& term : terms)
    for (const char c : term) {
      if (c == '.')
        hasEllipsis = true;
      else
        ++uses[c];
    }
  std::string output = hasEllipsis ? std::string(kEllipsis) : std::string();
  for (const auto& [label, count] : uses)
    if (count == 1) output += label;
  return output;
}

}  // namespace

void importEinsum(NodeImport& node) {
  std::vector<Value*> inputs = node.allInputs();
  std::string equation = node.text("equation", "");
  std::erase(equation, ' ');
  const size_t arrow = equation.find("->");
  std::vector<std::string> terms = splitTerms(equation.substr(0, arrow));
  std::string output =
      arrow == std::string::npos ? implicitOutput(terms) : equation.substr(arrow + 2);
  if (terms.size() != inputs.size())
    node.invalid("its equation '", equation, "' has ", terms.size(), " terms for ", inputs.size(),
                 " inputs");

  size_t widest = 0;
  std::vector<size_t> covered(terms.size(), 0);
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].find(kEllipsis) == std::string::npos) continue;
    const size_t labels = terms[i].size() - kEllipsis.size();
    if (static_cast<size_t>(inputs[i]->rank()) < labels)
      node.invalid("its equation has more labels than input ", i, " has dimensions");
    covered[i] = static_cast<size_t>(inputs[i]->rank()) - labels;
    widest = std::max(widest, covered[i]);
  }
  const std::string fresh = freeLabels(equation + output, widest);
  const auto resolve = [&](std::string& term, size_t count) {
    if (const size_t at = term.find(kEllipsis); at != std::string::npos)
      term.replace(at, kEllipsis.size(), fresh.substr(fresh.size() - count));
  };
  for (size_t i = 0; i < terms.size(); ++i) resolve(terms[i], covered[i]);
  resolve(output, widest);
  if (inputs.size() == 2)
    if (Value* y = einsumProduct(node, {inputs[0], terms[0]}, {inputs[1], terms[1]}, output))
      return node.setOutput(y);
  EinsumAttrs attrs;
  for (size_t i = 0; i < terms.size(); ++i) attrs.equation += (i ? "," : "") + terms[i];
  attrs.equation += "->" + output;
  node.setOutput(node.add(&ops::Einsum, std::move(inputs), std::move(attrs)));
}

}  // namespace camshaft::onnx::importer
