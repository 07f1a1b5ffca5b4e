// The order in which threads that store several times read and write.
#include <gtest/gtest.h>

#include <string>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/kernel_machine.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

struct Case {
  const char *name, *statements, *order;
};
void PrintTo(const Case& testCase, std::ostream* out) { *out << testCase.name; }

const Case kCases[] = {
    {"HeldRow", "HeldRow<Team, float, 1, 4> row(3, load); row.finish(make, keep);", "rrrwww"},
    {"StreamedRow", "auto row = streamedRow<Team, float, 1>(6, load); row.finish(make, keep);",
     "rrrrwwwwrrww"},
    {"PlainTile",
     "using Tile = PlainTile<float, 2, 4, false, false>; __shared__ Tile::Memory memory;"
     "Tile(memory, 0, 0).finish(2, 3, store);",
     "rrrwwwrrrwww"},
    {"PlainColumns",
     "using Tile = PlainColumns<float, 3>; Tile(Tile::Memory{}, 0, 0).finish(3, 1, store);",
     "rrrwww"},
    {"DepthwiseWindow",
     "DepthwiseWindow<1, 2, 2, Window<1, 1, 1, 0>, Window<1, 1, 1, 0>>::run<float, 1, 1, 1>("
     "image, image, nullptr, 0, 1, {1, 1, 2, 2, 2, 2}, store);",
     "rrrrwwww"},
};

// What one thread does, by a store that notes it: r where operands of an epilogue would be read,
// w where a result is written.
std::string orderOf(std::string_view statements) {
  constexpr size_t kBytes = 64;
  std::string source = str(deviceSource("device/prelude.cuh"), "using Index = int;\n");
  for (const char* file : {"device/result_store.cuh", "device/teams.cuh", "device/coordinates.cuh",
                           "device/windows.cuh", "gemm/plain.cuh", "conv/depthwise.cuh"})
    source += deviceSource(file);
  source += str(R"(
    extern "C" __global__ void note(char* notes, const float* image) {
      using Team = LanesTogether<1, 1>;
      const auto elementsOf = [&](auto&&...) { *notes++ = 'r'; return Vector<char, 1>{}; };
      const auto write = [&](auto&&...) { *notes++ = 'w'; };
      const ResultStore store{elementsOf, write};
      const auto load = [&](Index, float (&values)[1]) { values[0] = 0; };
      const auto make = [&](Index column, const float (&values)[1]) {
        return store.elementsOf(column, values);
      };
      const auto keep = [&](Index column, const float (&)[1], const auto& elements) {
        store.write(column, elements);
      };
      )",
                statements, "\n  *notes = 0;\n}\n");
  KernelMachine& machine = kernelMachine();
  void *notes = machine.allocate(kBytes), *image = machine.allocate(kBytes);
  KernelLaunch launch{.source = source,
                      .kernel = "note",
                      .grid = {1, 1, 1},
                      .params = {.block = 1},
                      .arguments = {&notes, &image}};
  machine.prefetch({source});
  machine.launch(launch);
  std::string order(kBytes, '\0');
  machine.copyOut(order.data(), notes, kBytes);
  machine.release(notes);
  machine.release(image);
  return order.substr(0, order.find('\0'));
}

class ResultStore : public testing::TestWithParam<Case> {};

TEST_P(ResultStore, IsReadForBeforeItWrites) {
  EXPECT_EQ(orderOf(GetParam().statements), GetParam().order);
}

INSTANTIATE_TEST_SUITE_P(Device, ResultStore, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace camshaft::cuda
