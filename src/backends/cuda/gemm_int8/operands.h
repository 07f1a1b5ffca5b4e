// Operands of products as kernels take them, and what products of 8-bit integers need besides.
// Their constant weights are packed less their zero points. The zero point of the first operand,
// one number, is taken out of the sums:
//
//   sum over k of (a - zero) b  =  sum of a b  -  zero * sum of b
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "backends/cuda/codegen/kernel_text.h"
#include "ops/evaluate.h"

namespace camshaft::cuda {

bool isOfIntegers(const Node& node);  // MatMulInteger or ConvInteger

// Why zero points of a product of integers with constant weights cannot be taken out as above;
// empty for others, and when they can.
std::string whyNotCentred(const Node& node);

// The constant second operand of a product, less its zero points: bytes where these hold all of
// it, else i16.
HostTensor centredWeights(const Node& node);
DataType centredType(const Node& node);
// Why it would not be of as many bits as before; empty when it is.
std::string whyWiderCentred(const Node& node);

// Elements of `weights` in another order: element i is source(i), a zero where that is negative.
std::vector<std::byte> packedWeights(const HostTensor& weights, int64_t count,
                                     const std::function<int64_t(int64_t)>& source);

// The first operand's zero point as text of an int: a number, or an operand that this declares;
// empty where it is 0.
std::string declareZeroPoint(KernelText& kernel, const Node& node);

// Declares, as `name`, the sums of the rows of packed weights, i32.
void declareRowSums(KernelText& kernel, const std::string& name, DataType type,
                    const std::vector<std::byte>& packed, int64_t rows);

}  // namespace camshaft::cuda
