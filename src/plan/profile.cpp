#include "plan/profile.h"

#include <algorithm>
#include <unordered_set>

#include "ir/bounds.h"
#include "ops/shape.h"
#include "support/error.h"

namespace camshaft {
namespace {

// Bounds for a dynamic input nobody described: batch sizes are small, spatial sizes and lengths
// are not. Only memory planning and tuning depend on them.
InputRange guessRange(const Shape& shape, const SymbolRange& rangeOfSymbol) {
  InputRange range;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool fixed = shape[i].isConstant();
    if (fixed) {
      for (auto* bound : {&range.min, &range.opt, &range.max}) bound->push_back(shape[i].value());
      continue;
    }
    const DimRange declared = rangeOfSymbol(shape[i].symbolName());
    const auto inside = [&](int64_t size) { return std::clamp(size, declared.min, declared.max); };
    const int64_t opt = i == 0 ? 1 : 224;
    range.min.push_back(inside(1));
    range.opt.push_back(inside(opt));
    range.max.push_back(inside(i == 0 ? 32 : 4 * opt));
  }
  return range;
}

void checkRange(const Value& input, const InputRange& range) {
  const size_t rank = input.shape().size();
  if (range.min.size() != rank || range.opt.size() != rank || range.max.size() != rank)
    fail(ErrorKind::kInvalidArgument, "the profile of input '", input.name, "' has ",
         range.opt.size(), " dimensions where the input has ", rank, " (", input.type, ")");
  for (size_t i = 0; i < rank; ++i) {
    if (range.min[i] < 0 || range.min[i] > range.opt[i] || range.opt[i] > range.max[i])
      fail(ErrorKind::kInvalidArgument, "the profile of input '", input.name,
           "' needs 0 <= min <= opt <= max in dimension ", i, " and has ", range.min[i], ", ",
           range.opt[i], ", ", range.max[i]);
    const Dim& dim = input.shape()[i];
    if (dim.isConstant() && (range.min[i] != dim.value() || range.max[i] != dim.value()))
      fail(ErrorKind::kInvalidArgument, "dimension ", i, " of input '", input.name,
           "' is fixed to ", dim, " and the profile asks for ", range.min[i], " to ", range.max[i]);
  }
}

// A profile may bound the values of shape tensors: those of the dimensions bound to them.
void boundShapeValues(const Graph& graph, const ShapeProfile& profile, ResolvedProfile& resolved) {
  for (const auto& node : graph.nodes()) {
    if (node->op != &ops::BindDims) continue;
    const auto given = profile.shapeValues.find(node->input(0)->name);
    if (given == profile.shapeValues.end()) continue;
    const InputRange& range = given->second;
    const std::vector<Dim>& symbols = node->as<BindDimsAttrs>().symbols;
    if (range.max.size() != symbols.size())
      fail(ErrorKind::kInvalidArgument, "the profile gives shape tensor '", given->first, "' ",
           range.max.size(), " values where it has ", symbols.size());
    for (size_t i = 0; i < symbols.size(); ++i) {
      resolved.ranges[symbols[i].symbolName()] = {range.min[i], range.max[i]};
      resolved.opt[symbols[i].symbolName()] = range.opt[i];
    }
  }
}

}  // namespace

ResolvedProfile resolveProfile(const Graph& graph, const ShapeProfile& profile,
                               std::vector<std::string>& guessed) {
  ResolvedProfile resolved;
  std::unordered_set<std::string_view> names;
  for (const Value* input : graph.inputs) names.insert(input->name);
  for (const auto& [name, range] : profile.inputs) {
    if (!names.contains(name))
      fail(ErrorKind::kInvalidArgument, "the profile describes '", name,
           "', which is not an input of the network");
  }
  for (const Value* input : graph.inputs) {
    const auto given = profile.inputs.find(input->name);
    const bool isGuess = given == profile.inputs.end();
    InputRange range = isGuess ? guessRange(input->shape(), graph.symbolRange()) : given->second;
    checkRange(*input, range);
    bool guessedAny = false;
    for (size_t i = 0; i < input->shape().size(); ++i) {
      const Dim& dim = input->shape()[i];
      if (dim.isConstant()) continue;
      const std::string& symbol = dim.symbolName();
      // Shape arithmetic was folded under the declared range; sizes below it would break it.
      const int64_t least = graph.symbolRange()(symbol).min;
      if (range.min[i] < least)
        fail(ErrorKind::kInvalidArgument, "dimension ", i, " of input '", input->name,
             "' must be at least ", least, " and the profile allows ", range.min[i]);
      const auto [known, isNew] =
          resolved.ranges.try_emplace(symbol, DimRange{range.min[i], range.max[i]});
      if (isNew) {
        resolved.opt[symbol] = range.opt[i];
        guessedAny |= isGuess;
      } else if (isGuess) {  // another input has said it
        range.min[i] = known->second.min;
        range.max[i] = known->second.max;
        range.opt[i] = resolved.opt[symbol];
      } else {  // two inputs share the dimension: what both allow
        known->second = {std::max(known->second.min, range.min[i]),
                         std::min(known->second.max, range.max[i])};
        if (known->second.min > known->second.max)
          fail(ErrorKind::kInvalidArgument, "the profile gives dimension '", symbol, "' of input '",
               input->name, "' a range that another input with the same dimension excludes");
        resolved.opt[symbol] =
            std::clamp(resolved.opt[symbol], known->second.min, known->second.max);
      }
    }
    if (guessedAny) guessed.push_back(input->name);
    resolved.inputs.push_back(std::move(range));
  }
  boundShapeValues(graph, profile, resolved);
  return resolved;
}

SymbolRange ResolvedProfile::rangeOfSymbol(const Graph& graph) const& {
  return boundedRanges([this, &graph](const std::string& name) -> SymbolInfo {
    if (const auto it = ranges.find(name); it != ranges.end()) return {it->second, {}};
    const auto symbol = graph.symbols.find(name);
    return symbol == graph.symbols.end() ? SymbolInfo() : symbol->second;
  });
}

// A size known only at run time is likely this, if that is in its range.
static int64_t likelySize(const ResolvedProfile& profile, const Graph& graph,
                          const std::string& name, int links) {
  constexpr int64_t kLikelySize = 64;
  if (const auto it = profile.opt.find(name); it != profile.opt.end()) return it->second;
  const auto symbol = graph.symbols.find(name);
  if (symbol == graph.symbols.end()) return kLikelySize;
  const DimRange& range = symbol->second.range;
  int64_t most = range.max;
  if (symbol->second.upper && links < kMostBoundLinks)
    most = std::min(most, evaluate(*symbol->second.upper, [&](const std::string& other) {
                      return likelySize(profile, graph, other, links + 1);
                    }));
  return std::clamp(kLikelySize, range.min, std::max(range.min, most));
}

SymbolValue ResolvedProfile::optValue(const Graph& graph) const& {
  return [this, &graph](const std::string& name) { return likelySize(*this, graph, name, 0); };
}

}  // namespace camshaft
