#include "api/layers/loop.h"

#include <algorithm>

#include "api/network_add.h"

namespace camshaft::api {

using namespace nvinfer1;

std::vector<Value*> RecurrenceParams::emit(Emission& at) const {
  if (!at.has(1)) at.lacks("needs its second input, the next value; set it with setInput(1)");
  return {at.add(&placeholders::Recurrence, {at.input(0)}, block->attrs())};
}

std::vector<Value*> TripLimitParams::emit(Emission& at) const {
  Value* limit = at.input(0);
  const DataType type = limit->dataType();
  if (kind == TripLimit::kCOUNT)
    requireSingle(at, limit, "a trip count of one i32 or i64",
                  type == DataType::kI32 || type == DataType::kI64);
  else
    requireSingle(at, limit, "a condition of one bool", type == DataType::kBool);
  BoundaryAttrs attrs = block->attrs();
  attrs.kind = static_cast<int64_t>(kind);
  at.node(&placeholders::TripLimit, {limit}, std::move(attrs));
  return {};
}

std::vector<Value*> IteratorParams::emit(Emission& at) const {
  BoundaryAttrs attrs = block->attrs();
  attrs.axis = axisIn(at, axis, at.input(0)->rank());
  attrs.reverse = reverse;
  return {at.add(&placeholders::Iterator, {at.input(0)}, std::move(attrs))};
}

// Without its length a concatenation is as long as a symbol that nothing defines: the layer's type
// has its rank, and no build goes on.
std::vector<Value*> LoopOutputParams::emit(Emission& at) const {
  Value* value = at.input(0);
  BoundaryAttrs attrs = block->attrs();
  attrs.kind = static_cast<int64_t>(kind);
  if (kind == LoopOutput::kLAST_VALUE) {
    if (at.has(1))
      at.invalid("gives the last value and takes no length; add it as kCONCATENATE or kREVERSE");
    return {at.add(&placeholders::LoopOutput, {value}, std::move(attrs))};
  }
  attrs.axis = axisIn(at, axis, value->rank() + 1);
  if (at.has(1)) {
    const DataType type = at.input(1)->dataType();
    requireSingle(at, at.input(1), "a length of one i32 or i64",
                  type == DataType::kI32 || type == DataType::kI64);
    attrs.sizes = at.dims(1);
  } else {
    at.lacks("needs its second input, the number of iterations; set it with setInput(1)");
    attrs.sizes = {Dim::symbol(str("loop", block->number, "_length"))};
    at.graph.symbols.try_emplace(attrs.sizes[0].symbolName());
  }
  return {at.add(&placeholders::LoopOutput, {value}, std::move(attrs))};
}

IRecurrenceLayer* Loop::addRecurrence(ITensor& initialValue) noexcept {
  return network.add<RecurrenceLayer>("recurrence", {&initialValue},
                                      [&] { return RecurrenceParams{this}; });
}

ITripLimitLayer* Loop::addTripLimit(ITensor& tensor, TripLimit kind) noexcept {
  TripLimitLayer* limit = network.add<TripLimitLayer>("trip_limit", {&tensor}, [&] {
    requireKnown(kind, "trip limit");
    if (std::any_of(limits_.begin(), limits_.end(),
                    [&](const auto* other) { return other->getTripLimit() == kind; }))
      fail(ErrorKind::kInvalidArgument, "loop '", name, "' has a trip limit of kind ",
           kind == TripLimit::kCOUNT ? "kCOUNT" : "kWHILE", " already; set another input of that");
    roomForOneMore(limits_);
    return TripLimitParams{this, kind};
  });
  if (limit) limits_.push_back(limit);
  return limit;
}

IIteratorLayer* Loop::addIterator(ITensor& tensor, int32_t axis, bool reverse) noexcept {
  return network.add<IteratorLayer>("iterator", {&tensor},
                                    [&] { return IteratorParams{this, axis, reverse}; });
}

ILoopOutputLayer* Loop::addLoopOutput(ITensor& tensor, LoopOutput kind, int32_t axis) noexcept {
  return network.add<LoopOutputLayer>("loop_output", {&tensor}, [&] {
    requireKnown(kind, "loop output");
    return LoopOutputParams{this, kind, axis};
  });
}

ILoop* Network::addLoop() noexcept { return addBlock<Loop>("loop"); }

}  // namespace camshaft::api
