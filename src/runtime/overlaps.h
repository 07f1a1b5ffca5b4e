// Whether the operands of a step, and the tensors of a caller, stay out of one another's memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backend/launch.h"
#include "plan/plan.h"
#include "runtime/hazards.h"

namespace camshaft {

// Kernels believe what they have written (positions they sort, counts they add up), so what a step
// writes must be touched by no other operand of it, or an engine file could lead it anywhere. Only
// results may lie exactly where inputs lie, as they do where kernels work in place; a kernel that
// cannot says so (RuntimeKernel::fits). `bytes` are the sizes of the inputs, the outputs and the
// workspace, in this order; -1: not known yet, so not looked at. Throws Error(kInvalidEngine)
// naming the step.
void requireApart(const Step& step, std::span<const int64_t> bytes);

// The same for what is known when an engine is loaded: operands of fixed sizes.
void requireApart(const Step& step);

// Sizes of operands as a launch sees them, for `bytes` above.
void appendBytes(std::span<const TensorArg> operands, std::vector<int64_t>& bytes);

// Where a caller has put the tensors of an engine; what has no bytes is nowhere.
struct CallersMemory {
  std::vector<MemoryRange> inputs, outputs;
};

// Steps read inputs until the last of them has run, and what earlier ones left in outputs. So an
// output shares no byte with another tensor, but for the input that it is in place
// (IoTensor::aliasedInput), from the same address on. Throws Error(kInvalidArgument) naming both.
void requireApart(const Plan& plan, const CallersMemory& memory, size_t output);

}  // namespace camshaft
