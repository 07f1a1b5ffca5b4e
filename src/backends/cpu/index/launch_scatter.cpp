#include <algorithm>

#include "backends/cpu/index/element_walk.h"
#include "backends/cpu/index/indices.h"
#include "backends/cpu/index/launchers.h"
#include "backends/cpu/index/params.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "ir/scalar_math.h"

namespace camshaft::cpu::index {

namespace {

// Calls f(T(), combined): what `combined(old, update)` leaves of elements of type T.
template <class F>
void withCombination(Scatter reduction, DataType type, F&& f) {
  const auto withOf = [&](auto element) {
    using T = decltype(element);
    switch (reduction) {
      case Scatter::kNone:
        break;
      case Scatter::kAdd:
        return f(T{}, [](T old, T update) { return scalar::sum(old, update); });
      case Scatter::kMul:
        return f(T{}, [](T old, T update) { return scalar::product(old, update); });
      case Scatter::kMin:
        return f(T{}, [](T old, T update) { return scalar::minimum(old, update); });
      case Scatter::kMax:
        return f(T{}, [](T old, T update) { return scalar::maximum(old, update); });
    }
  };
  if (reduction == Scatter::kNone)
    withWidth(bytesOf(type, 1), [&](auto element) {
      using T = decltype(element);
      f(T{}, [](T, T update) { return update; });
    });
  else if (type == DataType::kF32)
    withOf(float{});
  else if (type == DataType::kI32)
    withOf(int32_t{});
  else
    withOf(int64_t{});
}

bool isOfType(const TensorArg& result, Scatter reduction) {
  return reduction == Scatter::kNone || result.type == DataType::kF32 ||
         result.type == DataType::kI32 || result.type == DataType::kI64;
}

// The data as it was, unless it is updated in place.
void startFromData(const LaunchArgs& args) {
  const TensorArg& data = args.inputs[0];
  const TensorArg& result = args.outputs[0];
  if (data.data != result.data && data.count() > 0)
    std::memcpy(result.data, data.data, bytesOf(data.type, data.count()));
}

[[noreturn]] void failSizes(const LaunchArgs& args) {
  fail(ErrorKind::kInvalidArgument, "indices of sizes [", join(args.inputs[1].shape(), ", "),
       "] and updates of [", join(args.inputs[2].shape(), ", "), "] do not fit data of [",
       join(args.inputs[0].shape(), ", "), "]");
}

bool fitsScatter(const LaunchArgs& args) {
  if (!hasOperands(args, 3) || !isIndex(args.inputs[1])) return false;
  const TensorArg& result = args.outputs[0];
  return sameSizes(args.inputs[0], result) && sameType(args.inputs[0], result) &&
         sameType(args.inputs[2], result);
}

}  // namespace

bool fitsScatterElements(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const ScatterElementsParams*>(state);
  return fitsScatter(args) && isOfType(args.outputs[0], params.reduction) &&
         args.inputs[1].rank == args.outputs[0].rank && args.inputs[2].rank == args.outputs[0].rank;
}

bool fitsScatterND(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const ScatterNDParams*>(state);
  return fitsScatter(args) && isOfType(args.outputs[0], params.reduction) &&
         args.inputs[1].rank > 0;
}

// In order, so that of several updates of one place the last stays, and sums are always the same.
void launchScatterElements(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const ScatterElementsParams*>(state);
  const int axis = static_cast<int>(params.axis);
  const TensorArg& shape = args.inputs[1];
  const TensorArg& result = args.outputs[0];
  requireAxis(result, axis);
  for (int i = 0; i < result.rank; ++i)
    if ((i != axis && shape.dims[i] > result.dims[i]) || shape.dims[i] != args.inputs[2].dims[i])
      failSizes(args);
  startFromData(args);
  if (shape.count() == 0) return;
  ElementWalk walk(shape, result, axis);
  walk.cut(/*areApart=*/true);
  const Indices indices(shape);
  const int64_t size = walk.axisSize(), stride = walk.axisStride(), step = walk.runStep();
  constexpr double kWork = 6;  // for an element
  withCombination(params.reduction, result.type, [&](auto element, auto combined) {
    using T = decltype(element);
    const T* const from = args.inputs[2].as<T>();
    T* const to = result.as<T>();
    indices.visit([&](const auto* index) {
      parallelItems(args.threads, walk.slices(),
                    kWork * static_cast<double>(shape.count() / walk.slices()),
                    [&](int64_t begin, int64_t end) {
                      walk.forEachRun(begin, end, [&](int64_t first, int64_t place, int64_t count) {
                        for (int64_t i = 0; i < count; ++i) {
                          const int64_t at = Indices::positionOf(index[first + i], size);
                          T& target = to[place + i * step + at * stride];
                          target = combined(target, from[first + i]);
                        }
                      });
                    });
    });
  });
}

// Threads take columns of the cells, each those of all tuples in their order.
void launchScatterND(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const ScatterNDParams*>(state);
  const TensorArg& shape = args.inputs[1];
  const TensorArg& result = args.outputs[0];
  const Indices indices(shape);
  const int length = static_cast<int>(shape.dims[shape.rank - 1]);
  if (length > result.rank) failSizes(args);
  const int64_t tuples = countOf(shape.dims, 0, shape.rank - 1),
                cell = countOf(result.dims, length, result.rank);
  if (args.inputs[2].count() != tuples * cell) failSizes(args);
  startFromData(args);
  const auto targetOf = [&](int64_t tuple) {
    int64_t target = 0;
    for (int i = 0; i < length && target >= 0; ++i) {
      const int64_t at =
          indices.position(tuple * length + i, result.dims[i], params.skipsOutside != 0);
      target = at < 0 ? -1 : target * result.dims[i] + at;
    }
    return target;
  };
  constexpr int64_t kColumns = 64;  // that are worth finding their cell again
  withCombination(params.reduction, result.type, [&](auto element, auto combined) {
    using T = decltype(element);
    const T* const from = args.inputs[2].as<T>();
    T* const to = result.as<T>();
    const int64_t blocks = (cell + kColumns - 1) / kColumns;
    parallelItems(args.threads, blocks, static_cast<double>(tuples * std::min(cell, kColumns)) / 4,
                  [&](int64_t begin, int64_t end) {
                    const int64_t first = begin * kColumns;
                    const int64_t last = std::min(cell, end * kColumns);
                    for (int64_t tuple = 0; tuple < tuples; ++tuple) {
                      const int64_t target = targetOf(tuple);
                      if (target < 0) continue;
                      for (int64_t i = first; i < last; ++i) {
                        T& at = to[target * cell + i];
                        at = combined(at, from[tuple * cell + i]);
                      }
                    }
                  });
  });
}

}  // namespace camshaft::cpu::index
