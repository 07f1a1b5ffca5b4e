// Counting short sequences of tokens.
#pragma once

#include "ops/ops.h"

namespace camshaft {

enum class NGramMode { kTf, kIdf, kTfIdf };

// NGrams(x): x is integers, [length] or [batch, length]. Of every row, how often each n-gram of the
// pool occurs, n from minLength to maxLength, its tokens up to maxSkip others apart: f32
// [columns] or [batch, columns]. The pool lists the 1-grams, then the 2-grams from poolStarts[1]
// on, ...; gram i is counted in column columnOf[i]. kIdf gives a gram's weight instead of its
// count, kTfIdf their product.
struct NGramsAttrs : AttrsOf<NGramsAttrs> {
  NGramMode mode = NGramMode::kTf;
  int64_t minLength = 1, maxLength = 1, maxSkip = 0, columns = 0;
  std::vector<int64_t> pool, poolStarts, columnOf;
  std::vector<double> weights;  // of each gram; empty: 1
  void fields(AttrVisitor& visit) override {
    static constexpr std::string_view kModes[] = {"tf", "idf", "tfidf"};
    visit("mode", mode, kModes);
    visit("min_length", minLength);
    visit("max_length", maxLength);
    visit("max_skip", maxSkip);
    visit("columns", columns);
    visit("pool", pool);
    visit("pool_starts", poolStarts);
    visit("column_of", columnOf);
    visit("weights", weights);
  }
};

}  // namespace camshaft
