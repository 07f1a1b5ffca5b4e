// How a matrix product is divided among workers.
#pragma once

#include <cstdint>

namespace camshaft::cpu {

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A grid of tasks, each a block of whole register tiles: `rows` x `columns` of C but for the last
// ones. Tasks are numbered column block by column block.
struct Partition {
  int64_t rows = 0, columns = 0;
  int64_t rowTasks = 0, columnTasks = 0;
  int64_t tasks() const { return rowTasks * columnTasks; }
};

// Whether threads divide the columns of an m x n result, not its rows: the larger operand is split,
// so that the smaller one is what all of them read. Other layers divide the pixels and channels of
// an image alike, so that each thread finds in its caches what it wrote.
inline bool splitsColumns(int64_t m, int64_t n) { return n > m; }

Partition partitionGemm(int64_t m, int64_t n, int64_t k, int threads);

// No task of a product this deep has more rows, whatever m, n and the number of threads.
int64_t maxTaskRows(int64_t k);

}  // namespace camshaft::cpu
