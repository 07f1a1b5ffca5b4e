// Weights in few bits.
#pragma once

#include <span>
#include <vector>

#include "quantize/product.h"
#include "support/data_type.h"
#include "support/thread_pool.h"

namespace camshaft {

// As an initializer and a DequantizeLinear behind it hold them.
struct StoredWeights {
  DataType type = DataType::kI8;
  std::vector<std::byte> data;  // in the order of the model's weights
  std::vector<float> rounded;   // what it stands for, likewise
  std::vector<float> scales;    // one for each channel, or
  std::vector<int64_t> scaleDims;
  int axis = 0;           // of the channels, or that is cut into
  int64_t blockSize = 0;  // blocks of this many with a scale each; 0: none
};

// A scale for each output channel; i8 or f8e4m3.
StoredWeights storeByChannel(const Product& product, DataType type);

// Integers of 4 bits in rows x columns, and a scale for each block of columns of a row, the last of
// which may be smaller.
struct BlockIntegers {
  std::vector<int8_t> values;
  std::vector<float> scales;
};
// Each to the nearest, with the scale for which the squared error of its block is least.
BlockIntegers roundToNearest(std::span<const float> matrix, int64_t rows, int64_t blockSize);
// The error of each column is made up for by those behind it: what counts is the error of the
// product with inputs x whose sum of x xᵀ is `moments`, columns x columns (GPTQ, Frantar et al.
// 2022).
BlockIntegers roundCompensating(std::span<const float> matrix, int64_t rows, int64_t blockSize,
                                std::span<const float> moments, ThreadPool& threads);

// Of a Gemm or MatMul, a row for each output.
std::vector<float> weightMatrix(const Product& product);
StoredWeights storeBlocks(const Product& product, const BlockIntegers& integers, int64_t blockSize);

}  // namespace camshaft
