// Runs a program tile by tile: each instruction is one loop over the elements of a tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/cpu/pointwise/program.h"

namespace camshaft::cpu::pointwise {

// Elements one after the other (step 1), or one element for all (step 0). In the latter case 64
// bytes can be read, all filled with it, so that vector code loads either alike.
struct TileOperand {
  const void* data = nullptr;
  int64_t step = 1;
};

struct TileArgs {
  TileOperand a, b, c;
  void* out = nullptr;
  int64_t count = 0;
};
// May write over an operand of the result's type.
using TileFunction = void (*)(const TileArgs& args);

// The loop for an instruction, for the CPU it runs on; null when there is none.
TileFunction tileFunction(const Instruction& instruction);

inline constexpr int64_t kSplatBytes = 64;
inline constexpr int64_t kScratchBytes = 64 * 1024;
inline constexpr int64_t kMaxTile = 1024;

// One worker's memory, on its stack.
struct Scratch {
  alignas(64) std::byte bytes[kScratchBytes];
};

class Executor {
 public:
  explicit Executor(
      Program program);  // throws Error(kInvalidEngine) on operations that do not exist

  int inputCount() const { return static_cast<int>(program_.inputs.size()); }
  DataType inputType(int i) const { return program_.inputs[i]; }
  DataType resultType() const { return program_.result; }
  int64_t tile() const { return tile_; }  // elements at most in one run()
  double cost() const { return cost_; }   // of one element, in additions or so

  void begin(Scratch& scratch) const;  // once, before the first run()
  // The element at `data` for all lanes, in the scratch space of input i.
  TileOperand splat(Scratch& scratch, int input, const void* data) const;
  // Room for a tile of input i, for inputs that have to be gathered.
  std::byte* gathered(Scratch& scratch, int input) const;
  void run(Scratch& scratch, const TileOperand* inputs, void* out, int64_t count) const;

 private:
  struct Step {
    TileFunction function;
    Instruction instruction;
  };
  Program program_;
  std::vector<Step> steps_;
  int64_t tile_ = 0, slotBytes_ = 0;
  double cost_ = 0;
};

}  // namespace camshaft::cpu::pointwise
