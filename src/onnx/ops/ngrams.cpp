// TfIdfVectorizer, of tokens that are integers.
#include "ops/ngrams.h"

#include <algorithm>

#include "onnx/node_import.h"

namespace camshaft::onnx::importer {

void importTfIdfVectorizer(NodeImport& node) {
  if (!node.has("pool_int64s"))
    node.unsupported("string tensors are not supported: give the tokens as integers");
  NGramsAttrs attrs;
  attrs.mode = static_cast<NGramMode>(node.choice("mode", "tf", {"tf", "idf", "tfidf"}));
  attrs.minLength = node.integer("min_gram_length");
  attrs.maxLength = node.integer("max_gram_length");
  attrs.maxSkip = node.integer("max_skip_count");
  attrs.pool = node.integers("pool_int64s");
  attrs.poolStarts = node.integers("ngram_counts");
  attrs.columnOf = node.integers("ngram_indexes");
  attrs.weights = node.numbers("weights");
  for (const int64_t column : attrs.columnOf) attrs.columns = std::max(attrs.columns, column + 1);
  node.setOutput(node.add(&ops::NGrams, {node.input(0)}, std::move(attrs)));
}

}  // namespace camshaft::onnx::importer
