#include "backends/cpu/pointwise/plain_loops-inl.h"

namespace camshaft::cpu::pointwise {

TileFunction signedLoop(const Instruction& instruction, DataType type) {
  switch (type) {
    case DataType::kI8:
      return plainLoopOf<int8_t>(instruction);
    case DataType::kI16:
      return plainLoopOf<int16_t>(instruction);
    case DataType::kI32:
      return plainLoopOf<int32_t>(instruction);
    case DataType::kI64:
      return plainLoopOf<int64_t>(instruction);
    default:
      return nullptr;
  }
}

}  // namespace camshaft::cpu::pointwise
