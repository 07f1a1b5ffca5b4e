#include "runtime/overlaps.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

#include "support/error.h"

namespace camshaft {
namespace {

struct Extent {
  Place place;
  int32_t index;  // of the buffer; arenas are one each
  int64_t begin, end;
  bool isWritten;

  auto memory() const { return std::tuple(place, index); }
  bool sameAs(const Extent& other) const {
    return memory() == other.memory() && begin == other.begin && end == other.end;
  }
};

bool inArena(Place place) { return place == Place::kArena || place == Place::kHostArena; }

// What is only read, and what the caller brings, is nobody's to write.
bool canBeWritten(Place place) {
  return inArena(place) || place == Place::kOutput || place == Place::kDynamic;
}

// Buffers with an index are one operand's from end to end, also while their size is open: making
// them larger moves them.
void addExtent(std::vector<Extent>& extents, const Operand& operand, int64_t bytes,
               bool isWritten) {
  if (!canBeWritten(operand.place)) return;
  if (inArena(operand.place) && bytes > 0)
    extents.push_back({operand.place, 0, operand.offset, operand.offset + bytes, isWritten});
  if (!inArena(operand.place))
    extents.push_back(
        {operand.place, operand.index, 0, std::numeric_limits<int64_t>::max(), isWritten});
}

// -1 where a run decides; operands of fixed sizes are known to lie in their arenas.
int64_t fixedBytes(const Operand& operand) {
  const std::vector<DimRef>& dims = operand.tensor.dims;
  if (!inArena(operand.place) ||
      !std::all_of(dims.begin(), dims.end(), std::mem_fn(&DimRef::isConstant)))
    return -1;
  int64_t count = 1;
  for (const DimRef& dim : dims) count *= dim.constant;
  return static_cast<int64_t>(bytesOf(operand.tensor.type, count));
}

// Sorted by where they begin, an extent meets an earlier one where that ends behind its begin.
bool areApart(std::vector<Extent>& extents) {
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
    return std::tuple(a.memory(), a.begin) < std::tuple(b.memory(), b.begin);
  });
  int64_t endOfAny = 0, endOfWritten = 0;
  for (size_t i = 0; i < extents.size(); ++i) {
    const Extent& extent = extents[i];
    if (i == 0 || extent.memory() != extents[i - 1].memory()) endOfAny = endOfWritten = 0;
    if ((extent.isWritten ? endOfAny : endOfWritten) > extent.begin) return false;
    endOfAny = std::max(endOfAny, extent.end);
    if (extent.isWritten) endOfWritten = std::max(endOfWritten, extent.end);
  }
  return true;
}

}  // namespace

void requireApart(const Step& step, std::span<const int64_t> bytes) {
  std::vector<Extent> written, all;
  const size_t inputs = step.inputs.size(), outputs = step.outputs.size();
  for (size_t i = 0; i < outputs; ++i) addExtent(written, step.outputs[i], bytes[inputs + i], true);
  const size_t results = written.size();
  addExtent(written, step.workspace, bytes[inputs + outputs], true);
  if (written.empty()) return;
  for (size_t i = 0; i < inputs; ++i) addExtent(all, step.inputs[i], bytes[i], false);
  const auto isInPlace = [&](const Extent& input) {
    return inArena(input.place) &&
           std::any_of(written.begin(), written.begin() + static_cast<int64_t>(results),
                       [&](const Extent& output) { return output.sameAs(input); });
  };
  if (step.kind == StepKind::kKernel) std::erase_if(all, isInPlace);
  all.insert(all.end(), written.begin(), written.end());
  if (!areApart(all))
    fail(ErrorKind::kInvalidEngine, "the engine is damaged: layer '", step.name,
         "' writes to memory that another operand of it lies in; build it again");
}

void requireApart(const Step& step) {
  std::vector<int64_t> bytes;
  for (const Operand& input : step.inputs) bytes.push_back(fixedBytes(input));
  for (const Operand& output : step.outputs) bytes.push_back(fixedBytes(output));
  bytes.push_back(fixedBytes(step.workspace));
  requireApart(step, bytes);
}

void appendBytes(std::span<const TensorArg> operands, std::vector<int64_t>& bytes) {
  for (const TensorArg& operand : operands)
    bytes.push_back(static_cast<int64_t>(bytesOf(operand.type, operand.count())));
}

void requireApart(const Plan& plan, const CallersMemory& memory, size_t output) {
  const MemoryRange& written = memory.outputs[output];
  const IoTensor& tensor = plan.outputs[output];
  for (size_t i = 0; i < memory.inputs.size(); ++i) {
    if (!written.meets(memory.inputs[i])) continue;
    const bool isInPlace = tensor.aliasedInput == static_cast<int32_t>(i);
    if (isInPlace && written.begin == memory.inputs[i].begin) continue;
    fail(ErrorKind::kInvalidArgument, "output '", tensor.name, "' lies on memory of input '",
         plan.inputs[i].name, "', ",
         isInPlace ? "which it may take the place of from the same address on only; give both one "
                     "address, or the output memory of its own"
                   : "which the engine does not update in place; give the output memory of its own "
                     "(getAliasedInputTensor says which input an output may share)");
  }
  for (size_t i = 0; i < memory.outputs.size(); ++i)
    if (i != output && written.meets(memory.outputs[i]))
      fail(ErrorKind::kInvalidArgument, "outputs '", plan.outputs[std::min(i, output)].name,
           "' and '", plan.outputs[std::max(i, output)].name,
           "' lie on the same memory; give each memory of its own");
}

}  // namespace camshaft
