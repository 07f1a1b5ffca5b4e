// Weights packed for one instruction set: the mark beside them and its check. Both halves.
#pragma once

#include "backends/cpu/gemm/gemm.h"
#include "support/byte_reader.h"
#include "support/error.h"
#include "support/text.h"

namespace camshaft::cpu {

// The name of the instruction set, and the columns of a panel, which may become others in a later
// version.
inline std::string packing() { return str(gemmGeometry().isa, "/", gemmGeometry().nr); }

inline void writeIsa(ByteWriter& writer) { writer.writeString(packing()); }

// Throws unless the weights were packed for the instruction set in use here.
inline void requireIsa(ByteReader& reader) {
  const std::string built = reader.readString();
  if (built != packing())
    fail(ErrorKind::kInvalidEngine, "the engine was built for CPUs with ", built,
         " and this one runs ", packing(), "; build it again on this machine");
}

}  // namespace camshaft::cpu
