// The instruction set the kernels run on: the best this CPU has, unless a test or the user asks for
// a lesser one.
#pragma once

#include <string_view>
#include <vector>

namespace camshaft::cpu {

// Names as they appear in engines and logs, e.g. "avx512", "avx2", "sse4", "neon", "generic".
std::string_view isaName();

// Those this CPU can run, best first.
std::vector<std::string_view> availableIsas();

// Whether the CPU has an instruction that rounds a vector of AVX-512 to bf16.
bool hasAvx512Bf16();

// Makes every kernel of this process use `name`; false when this CPU or build lacks it. Weights
// packed before must be packed again. Not for use while kernels run.
bool setIsa(std::string_view name);

}  // namespace camshaft::cpu
