#include "quantize/moments.h"

#include <algorithm>

namespace camshaft {

bool MomentsGatherer::hasRoomFor(const Product& product) const {
  if (tensors_.empty() || tensors_.contains(product.input)) return true;
  return elements_ + product.columns() * product.columns() <= kMostElements;
}

void MomentsGatherer::add(const Product& product) {
  if (!tensors_.insert(product.input).second) return;
  columns_.emplace(product.input, product.columns());
  elements_ += product.columns() * product.columns();
}

TensorObserver MomentsGatherer::observer() {
  return [this](const std::string& name, std::span<const int64_t> dims,
                std::span<const float> values) {
    const int64_t columns = columns_.find(name)->second;
    if (dims.empty() || dims.back() != columns) return;
    auto& moments = moments_[name];
    moments.resize(static_cast<size_t>(columns * columns));
    addRows(moments, values, columns);
  };
}

// The upper triangle: it is symmetric.
void MomentsGatherer::addRows(std::vector<float>& moments, std::span<const float> rows,
                              int64_t columns) {
  threads_.parallelFor(columns, 8, [&](int64_t begin, int64_t end, int) {
    for (size_t at = 0; at < rows.size(); at += static_cast<size_t>(columns)) {
      const float* x = &rows[at];
      for (int64_t i = begin; i < end; ++i) {
        float* sums = &moments[static_cast<size_t>(i * columns)];
        for (int64_t j = i; j < columns; ++j) sums[j] += x[i] * x[j];
      }
    }
  });
}

std::span<const float> MomentsGatherer::momentsOf(const Product& product) const {
  const auto it = moments_.find(product.input);
  return it == moments_.end() ? std::span<const float>() : std::span<const float>(it->second);
}

}  // namespace camshaft
