// How the threads of a block share rows (device/teams.cuh).
#pragma once

#include <string>
#include <vector>

#include "backends/cuda/codegen/store.h"

namespace camshaft::cuda {

struct RowPlan {
  int threads = 128;  // of a block
  int lanes = 32;     // threads of a row
  int vectors = 0;    // of each lane, kept in registers; 0: the row is read again in every pass
  bool rowsTogether = false;
  int rows() const { return threads / lanes; }
};

// Plans worth timing for rows of `size` elements that are read in vectors of `width`, best guess
// first. `rowsTogether`: neighbouring rows, not columns, are neighbours in memory.
std::vector<RowPlan> rowPlans(const Dim& size, int width, bool rowsTogether);

// 0, 1, ... for as many plans as there are.
std::vector<int64_t> numbersOf(const std::vector<RowPlan>& plans);

// Prints the type Team, the index `row`, and `isRow`: false for threads beyond the last row, whose
// `row` is the last one, to be read and not written.
void printTeam(KernelText& kernel, const RowPlan& plan, const Dim& rows);
// Prints `values`, the row that `load` reads, as a HeldRow or StreamedRow.
void printRow(KernelText& kernel, const RowPlan& plan, const Dim& size, DataType type, int width);

}  // namespace camshaft::cuda
