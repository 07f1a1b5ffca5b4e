// From the IR's expressions to programs: the build half of pointwise and of every epilogue.
#pragma once

#include <string>

#include "backends/cpu/pointwise/program.h"
#include "ir/expr.h"

namespace camshaft::cpu::pointwise {

// Why no program can do it; empty when one can.
std::string whyNotCompiled(const Expr& expr);
// The same for an expression that is to ride on an f32 result (epilogue_program.h).
std::string whyNotEpilogue(const Expr& expr);
Program compile(const Expr& expr);

}  // namespace camshaft::cpu::pointwise
