// Steps that run bodies: where their results go, and what sizes they bind.
#include <algorithm>

#include "runtime/context.h"
#include "runtime/overlaps.h"
#include "support/error.h"

namespace camshaft {

void Context::runBodies(size_t index, const LaunchArgs& args) {
  const Step& step = plan().steps[index];
  std::unique_ptr<BodyRunner>& runner = runners_[index];
  if (!runner) runner = std::make_unique<BodyRunner>(*engine_, step, *threads_, log_);

  std::vector<int64_t> touched;
  appendBytes(args.inputs, touched);
  touched.resize(step.inputs.size() + step.outputs.size(), -1);
  touched.push_back(args.workspaceBytes);
  const auto memory = [&](size_t output, int64_t bytes) {
    touched[step.inputs.size() + output] = bytes;
    requireApart(step, touched);
    return memoryFor(step, output, bytes);
  };
  std::vector<std::vector<int64_t>> shapes(step.outputs.size());
  const auto shape = [&](size_t output, std::span<const int64_t> dims) {
    shapes[output].assign(dims.begin(), dims.end());
  };
  runner->run(args, {.memory = memory, .shape = shape});
  bindShapes(step, shapes);
  for (size_t i = 0; i < shapes.size(); ++i)
    for (size_t d = 0; d < shapes[i].size(); ++d) {
      const int64_t expected = sizeOf(step.outputs[i].tensor.dims[d]);
      if (shapes[i][d] >= 0 && shapes[i][d] != expected)
        fail(ErrorKind::kInvalidArgument, "layer '", step.name, "' gives output ", i, " of shape [",
             join(shapes[i], ", "), "] where dimension ", d, " was to be ", expected);
    }
}

void* Context::memoryFor(const Step& step, size_t output, int64_t bytes) {
  const Operand& operand = step.outputs[output];
  if (operand.place == Place::kDynamic) enlarge(dynamic_[operand.index], bytes);
  if (operand.place == Place::kOutput) {
    requireOutputHolds(step, operand.index, bytes);
    placed_[operand.index] = outputMemory(operand.index, bytes, {});
    outputBytes_[operand.index] = bytes;
  }
  const bool isInArena = operand.place == Place::kArena || operand.place == Place::kHostArena;
  const int64_t arena = operand.place == Place::kArena ? plan().arenaBytes : plan().hostArenaBytes;
  if (isInArena && bytes > arena - operand.offset)
    fail(ErrorKind::kInvalidArgument, "layer '", step.name, "' gives ", bytes, " bytes as output ",
         output, ", more than was planned for profile ", profile_);
  return addressOf(operand, true);
}

// Dimensions of the results that the step defines, each where it stands first. What no iteration
// has decided is empty.
void Context::bindShapes(const Step& step, const std::vector<std::vector<int64_t>>& shapes) {
  if (step.bindSlots.empty()) return;
  std::vector<int64_t> values;
  for (int32_t slot : step.bindSlots) {
    int64_t value = 0;
    for (size_t i = shapes.size(); i-- > 0;)
      for (size_t d = shapes[i].size(); d-- > 0;)
        if (step.outputs[i].tensor.dims[d].slot == slot) value = std::max<int64_t>(shapes[i][d], 0);
    values.push_back(value);
  }
  bindSizes(step, values);
}

}  // namespace camshaft
