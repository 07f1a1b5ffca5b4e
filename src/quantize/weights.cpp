#include "quantize/weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "quantize/range.h"
#include "support/half.h"
#include "support/packed.h"

namespace camshaft {
namespace {

constexpr int kLowest = -8, kHighest = 7;

int roundedInteger(float weight, float scale) {
  return static_cast<int>(
      std::clamp(std::nearbyint(weight / scale), float{kLowest}, float{kHighest}));
}

// By trying: one that clips the largest a little often rounds the others better.
float scaleOfBlock(std::span<const float> block) {
  float largest = 0;
  for (const float weight : block) largest = std::max(largest, std::abs(weight));
  if (largest < std::numeric_limits<float>::min()) return 1;
  constexpr int kTries = 24;
  float best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    const float scale = largest / kHighest * (1 - 0.02F * static_cast<float>(i));
    double error = 0;
    for (const float weight : block) {
      const double off = weight - scale * static_cast<float>(roundedInteger(weight, scale));
      error += off * off;
    }
    if (error >= least) continue;
    least = error;
    best = scale;
  }
  return best;
}

}  // namespace

StoredWeights storeByChannel(const Product& product, DataType type) {
  const auto& weights = product.weights.values;
  StoredWeights stored;
  stored.type = type;
  stored.axis = product.channelAxis;
  stored.scaleDims = {product.rows()};
  stored.data.resize(weights.size());
  stored.rounded.resize(weights.size());
  for (int64_t row = 0; row < product.rows(); ++row) {
    double largest = 0;
    for (int64_t column = 0; column < product.columns(); ++column)
      largest = std::max<double>(largest, std::abs(weights[product.at(row, column)]));
    const Quantizer quantizer = quantizerFor({-largest, largest}, type);
    stored.scales.push_back(quantizer.scale);
    for (int64_t column = 0; column < product.columns(); ++column) {
      const size_t at = product.at(row, column);
      stored.rounded[at] = quantizer.rounded(weights[at]);
      const float steps = stored.rounded[at] / quantizer.scale;
      if (type == DataType::kF8E4M3)
        stored.data[at] = std::bit_cast<std::byte>(Float8E4M3(steps));
      else
        stored.data[at] = static_cast<std::byte>(static_cast<int8_t>(std::nearbyint(steps)));
    }
  }
  return stored;
}

BlockIntegers roundToNearest(std::span<const float> matrix, int64_t rows, int64_t blockSize) {
  BlockIntegers made;
  made.values.reserve(matrix.size());
  const auto columns = static_cast<int64_t>(matrix.size()) / rows;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t begin = 0; begin < columns; begin += blockSize) {
      const auto block = matrix.subspan(static_cast<size_t>(row * columns + begin),
                                        static_cast<size_t>(std::min(blockSize, columns - begin)));
      const float scale = scaleOfBlock(block);
      made.scales.push_back(scale);
      for (const float weight : block)
        made.values.push_back(static_cast<int8_t>(roundedInteger(weight, scale)));
    }
  return made;
}

namespace {

// The upper triangular U with inverse(H) = Uᵀ U, which is the inverse of the upper triangular M
// with H = M Mᵀ. Its row i says how those behind column i make up for an error of that.
class Compensation {
 public:
  Compensation(std::span<const float> moments, int64_t size, ThreadPool& threads)
      : size_(size), factor_(moments.begin(), moments.end()), threads_(threads) {
    dampen();
    factorize();
    invert();
  }
  float at(int64_t row, int64_t column) const { return inverse_[index(row, column)]; }
  const float* row(int64_t row) const { return &inverse_[index(row, 0)]; }

 private:
  size_t index(int64_t row, int64_t column) const {
    return static_cast<size_t>(row * size_ + column);
  }

  // Inputs that were always zero, or followed others, leave no way to divide.
  void dampen() {
    constexpr double kPart = 0.01;
    double trace = 0;
    for (int64_t i = 0; i < size_; ++i) trace += factor_[index(i, i)];
    const double mean = trace > 0 ? trace / static_cast<double>(size_) : 1;
    for (int64_t i = 0; i < size_; ++i) factor_[index(i, i)] += kPart * mean;
  }

  // M in place, from the last column to the first.
  void factorize() {
    for (int64_t k = size_ - 1; k >= 0; --k) {
      const double root = std::sqrt(std::max(factor_[index(k, k)], 1e-30));
      factor_[index(k, k)] = root;
      std::vector<double> column(static_cast<size_t>(k));
      for (int64_t i = 0; i < k; ++i) column[static_cast<size_t>(i)] = factor_[index(i, k)] / root;
      threads_.parallelFor(k, 16, [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i) {
          const double mine = column[static_cast<size_t>(i)];
          double* row = &factor_[index(i, 0)];
          row[k] = mine;
          for (int64_t j = i; j < k; ++j) row[j] -= mine * column[static_cast<size_t>(j)];
        }
      });
    }
  }

  // Row i of U, from the last on: U M = 1.
  void invert() {
    inverse_.assign(static_cast<size_t>(size_ * size_), 0);
    threads_.parallelFor(size_, 1, [&](int64_t begin, int64_t end, int) {
      std::vector<double> left(static_cast<size_t>(size_));
      for (int64_t i = begin; i < end; ++i) {
        std::fill(left.begin(), left.end(), 0);
        left[static_cast<size_t>(i)] = 1;
        for (int64_t j = i; j < size_; ++j) {
          const double* row = &factor_[index(j, 0)];
          const double found = left[static_cast<size_t>(j)] / row[j];
          inverse_[index(i, j)] = static_cast<float>(found);
          for (int64_t k = j + 1; k < size_; ++k) left[static_cast<size_t>(k)] -= found * row[k];
        }
      }
    });
  }

  const int64_t size_;
  std::vector<double> factor_;
  std::vector<float> inverse_;
  ThreadPool& threads_;
};

}  // namespace

BlockIntegers roundCompensating(std::span<const float> matrix, int64_t rows, int64_t blockSize,
                                std::span<const float> moments, ThreadPool& threads) {
  const auto columns = static_cast<int64_t>(matrix.size()) / rows;
  const int64_t blocks = (columns + blockSize - 1) / blockSize;
  const Compensation compensation(moments, columns, threads);
  std::vector<float> left(matrix.begin(), matrix.end());
  BlockIntegers made{std::vector<int8_t>(matrix.size()),
                     std::vector<float>(static_cast<size_t>(rows * blocks))};
  // A few rows at a time, so that a row of U is read once for all of them.
  threads.parallelFor(rows, 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t column = 0; column < columns; ++column) {
      const float* effect = compensation.row(column);
      for (int64_t row = begin; row < end; ++row) {
        float* weights = &left[static_cast<size_t>(row * columns)];
        float& scale = made.scales[static_cast<size_t>(row * blocks + column / blockSize)];
        if (column % blockSize == 0)
          scale = scaleOfBlock(
              {weights + column, static_cast<size_t>(std::min(blockSize, columns - column))});
        const int value = roundedInteger(weights[column], scale);
        made.values[static_cast<size_t>(row * columns + column)] = static_cast<int8_t>(value);
        const float error = (weights[column] - scale * static_cast<float>(value)) / effect[column];
        for (int64_t k = column + 1; k < columns; ++k) weights[k] -= error * effect[k];
      }
    }
  });
  return made;
}

std::vector<float> weightMatrix(const Product& product) {
  std::vector<float> matrix;
  matrix.reserve(product.weights.values.size());
  for (int64_t row = 0; row < product.rows(); ++row)
    for (int64_t column = 0; column < product.columns(); ++column)
      matrix.push_back(product.weights.values[product.at(row, column)]);
  return matrix;
}

StoredWeights storeBlocks(const Product& product, const BlockIntegers& integers,
                          int64_t blockSize) {
  const int64_t rows = product.rows(), columns = product.columns();
  const int64_t blocks = (columns + blockSize - 1) / blockSize;
  StoredWeights stored;
  stored.type = DataType::kI4;
  stored.blockSize = blockSize;
  stored.axis = 1 - product.channelAxis;
  stored.data.resize((product.weights.values.size() + 1) / 2);
  stored.rounded.resize(product.weights.values.size());
  stored.scales.resize(integers.scales.size());
  const bool isTransposed = product.channelAxis == 0;  // rows lie in a row already
  stored.scaleDims = isTransposed ? std::vector{rows, blocks} : std::vector{blocks, rows};
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t block = column / blockSize;
      const float scale = integers.scales[static_cast<size_t>(row * blocks + block)];
      const int value = integers.values[static_cast<size_t>(row * columns + column)];
      const size_t at = product.at(row, column);
      setPacked(stored.data.data(), static_cast<int64_t>(at), 4, Int4(value).bits);
      stored.rounded[at] = scale * static_cast<float>(value);
      stored.scales[static_cast<size_t>(isTransposed ? row * blocks + block : block * rows + row)] =
          scale;
    }
  return stored;
}

}  // namespace camshaft
