// Steps that run bodies: where their results go, and what sizes they bind.
#include <algorithm>

#include "runtime/launcher.h"
#include "runtime/overlaps.h"
#include "support/error.h"

namespace camshaft {

void Launcher::runBodies(size_t index, const LaunchArgs& args) {
  const Step& step = sizes_.plan().steps[index];
  std::unique_ptr<BodyRunner>& runner = runners_[index];
  if (!runner) runner = std::make_unique<BodyRunner>(engine_, step, threads_, log_);
  runner->setObserver(observer_);

  std::vector<int64_t> touched;
  appendBytes(args.inputs, touched);
  touched.resize(step.inputs.size() + step.outputs.size(), -1);
  touched.push_back(args.workspaceBytes);
  const auto memory = [&](size_t output, int64_t bytes) {
    touched[step.inputs.size() + output] = bytes;
    requireApart(step, touched);
    return memory_.placeResult(step, output, bytes);
  };
  std::vector<std::vector<int64_t>> shapes(step.outputs.size());
  const auto shape = [&](size_t output, std::span<const int64_t> dims) {
    shapes[output].assign(dims.begin(), dims.end());
  };
  runner->run(args, {.memory = memory, .shape = shape});
  bindShapes(step, shapes);
  for (size_t i = 0; i < shapes.size(); ++i)
    for (size_t d = 0; d < shapes[i].size(); ++d) {
      const int64_t expected = sizes_.sizeOf(step.outputs[i].tensor.dims[d]);
      if (shapes[i][d] >= 0 && shapes[i][d] != expected)
        fail(ErrorKind::kInvalidArgument, "layer '", step.name, "' gives output ", i, " of shape [",
             join(shapes[i], ", "), "] where dimension ", d, " was to be ", expected);
    }
}

// Dimensions of the results that the step defines, each where it stands first. What no iteration
// has decided is empty.
void Launcher::bindShapes(const Step& step, const std::vector<std::vector<int64_t>>& shapes) {
  if (step.bindSlots.empty()) return;
  std::vector<int64_t> values;
  for (int32_t slot : step.bindSlots) {
    int64_t value = 0;
    for (size_t i = shapes.size(); i-- > 0;)
      for (size_t d = shapes[i].size(); d-- > 0;)
        if (step.outputs[i].tensor.dims[d].slot == slot) value = std::max<int64_t>(shapes[i][d], 0);
    values.push_back(value);
  }
  sizes_.bind(step, values);
}

}  // namespace camshaft
