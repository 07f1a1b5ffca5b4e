// What a layer computes and moves, as far as its sizes are known: what its time is measured by.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace camshaft {

std::vector<int64_t> knownDims(const TensorDesc& tensor);  // -1: only a run knows it
int64_t knownBytes(const TensorDesc& tensor);              // -1: likewise

// Bytes of all operands, each once; of tables only what is looked up. -1: a size is not known.
int64_t bytesMoved(const Step& step);

// Operations on numbers by the definition of the operator, whatever way the kernel finds: a
// multiplication and an addition are two, and a function of an expression is one. Nothing for
// layers that move data. -1: a size is not known, or nobody counted what the operator does.
double operationsOf(const Step& step);

}  // namespace camshaft
