// Weights packed for one instruction set: the mark beside them and its check. Both halves.
#pragma once

#include "backends/cpu/gemm/gemm.h"
#include "support/byte_reader.h"
#include "support/error.h"

namespace camshaft::cpu {

inline void writeIsa(ByteWriter& writer) { writer.writeString(gemmGeometry().isa); }

// Throws unless the weights were packed for the instruction set in use here.
inline void requireIsa(ByteReader& reader) {
  const std::string built = reader.readString();
  if (built != gemmGeometry().isa)
    fail(ErrorKind::kInvalidEngine, "the engine was built for CPUs with ", built,
         " and this one runs ", gemmGeometry().isa, "; build it again on this machine");
}

}  // namespace camshaft::cpu
