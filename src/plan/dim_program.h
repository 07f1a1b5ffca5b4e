// Compiles symbolic dimensions into the plan's slots and dimension program.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/dim.h"
#include "plan/plan.h"

namespace camshaft {

class DimProgramBuilder {
 public:
  // The slot whose value is given from outside: an input's dimension or a bound element.
  int32_t defineSymbol(const std::string& name);
  bool isDefined(const std::string& name) const { return slots_.contains(name); }
  // Where the dimension's value will be; appends instructions the first time it is asked for.
  DimRef refer(const Dim& dim);

  // Instructions so far; a bind step runs those added after its symbols were defined.
  int32_t size() const { return static_cast<int32_t>(program_.size()); }
  int32_t slotCount() const { return slotCount_; }
  std::vector<DimInstruction> take() { return std::move(program_); }

 private:
  int32_t slotOf(const Dim& dim);
  int32_t slotOfAtom(const DimAtom& atom);
  int32_t emit(DimOp op, int32_t a, int32_t b, int64_t constant = 0);

  std::unordered_map<std::string, int32_t> slots_;  // by canonical text
  std::vector<DimInstruction> program_;
  int32_t slotCount_ = 0;
};

}  // namespace camshaft
