#include "ops/ngrams.h"

#include <algorithm>
#include <map>

#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

using Gram = std::vector<int64_t>;

std::map<Gram, size_t> gramsOf(const Node& node) {
  const auto& attrs = node.as<NGramsAttrs>();
  std::map<Gram, size_t> grams;
  const auto refuse = [&](std::string_view why) {
    fail(ErrorKind::kInvalidModel, describe(node), " has a pool of n-grams that ", why);
  };
  for (size_t n = 1, gram = 0; n <= attrs.poolStarts.size(); ++n) {
    const int64_t begin = attrs.poolStarts[n - 1];
    const int64_t end =
        n < attrs.poolStarts.size() ? attrs.poolStarts[n] : static_cast<int64_t>(attrs.pool.size());
    if (begin < 0 || begin > end || end > static_cast<int64_t>(attrs.pool.size()) ||
        (end - begin) % static_cast<int64_t>(n) != 0)
      refuse("does not divide into them");
    for (int64_t at = begin; at < end; at += static_cast<int64_t>(n), ++gram)
      grams.emplace(
          Gram(attrs.pool.begin() + at, attrs.pool.begin() + at + static_cast<int64_t>(n)), gram);
    if (gram > attrs.columnOf.size() || (!attrs.weights.empty() && gram > attrs.weights.size()))
      refuse("has more of them than columns or weights");
  }
  return grams;
}

std::vector<TensorType> inferNGrams(const Node& node) {
  const auto& attrs = node.as<NGramsAttrs>();
  const TensorType& x = node.inputs[0]->type;
  if (!isInteger(x.type) || x.rank() < 1 || x.rank() > 2)
    fail(ErrorKind::kInvalidModel, describe(node), " needs rows of integers and has ", x);
  if (attrs.minLength < 1 || attrs.maxLength < attrs.minLength || attrs.maxSkip < 0)
    fail(ErrorKind::kInvalidModel, describe(node), " counts n-grams of lengths ", attrs.minLength,
         " to ", attrs.maxLength, " with gaps of up to ", attrs.maxSkip);
  for (const int64_t column : attrs.columnOf)
    if (column < 0 || column >= attrs.columns)
      fail(ErrorKind::kInvalidModel, describe(node), " counts in column ", column, " of ",
           attrs.columns);
  gramsOf(node);
  Shape shape{attrs.columns};
  if (x.rank() == 2) shape.insert(shape.begin(), x.shape[0]);
  return {{DataType::kF32, shape}};
}

// Calls f(gram) for every sequence of the attributes' lengths and gaps in the row.
template <class F>
void forEachGram(const NGramsAttrs& attrs, const int64_t* row, int64_t length, F&& f) {
  Gram gram;
  const int64_t longest = std::min(attrs.maxLength, length);
  for (int64_t n = attrs.minLength; n <= longest; ++n) {
    const int64_t mostSkipped = n == 1 ? 0 : std::min(attrs.maxSkip, length);
    for (int64_t step = 1; step <= mostSkipped + 1; ++step)
      for (int64_t first = 0; first + (n - 1) * step < length; ++first) {
        gram.clear();
        for (int64_t i = 0; i < n; ++i) gram.push_back(row[first + i * step]);
        f(gram);
      }
  }
}

void evaluateNGrams(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<NGramsAttrs>();
  const std::map<Gram, size_t> grams = gramsOf(evaluation.node);
  const ConstTensorView& x = evaluation.inputs[0];
  std::vector<int64_t> tokens(x.count());
  for (size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = readInteger(x.type, x.data, static_cast<int64_t>(i));
  const int64_t length = x.dims.back(), rows = x.dims.size() == 2 ? x.dims[0] : 1;
  std::vector<double> y(evaluation.outputs[0].count());
  for (int64_t row = 0; row < rows; ++row)
    forEachGram(attrs, tokens.data() + row * length, length, [&](const Gram& gram) {
      const auto found = grams.find(gram);
      if (found == grams.end()) return;
      double& count = y[row * attrs.columns + attrs.columnOf[found->second]];
      const double weight = attrs.weights.empty() ? 1 : attrs.weights[found->second];
      if (attrs.mode == NGramMode::kIdf)
        count = weight;
      else
        count += attrs.mode == NGramMode::kTf ? 1 : weight;
    });
  writeReals(evaluation.outputs[0], y);
}

}  // namespace

const OpInfo ops::NGrams = {"NGrams",      1, 1, 1, makeAttrsOf<NGramsAttrs>, inferNGrams,
                            evaluateNGrams};

}  // namespace camshaft
