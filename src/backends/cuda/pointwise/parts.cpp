// PointwiseParts: some blocks for each part, one after the other, and then some for each cache that
// is not overwritten, which copy its other rows.
#include <algorithm>

#include "backends/cuda/codegen/store.h"
#include "backends/cuda/families.h"
#include "backends/cuda/index/index_text.h"
#include "ops/pointwise.h"
#include "support/text.h"

namespace camshaft::cuda::pointwise {
namespace {

using Part = PointwisePartsAttrs::Part;

constexpr int kThreads = 128;  // few: parts are small, and more multiprocessors begin at once

// A cache as [rows, columns], of which some rows are replaced.
struct CacheRows {
  const Value* cache;
  std::string data, rows;  // as the kernel calls them
  int64_t tuple;           // its length
  Dim count, columns, tuples;
};

constexpr int64_t kMostColumns = 2048;

CacheRows cacheOf(const Node& node, size_t output) {
  const auto& attrs = node.as<PointwisePartsAttrs>();
  const int64_t cache = attrs.caches[output], rows = attrs.rows[output];
  const Shape& shape = node.inputs[cache]->shape();
  const Shape& tuples = node.inputs[rows]->shape();
  const int64_t tuple = tuples.back().value();
  return {.cache = node.inputs[cache],
          .data = str("x", cache),
          .rows = str("x", rows),
          .tuple = tuple,
          .count = numElements({shape.begin(), shape.begin() + tuple}),
          .columns = numElements({shape.begin() + tuple, shape.end()}),
          .tuples = numElements({tuples.begin(), tuples.end() - 1})};
}

int overwrites(const Node& node, int output) {
  const auto& attrs = node.as<PointwisePartsAttrs>();
  const auto index = static_cast<size_t>(output);
  return attrs.isCache(index) ? static_cast<int>(attrs.caches[index]) : -1;
}

Verdict supportsParts(const Node& node, const BuildContext&) {
  std::string reason = whyNotPrinted(node);
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (overwrites(node, static_cast<int>(i)) >= 0)
      if (const Dim columns = cacheOf(node, i).columns;
          !columns.isConstant() || columns.value() > kMostColumns)
        reason = str("writes rows of at most ", kMostColumns, " elements into caches");
  for (const Part& part : node.as<PointwisePartsAttrs>().parts)
    if (reason.empty()) reason = whyNotPrinted(part.expr);
  if (reason.empty() && node.epilogue) reason = "takes no epilogue";
  return Verdict{reason};
}

Access accessOf(const Part& part, size_t input) {
  return {part.stridesOf(input), part.placeOf(input)};
}

// Where the part's elements go.
Access targetOf(const Part& part, const Shape& output) {
  std::vector<Dim> strides = contiguousStrides(output);
  Dim offset = 0;
  for (size_t i = 0; i < strides.size(); ++i) offset += part.begin[i] * strides[i];
  return {std::move(strides), std::move(offset)};
}

// How many neighbours one thread computes.
int widthOf(const Node& node, const Part& part, const Access& target) {
  DataType narrowest = part.expr.resultType();
  int width = kMostComputed;
  const auto limit = [&](const Access& access) {
    const std::vector<Run> runs = runsOf(part.size, access.strides);
    width = vectorWidth(narrowest, {runs.empty() ? Dim(1) : runs.back().size}, width);
  };
  for (const int64_t input : part.inputs)
    if (const DataType type = node.inputs[input]->dataType(); bitsOf(type) < bitsOf(narrowest))
      narrowest = type;
  limit(target);
  if (const auto output = static_cast<size_t>(part.output);
      node.as<PointwisePartsAttrs>().isCache(output))
    width = vectorWidth(narrowest, {cacheOf(node, output).columns}, width);
  for (size_t i = 0; i < part.inputs.size(); ++i) limit(accessOf(part, i));
  return width;
}

// What the threads of a part do; returns how many blocks they are.
Dim printPart(KernelText& kernel, const Node& node, const Part& part) {
  const Value& y = *node.outputs[part.output];
  const Access target = targetOf(part, node.as<PointwisePartsAttrs>().shapes[part.output]);
  const int width = widthOf(node, part, target);
  const Dim count = numElements(part.size);
  const Dim blocks = ceilDiv(count, int64_t{width} * kThreads);
  const std::string_view type = storageType(y.dataType());
  kernel.body +=
      str("  if (block < ", kernel.size(blocks), ") {\n    const Index first = (block * ", kThreads,
          " + threadIdx.x) * ", width, ";\n    if (first >= ", kernel.size(count), ") return;\n");
  Walk walk = Walk::linear(kernel, part.size, "first");
  std::vector<std::string> values;
  for (size_t i = 0; i < part.inputs.size(); ++i)
    values.push_back(walk.load(str("x", part.inputs[i]), accessOf(part, i), width, str("part", i)));
  std::string statements;
  const std::string lanes =
      str("#pragma unroll\n    for (int lane = 0; lane < ", width, "; ++lane) {\n");
  const bool isCache = node.as<PointwisePartsAttrs>().isCache(static_cast<size_t>(part.output));
  const auto placed = [&](const std::string& position) {
    return isCache ? str("placeIn", part.output, "(", position, ")") : position;
  };
  if (walk.hasVectors(target, width)) {
    const PrintedElement element = printElement(part.expr, values, "t", statements);
    kernel.body += str("    ", element.type, " stored[", width, "];\n", lanes, statements,
                       "    stored[lane] = ", element.result,
                       ";\n    }\n    const Index place = ", placed(walk.position(target)),
                       ";\n    if (place >= 0) writeElements<", width, ">(y", part.output,
                       " + place, ", element.pack, "<", type, ">(stored));\n");
  } else {
    const std::string result = printExpr(part.expr, values, "t", statements);
    kernel.body +=
        str(lanes, statements, "    const Index place = ", placed(walk.position(target, "lane")),
            ";\n    if (place >= 0) y", part.output, "[place] = toStorage<", type, ">(", result,
            ");\n    }\n");
  }
  kernel.body += str("    return;\n  }\n  block -= ", kernel.size(blocks), ";\n");
  return blocks;
}

// placeIn(position): where an element of what is written goes in the cache, or -1.
void printPlaceIn(KernelText& kernel, const Node& node, size_t output) {
  const CacheRows cache = cacheOf(node, output);
  const std::string columns = kernel.size(cache.columns);
  kernel.body +=
      str("  const auto rowOf", output, " = [&](Index tuple) -> Index { return ",
          index::rowOfTupleText(kernel, cache.rows, "tuple", cache.cache->shape(), cache.tuple),
          "; };\n  const auto placeIn", output,
          " = [&](Index position) -> Index {\n    const Index row = rowOf", output, "(position / ",
          columns, ");\n    return row < 0 ? row : row * ", columns, " + position % ", columns,
          ";\n  };\n");
}

// The rows of a cache that stay as they are, by few blocks: mostly there is nothing to do.
Dim printOtherRows(KernelText& kernel, const Node& node, size_t output,
                   const BuildContext& context) {
  constexpr int64_t kBlocks = 64, kMostRows = 1024;
  const CacheRows cache = cacheOf(node, output);
  const int64_t rows =
      std::clamp<int64_t>((context.opt(cache.count) + kBlocks - 1) / kBlocks, 1, kMostRows);
  const Dim blocks = ceilDiv(cache.count, rows);
  kernel.body +=
      str("  if (block < ", kernel.size(blocks), ") {\n    if (", cache.data, " == y", output,
          ") return;\n    const ScatterTile<", kThreads, ", ", rows, ", ", cache.columns.value(),
          ", ", vectorWidth(cache.cache->dataType(), {cache.columns}), "> tile{",
          kernel.size(cache.count), ", ", kernel.size(cache.columns), ", ",
          kernel.size(cache.tuples), ", block};\n    tile.copyOthers(", cache.data, ", y", output,
          ", rowOf", output, ");\n    return;\n  }\n  block -= ", kernel.size(blocks), ";\n");
  return blocks;
}

Prepared prepareParts(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<PointwisePartsAttrs>();
  const auto& parts = attrs.parts;
  KernelText kernel(str("parts_", node.outputs[0]->dataType(), "_", parts.size()), node, context);
  for (int i = 0; i < node.ownInputs(); ++i) kernel.input(str("x", i), i);
  for (size_t i = 0; i < node.outputs.size(); ++i) kernel.output(str("y", i), static_cast<int>(i));
  kernel.body += "  Index block = blockIdx.x;\n";
  if (!attrs.caches.empty()) {
    index::includeIndex(kernel);
    kernel.include("index/scatter.cuh");
  }
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (attrs.isCache(i)) printPlaceIn(kernel, node, i);
  Dim blocks = 0;
  for (const Part& part : parts) blocks += printPart(kernel, node, part);
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (attrs.isCache(i)) blocks += printOtherRows(kernel, node, i, context);
  return kernel.prepared({.grid = {blocks, 1, 1}, .block = kThreads});
}

constexpr Kernel kKernels[] = {{.name = "cuda/parts",
                                .supports = supportsParts,
                                .prepare = prepareParts,
                                .overwrites = overwrites}};

}  // namespace

KernelList partsKernels() { return kKernels; }

}  // namespace camshaft::cuda::pointwise
