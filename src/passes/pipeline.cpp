#include "passes/pipeline.h"

#include <algorithm>
#include <chrono>

#include "passes/passes.h"
#include "support/error.h"

namespace camshaft {

// The table of contents of the optimiser. Order matters: each group leaves what the next expects.
// clang-format off
static constexpr Pass kPipeline[] = {
    // Clean up what exporters write, so that later passes see one spelling of each thing.
    {"remove_dead", removeDead},                // DCE: nodes and constants nothing reads
    {"lower_quantised", lowerQuantised},        // quantised products as floating-point work, for backends without them
    {"sink_dequantisation", sinkDequantisation},  // pools, reshapes, concatenations of bytes stay in bytes
    {"fuse_qdq", fuseQdq},                      // products of dequantised bytes become products of integers, for the others
    {"pack_block_weights", packBlockWeights},   // weights dequantised in blocks stay packed
    {"fold_constants", foldConstants},          // constant nodes run now; shape arithmetic becomes dimensions
    {"simplify_bodies", simplifyBodies},        // branches and loops take less from outside
    {"remove_identities", removeIdentities},    // nodes that change nothing, reshapes of reshapes
    {"fold_pad", foldPad},                      // explicit padding goes into the convolution or pooling that reads it
    {"simplify_gathers", simplifyGathers},      // gathers at constant places become slices
    {"simplify_concats", simplifyConcats},      // parts of one tensor that are joined in another order
    {"simplify_pointwise", simplifyPointwise},  // scalars move into expressions, algebra
    {"remove_identities", removeIdentities},    // x*1, casts to the same type that algebra uncovered
    {"merge_common", mergeCommon},              // CSE: the same computation twice becomes one
    {"unflatten_matmuls", unflattenMatMuls},    // products over flattened rows take them as they are

    // Recognise what exporters spell as many nodes.
    {"recognise_norm", recogniseNorm},                       // LayerNorm, RMSNorm, GroupNorm
    {"recognise_attention", recogniseAttention},             // softmax between two matrix products, with its masks
    {"fold_constants", foldConstants},                       // masks that this combined
    {"remove_identities", removeIdentities},
    {"simplify_masks", simplifyMasks},                       // masks that only look back, or keep everything
    {"merge_common", mergeCommon},                           // the same mask for every layer
    {"merge_sibling_matmuls", mergeSiblingMatMuls},          // QKV: products of one input with several weights
    {"fold_attention_transposes", foldAttentionTransposes},  // attention reads packed QKV where products leave it
    {"fold_attention_slices", foldAttentionSlices},          // and keys and values in the caches they are cut out of
    {"remove_identities", removeIdentities},                 // reshapes of reshapes around it
    {"unflatten_matmuls", unflattenMatMuls},                 // products that these stood behind
    {"fold_attention_windows", foldAttentionWindows},        // windows of images are read where they lie

    // Arithmetic that weights can absorb.
    {"fold_batch_norm", foldBatchNorm},  // per-channel scale and shift go into weights and bias

    // Eight bits for products, where ranges of what they read are known.
    {"fuse_pointwise", fusePointwise},           // what is left between products is what they store
    {"quantise_products", quantiseProducts},     // quantised and dequantised in front of products
    {"sink_dequantisation", sinkDequantisation},
    {"fuse_qdq", fuseQdq},
    {"fold_constants", foldConstants},           // weights and scales that these turned
    {"simplify_pointwise", simplifyPointwise},   // scales move into expressions

    // Lay tensors out as kernels like them.
    {"fuse_pointwise", fusePointwise},               // one reader of a transpose instead of several
    {"widen_types", widenTypes},                     // 16-bit graphs as f32, for backends that store none
    {"lower_precision", lowerPrecision},             // 16-bit products and storage, where allowed
    {"choose_layouts", chooseLayouts},               // NHWC: images become [N, spatial..., C] for the nodes that gain
    {"sink_transposes", sinkTransposes},             // transposes cancel, and move to where they cost least
    {"fold_pad", foldPad},                           // padding that a transpose stood behind
    {"lower_patch_embedding", lowerPatchEmbedding},  // convolutions that cut patches become products
    {"lower_1x1_conv", lower1x1Conv},                // convolutions of one pixel become products
    {"hoist_reshapes", hoistReshapes},               // reshapes no longer part products from what follows them
    {"remove_identities", removeIdentities},         // reshapes of reshapes that this leaves

    // Form the regions that kernels run whole.
    {"fuse_pointwise", fusePointwise},   // chains of pointwise nodes become one expression
    {"recognise_gelu", recogniseGelu},   // GELU, SiLU and hard-swish within expressions
    {"fold_batch_norm", foldBatchNorm},  // scale and shift that only fusing brought together
    {"fuse_parts", fuseParts},           // rotations of queries and keys, and what is cut out beside them
    {"fuse_cache_writes", fuseCacheWrites},  // of rotated keys and values, by what computes them
    {"fuse_gates", fuseGates},           // products of a few rows whose results meet, as in SwiGLU
    {"fuse_prologues", fusePrologues},   // norms by the products of a few rows that read them
    {"fuse_row_norms", fuseRowNorms},    // norms by the products of some hundred rows that read them
    {"fuse_epilogues", fuseEpilogues},   // bias, activation, residual ride on their anchor
    {"keep_moments", keepMoments},       // products find the moments of the rows that they store
    {"fuse_norms", fuseNorms},           // normalisations compute the sums they normalise
    {"merge_common", mergeCommon},       // what rewrites made equal
    {"remove_dead", removeDead},
    {"advance_indices", advanceIndices},  // positions and masks first, where they delay nobody
};
// clang-format on

std::span<const Pass> pipeline() { return kPipeline; }

const Pass* findPass(std::string_view name) {
  const auto it = std::find_if(std::begin(kPipeline), std::end(kPipeline),
                               [&](const Pass& pass) { return pass.name == name; });
  return it == std::end(kPipeline) ? nullptr : it;
}

static void checkNames(const PassOptions& options) {
  std::vector<std::string_view> known;
  for (const Pass& pass : kPipeline) known.push_back(pass.name);
  for (const std::string& name : options.disabled) {
    if (findPass(name)) continue;
    const std::string suggestion = nearest(name, known);
    fail(ErrorKind::kInvalidArgument, "there is no pass named '", name, "' to switch off",
         suggestion.empty() ? "" : str("; did you mean '", suggestion, "'?"));
  }
}

static PassRecord runPass(Graph& graph, const Pass& pass, const PassOptions& options) {
  using Clock = std::chrono::steady_clock;
  PassRecord record{.name = pass.name, .nodesBefore = graph.nodeCount()};
  const auto start = Clock::now();
  record.changed = pass.run(graph, options);
  record.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  record.nodesAfter = graph.nodeCount();
  if (record.changed) verify(graph, pass.name);
  return record;
}

std::vector<PassRecord> runPipeline(Graph& graph, const PassOptions& options,
                                    const PipelineHooks& hooks) {
  checkNames(options);
  std::vector<PassRecord> records;
  const int count = static_cast<int>(std::size(kPipeline));
  for (int i = 0; i < count; ++i) {
    const Pass& pass = kPipeline[i];
    if (hooks.progress && !hooks.progress(pass.name, i, count))
      fail(ErrorKind::kInvalidArgument, "the build was cancelled before pass '", pass.name, "'");
    if (options.disabled.contains(pass.name)) continue;
    records.push_back(runPass(graph, pass, options));
    if (hooks.passDone) hooks.passDone(graph, records.back());
  }
  return records;
}

}  // namespace camshaft
