// Fused attention, block by block (flash_tiles.cuh says how).
namespace attention {

// Adds up the parts of a row's keys: of the block's warps, then of the cluster's blocks.
__device__ __forceinline__ void addParts(const Problem& p, const Place& place, float* parts,
                                         float* peaks, float* sums) {
  constexpr int kWords = kValueSize / 8;
  const Tokens<Output> out(p.out, p.outStride, place.batch, place.head);
  const int left = p.queries - place.firstRow, rows = left < kRows ? left : kRows;
  if constexpr (kKeyBlocks > 1) {
    for (int i = threadIdx.x; i < rows * kValuePadded; i += kThreads) {
      float* cell = parts + i / kValuePadded * kPartPitch + i % kValuePadded;
#pragma unroll
      for (int part = 1; part < kKeyWarps; ++part) cell[0] += cell[part * kRows * kPartPitch];
    }
    for (int row = threadIdx.x; row < kRows; row += kThreads)
#pragma unroll
      for (int part = 1; part < kKeyWarps; ++part) {
        peaks[row] = fmaxf(peaks[row], peaks[part * kRows + row]);
        sums[row] += sums[part * kRows + row];
      }
    syncCluster();
  }
  for (int i = threadIdx.x * kKeyBlocks + place.rank; i < rows * kWords;
       i += kThreads * kKeyBlocks) {
    const int row = i / kWords, word = i % kWords;
    const float* cell = parts + row * kPartPitch + word * 8;
    float sum = 0, total[8] = {};
    if constexpr (kKeyBlocks > 1) {
      float peak = negativeInfinity();
      float own[kKeyBlocks], ownSums[kKeyBlocks];
      Vector<float, 4> halves[kKeyBlocks][2];
#pragma unroll
      for (int rank = 0; rank < kKeyBlocks; ++rank) {  // all on their way at once
        own[rank] = readFromBlock(peaks + row, rank);
        ownSums[rank] = readFromBlock(sums + row, rank);
        halves[rank][0] = readFourFromBlock(cell, rank);
        halves[rank][1] = readFourFromBlock(cell + 4, rank);
      }
#pragma unroll
      for (int rank = 0; rank < kKeyBlocks; ++rank) peak = fmaxf(peak, own[rank]);
#pragma unroll
      for (int rank = 0; rank < kKeyBlocks; ++rank) {
        const float scale = own[rank] == negativeInfinity() ? 0 : exp2Fast(own[rank] - peak);
        sum += scale * ownSums[rank];
#pragma unroll
        for (int j = 0; j < 8; ++j) total[j] += scale * halves[rank][j / 4].v[j % 4];
      }
    } else {
#pragma unroll
      for (int part = 0; part < kKeyWarps; ++part) {
        sum += sums[part * kRows + row];
#pragma unroll
        for (int j = 0; j < 8; ++j) total[j] += cell[part * kRows * kPartPitch + j];
      }
    }
    const float scale = sum > 0 ? 1 / sum : 0;
    Vector<Element, 8> results;
#pragma unroll
    for (int j = 0; j < 8; ++j) results.v[j] = toStorage<Element>(total[j] * scale);
    storeResults<8>(out.at(place.firstRow + row) + word * 8, results, p);
  }
  if constexpr (kKeyBlocks > 1) syncCluster();  // until others have read what is here
}

// The keys and values of a tile; copies of tiles that do not exist are empty.
__device__ __forceinline__ void copyTile(Loader& loader, const Place& place, int tile, int stage) {
  if (tile < place.endTile) {
    loader.takeKeys(tile, stage);
    loader.takeValues(tile, stage);
  }
  commitCopies();
}
__device__ __forceinline__ void putTile(const Loader& loader, const Place& place, int tile,
                                        int stage) {
  if (tile >= place.endTile) return;
  loader.putKeys(stage);
  loader.putValues(stage);
}

__device__ __forceinline__ void attendOneTile(Warp& warp, Loader& loader, const Place& place) {
  loader.takeKeys(place.firstTile, 0);
  commitCopies();
  loader.takeValues(place.firstTile, 0);
  commitCopies();
  loader.putKeys(0);
  syncCopies<1>();
  warp.loadQueries();
  const bool sees = place.firstTile < place.endTile && warp.weigh(place.firstTile, 0);
  loader.putValues(0);
  syncCopies<0>();
  if (sees) warp.multiplyValues(0);
  if (kSplitsKeys || kWarpgroups) __syncthreads();
}

// Each tile is multiplied while the next ones are copied.
__device__ __forceinline__ void attendTiles(Warp& warp, Loader& loader, const Place& place) {
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage)
    copyTile(loader, place, place.firstTile + stage, stage);
  putTile(loader, place, place.firstTile, 0);
  syncCopies<kStages - 2>();
  warp.loadQueries();
  int stage = 0;
  for (int tile = place.firstTile; tile < place.endTile; ++tile) {
    const int next = tile + kStages - 1, nextStage = stage == 0 ? kStages - 1 : stage - 1;
    copyTile(loader, place, next, nextStage);
    if (warp.weigh(tile, stage)) warp.multiplyValues(stage);
    putTile(loader, place, next, nextStage);
    syncCopies<kStages - 2>();
    stage = stage + 1 == kStages ? 0 : stage + 1;
  }
}

// The same with the scores of the next tile on their way while this one's are weighed.
__device__ __forceinline__ void attendOverlapping(Warp& warp, Loader& loader, const Place& place) {
  copyTile(loader, place, place.firstTile, 0);
  copyTile(loader, place, place.firstTile + 1, 1);
  syncCopies<1>();
  warp.loadQueries();
  if (place.firstTile < place.endTile) {
    warp.startKeys(0);
    warp.takeScores();
    int stage = 0;
    for (int tile = place.firstTile; tile + 1 < place.endTile; ++tile) {
      syncCopies<0>();
      copyTile(loader, place, tile + 2, stage == 0 ? 2 : stage - 1);
      warp.startKeys(stage == 2 ? 0 : stage + 1);
      warp.weighTaken(tile);
      warp.multiplyValues(stage);
      warp.takeScores();
      stage = stage == 2 ? 0 : stage + 1;
    }
    warp.weighTaken(place.endTile - 1);
    warp.multiplyValues(stage);
    waitForProducts();
  }
  __syncthreads();
}

__device__ __forceinline__ void attend(const Problem& p, char* memory) {
  const Place place = placeOf(p);
  const SharedAddress shared = sharedAddress(memory);
  Loader loader(p, place, shared + kRows * kQueryPitch);
  copyRows<kRows, kHeadSize, kQueryPitch>(
      shared, Tokens<const Element>(p.q, p.qStride, place.batch, place.head), place.firstRow,
      p.queries);
  Warp warp(p, place, memory);
  if constexpr (kSingleTile)
    attendOneTile(warp, loader, place);
  else if constexpr (kOverlaps)
    attendOverlapping(warp, loader, place);
  else
    attendTiles(warp, loader, place);
  warp.finishSums();
  if constexpr (kSplitsKeys) {
    float* parts = reinterpret_cast<float*>(memory + kRows * kQueryPitch);
    float* peaks = parts + kKeyWarps * kRows * kPartPitch;
    float* sums = peaks + kKeyWarps * kRows;
    warp.storePart(parts, peaks, sums);
    addParts(p, place, parts, peaks, sums);
  } else {
    warp.store(place);
  }
}

}  // namespace attention
