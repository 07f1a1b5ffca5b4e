#include "backends/cuda/attention/cudnn_attention.h"

#include <algorithm>
#include <array>

#include "backends/cuda/codegen/strides.h"
#include "backends/cuda/libraries/plan_memo.h"
#include "ops/attention.h"
#include "ops/rules.h"

namespace camshaft::cuda {
namespace {

constexpr int kMask = 3;

// An Attention node as cuDNN sees it. `problem` lacks its sizes.
struct Attention {
  AttentionProblem problem;
  std::array<Dim, kAttentionSizeCount> sizes;  // in the order of AttentionSizes
  std::string refusal;                         // why it cannot be; empty: it can
};

struct Bias {
  std::array<Dim, 4> places = {0, 0, 0, 0};  // AttentionOperand
  std::string refusal;
};

// A mask that is added, [1 or batch, 1 or heads, 1 or queries, keys].
Bias biasOf(const Node& node, const AttentionGeometry& g, AttentionProblem& p) {
  Bias bias;
  if (!node.hasInput(kMask)) return bias;
  const Value& mask = *node.inputs[kMask];
  if (!isFloat(mask.dataType()))
    bias.refusal = str("cuDNN adds masks, and has none of ", mask.dataType());
  Shape shape = mask.shape();
  while (shape.size() < 4) shape.insert(shape.begin(), 1);
  if (shape[3] != g.k.length) bias.refusal = "cuDNN needs a mask with a value per key";
  const Dim* const sizes[] = {&g.q.batch, &g.q.heads, &g.q.length};
  for (size_t i = 0; i < std::size(sizes); ++i)
    if (!shape[i].isConstant(1) && shape[i] != *sizes[i])
      bias.refusal = "cuDNN needs to know along which dimensions a mask is repeated";
  p.hasBias = true;
  p.biasType = mask.dataType();
  p.biasPerBatch = !shape[0].isConstant(1);
  p.biasPerHead = !shape[1].isConstant(1);
  p.biasPerQuery = !shape[2].isConstant(1);
  bias.places = {0, shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3]};
  return bias;
}

std::array<Dim, 4> placesOf(const HeadsView& view) {
  return {view.offset, view.batchStride, view.headStride, view.tokenStride};
}

CausalMask causalOf(const AttentionAttrs& attrs, const AttentionGeometry& g) {
  if (!attrs.causal) return CausalMask::kNone;
  return attrs.alignEnd && g.q.length != g.k.length ? CausalMask::kBottomRight
                                                    : CausalMask::kTopLeft;
}

// What refusal(const AttentionProblem&) asks of one size, asked of all that a run may bring.
std::string whyNotAtAllSizes(const AttentionGeometry& g, CausalMask causal) {
  for (const HeadsView* view : {&g.q, &g.k, &g.v, &g.out})
    for (const Dim& place : placesOf(*view))
      if (!isMultiple(place, 8))
        return "cuDNN needs rows of q, k, v and the result at multiples of 16 bytes";
  if (causal == CausalMask::kBottomRight && !isAtMost(g.q.length, g.k.length))
    return "cuDNN needs as many keys as queries for a causal mask aligned to the last key";
  return {};
}

Attention attentionOf(const Node& node) {
  Attention attention;
  AttentionProblem& p = attention.problem;
  const auto& attrs = node.as<AttentionAttrs>();
  const AttentionGeometry g = attentionGeometry(node);
  if (node.epilogue) attention.refusal = "takes no epilogue";
  if (attrs.maskBatches != 0) attention.refusal = "cuDNN does not read masks again and again";
  if (attrs.softcap != 0) attention.refusal = "cuDNN does not cap scores";
  if (!attrs.windows.empty()) attention.refusal = "cuDNN reads no windows of images";
  for (const Dim* size : {&g.q.heads, &g.k.heads, &g.q.size, &g.v.size})
    if (!size->isConstant()) attention.refusal = "needs heads and their sizes known while building";
  for (const HeadsView* view : {&g.q, &g.k, &g.v, &g.out})
    if (!view->featureStride.isConstant(1))
      attention.refusal = "needs the features of a head side by side";
  const DataType type = node.inputs[0]->dataType();
  if (node.inputs[1]->dataType() != type || node.inputs[2]->dataType() != type ||
      node.output()->dataType() != type)
    attention.refusal = "needs one type for q, k, v and the result";
  if (!attention.refusal.empty()) return attention;

  p.heads = g.q.heads.value();
  p.keyHeads = g.k.heads.value();
  p.headSize = g.q.size.value();
  p.valueSize = g.v.size.value();
  p.type = type;
  p.scale = static_cast<float>(attrs.scale);
  p.causal = causalOf(attrs, g);
  const Bias bias = biasOf(node, g, p);
  attention.refusal = bias.refusal;
  if (attention.refusal.empty()) attention.refusal = whyNotAtAllSizes(g, p.causal);
  attention.sizes = {g.q.batch, g.q.length, g.k.length};
  auto next = attention.sizes.begin() + 3;
  for (const auto& places :
       {placesOf(g.q), placesOf(g.k), placesOf(g.v), placesOf(g.out), bias.places})
    next = std::copy(places.begin(), places.end(), next);
  return attention;
}

template <class SizeOf>
AttentionProblem problemAt(const Attention& attention, const SizeOf& sizeOf) {
  AttentionProblem problem = attention.problem;
  int64_t* sizes = &problem.sizes.batch;
  for (int i = 0; i < kAttentionSizeCount; ++i) sizes[i] = sizeOf(attention.sizes[i]);
  return problem;
}

Verdict supports(const Node& node, const BuildContext& context) {
  if (node.op != &ops::Attention) return Verdict::no("is for Attention");
  if (!context.allowCudnn) return Verdict::no("the build leaves out cuDNN");
  const Attention attention = attentionOf(node);
  if (!attention.refusal.empty()) return Verdict::no(attention.refusal);
  // Sizes of the profile are looked at when the node is prepared.
  constexpr int64_t kAnySize = 64;
  const std::string reason = refusal(problemAt(
      attention, [](const Dim& dim) { return dim.isConstant() ? dim.value() : kAnySize; }));
  return Verdict{reason};
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const Attention attention = attentionOf(node);
  const AttentionProblem problem = cudnnAttentionProblem(node, context);
  if (std::string reason = refusal(problem); !reason.empty())
    return Prepared::no(std::move(reason));
  if (context.min(attentionGeometry(node).k.length) < 1)
    return Prepared::no("cuDNN needs keys, which some sizes of the profile lack");
  const bool isDynamic = !std::all_of(attention.sizes.begin(), attention.sizes.end(),
                                      [](const Dim& dim) { return dim.isConstant(); });
  Prepared prepared = preparedFor(planOf(context.target, problem, config).get(), kAttentionKernel,
                                  isDynamic, context);
  if (!prepared.verdict) return prepared;
  for (int i = 0; i < (problem.hasBias ? 4 : 3); ++i)
    prepared.inputs.push_back(StepInput::fromNode(i));
  if (isDynamic) prepared.dimArgs.assign(attention.sizes.begin(), attention.sizes.end());
  return prepared;
}

// cuDNN compiles each of them.
std::vector<int64_t> configurations(const Node&, const BuildContext&) { return planNumbers(3); }

}  // namespace

AttentionProblem cudnnAttentionProblem(const Node& node, const BuildContext& context) {
  AttentionProblem problem = problemAt(attentionOf(node), context.opt);
  problem.workspaceLimit = std::min(problem.workspaceLimit, context.workspaceLimit);
  return problem;
}

const Kernel& cudnnAttentionKernel() {
  static constexpr Kernel kKernel{.name = kAttentionKernel,
                                  .supports = supports,
                                  .prepare = prepare,
                                  .configurations = configurations};
  return kKernel;
}

}  // namespace camshaft::cuda
