#include "plan/dim_program.h"

#include <gtest/gtest.h>

#include <map>

namespace camshaft {
namespace {

// What the runtime does, plainly.
int64_t valueOf(const DimRef& ref, const std::vector<DimInstruction>& program,
                std::vector<int64_t> slots) {
  for (const DimInstruction& i : program) {
    const int64_t a = i.a < 0 ? 0 : slots.at(i.a), b = i.b < 0 ? 0 : slots.at(i.b);
    switch (i.op) {
      case DimOp::kConstant:
        slots.at(i.target) = i.constant;
        break;
      case DimOp::kAdd:
        slots.at(i.target) = a + b;
        break;
      case DimOp::kMultiply:
        slots.at(i.target) = a * b;
        break;
      case DimOp::kFloorDivide:
        slots.at(i.target) = a / b;
        break;
      case DimOp::kMin:
        slots.at(i.target) = std::min(a, b);
        break;
      case DimOp::kMax:
        slots.at(i.target) = std::max(a, b);
        break;
      case DimOp::kBroadcast:
        slots.at(i.target) = a == 1 ? b : a;
        break;
    }
  }
  return ref.isConstant() ? ref.constant : slots.at(ref.slot);
}

TEST(DimProgram, ComputesWhatTheDimensionSays) {
  const std::map<std::string, int64_t> sizes{{"n", 3}, {"h", 17}, {"w", 5}};
  for (const char* text :
       {"4", "n", "2*n + 4", "h*w - n", "floordiv(h + 3, 4)", "min(100, n*h)", "max(h - w, n)",
        "floordiv(h*w, n)*2 + min(w, 4) - 7", "3*h*h*w + floordiv(floordiv(h, 2), 2)"}) {
    const Dim dim = parseDim(text);
    DimProgramBuilder builder;
    for (const auto& [name, size] : sizes) builder.defineSymbol(name);
    const DimRef ref = builder.refer(dim);
    std::vector<int64_t> slots(builder.slotCount());
    for (const auto& [name, size] : sizes) slots[builder.defineSymbol(name)] = size;
    const auto expected = evaluate(dim, [&](const std::string& name) { return sizes.at(name); });
    EXPECT_EQ(valueOf(ref, builder.take(), slots), expected) << text;
  }
}

TEST(DimProgram, NumbersNeedNoSlot) {
  DimProgramBuilder builder;
  EXPECT_EQ(builder.refer(7), (DimRef{.constant = 7}));
  EXPECT_EQ(builder.slotCount(), 0);
}

TEST(DimProgram, SharesWhatWasComputedBefore) {
  DimProgramBuilder builder;
  builder.defineSymbol("n");
  const DimRef first = builder.refer(parseDim("floordiv(n, 2) + 1"));
  const int32_t size = builder.size();
  EXPECT_EQ(builder.refer(parseDim("floordiv(n, 2) + 1")), first);
  EXPECT_EQ(builder.size(), size);
  builder.refer(parseDim("floordiv(n, 2) + 5"));
  EXPECT_EQ(builder.size(), size + 2);  // the number and the sum
}

TEST(DimProgram, EverySlotIsWrittenOnce) {
  DimProgramBuilder builder;
  std::vector<int32_t> written{builder.defineSymbol("n"), builder.defineSymbol("m")};
  for (const char* text : {"n*m + 2", "2*n*m", "min(n, m) + 2", "max(n, 2)"})
    builder.refer(parseDim(text));
  const int32_t slots = builder.slotCount();
  for (const DimInstruction& instruction : builder.take()) written.push_back(instruction.target);
  std::sort(written.begin(), written.end());
  for (int32_t i = 0; i < slots; ++i) EXPECT_EQ(written.at(i), i);
}

}  // namespace
}  // namespace camshaft
