#include "backends/cpu/pointwise/plain_loops-inl.h"

namespace camshaft::cpu::pointwise {

TileFunction floatLoop(const Instruction& instruction, DataType type) {
  switch (type) {
    case DataType::kF32:
      return plainLoopOf<float>(instruction);
    case DataType::kF64:
      return plainLoopOf<double>(instruction);
    default:
      return nullptr;
  }
}

}  // namespace camshaft::cpu::pointwise
