// The loops behind the instructions.
#pragma once

#include "backends/cpu/pointwise/executor.h"

namespace camshaft::cpu::pointwise {

// f32 on the widest vectors this CPU has; null for what has no vector code.
TileFunction vectorLoop(const Instruction& instruction);
// Any operation and type, from the definitions in ir/scalar_ops.def; null when the type does not
// have the operation.
TileFunction plainLoop(const Instruction& instruction);

}  // namespace camshaft::cpu::pointwise
