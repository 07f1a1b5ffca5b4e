#include "backends/cpu/pointwise/plain_loops-inl.h"

namespace camshaft::cpu::pointwise {

TileFunction unsignedLoop(const Instruction& instruction, DataType type) {
  switch (type) {
    case DataType::kU8:
      return plainLoopOf<uint8_t>(instruction);
    case DataType::kU16:
      return plainLoopOf<uint16_t>(instruction);
    case DataType::kU32:
      return plainLoopOf<uint32_t>(instruction);
    case DataType::kU64:
      return plainLoopOf<uint64_t>(instruction);
    case DataType::kBool:
      return plainLoopOf<bool>(instruction);
    default:
      return nullptr;
  }
}

}  // namespace camshaft::cpu::pointwise
