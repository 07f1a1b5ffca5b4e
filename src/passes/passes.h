// Every pass, in the order of the files that define them; pipeline.cpp says when each runs.
#pragma once

#include "passes/pass.h"

namespace camshaft {

bool advanceIndices(Graph& graph, const PassOptions& options);
bool chooseLayouts(Graph& graph, const PassOptions& options);
bool foldAttentionSlices(Graph& graph, const PassOptions& options);
bool foldAttentionTransposes(Graph& graph, const PassOptions& options);
bool foldAttentionWindows(Graph& graph, const PassOptions& options);
bool foldBatchNorm(Graph& graph, const PassOptions& options);
bool foldConstants(Graph& graph, const PassOptions& options);
bool foldPad(Graph& graph, const PassOptions& options);
bool fuseCacheWrites(Graph& graph, const PassOptions& options);
bool fuseEpilogues(Graph& graph, const PassOptions& options);
bool fuseNorms(Graph& graph, const PassOptions& options);
bool fuseParts(Graph& graph, const PassOptions& options);
bool fuseGates(Graph& graph, const PassOptions& options);
bool fusePointwise(Graph& graph, const PassOptions& options);
bool fusePrologues(Graph& graph, const PassOptions& options);
bool fuseQdq(Graph& graph, const PassOptions& options);
bool fuseRowNorms(Graph& graph, const PassOptions& options);
bool keepMoments(Graph& graph, const PassOptions& options);
bool hoistReshapes(Graph& graph, const PassOptions& options);
bool lower1x1Conv(Graph& graph, const PassOptions& options);
bool lowerPatchEmbedding(Graph& graph, const PassOptions& options);
bool lowerPrecision(Graph& graph, const PassOptions& options);
bool lowerQuantised(Graph& graph, const PassOptions& options);
bool mergeCommon(Graph& graph, const PassOptions& options);
bool mergeSiblingMatMuls(Graph& graph, const PassOptions& options);
bool packBlockWeights(Graph& graph, const PassOptions& options);
bool quantiseProducts(Graph& graph, const PassOptions& options);
bool recogniseAttention(Graph& graph, const PassOptions& options);
bool recogniseGelu(Graph& graph, const PassOptions& options);
bool recogniseNorm(Graph& graph, const PassOptions& options);
bool removeDead(Graph& graph, const PassOptions& options);
bool removeIdentities(Graph& graph, const PassOptions& options);
bool simplifyBodies(Graph& graph, const PassOptions& options);
bool simplifyConcats(Graph& graph, const PassOptions& options);
bool simplifyGathers(Graph& graph, const PassOptions& options);
bool simplifyMasks(Graph& graph, const PassOptions& options);
bool simplifyPointwise(Graph& graph, const PassOptions& options);
bool sinkDequantisation(Graph& graph, const PassOptions& options);
bool sinkTransposes(Graph& graph, const PassOptions& options);
bool unflattenMatMuls(Graph& graph, const PassOptions& options);
bool widenTypes(Graph& graph, const PassOptions& options);

}  // namespace camshaft
