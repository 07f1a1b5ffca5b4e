#include "runtime/body_runner.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/context.h"
#include "support/error.h"

namespace camshaft {
namespace {

int64_t bytesIn(const TensorArg& tensor) {
  return static_cast<int64_t>(bytesOf(tensor.type, tensor.count()));
}

void setInput(Context& context, size_t input, const TensorArg& value) {
  context.setInputShape(static_cast<int>(input), value.shape());
  context.setInputAddress(static_cast<int>(input), value.data);
}

void copyBytes(void* to, const void* from, int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
}

}  // namespace

BodyRunner::BodyRunner(const LoadedEngine& engine, const Step& step, ThreadPool& threads)
    : engine_(engine), step_(step), threads_(threads), contexts_(step.bodies.size()) {
  if (step.kind != StepKind::kLoop) return;
  carried_.resize(static_cast<size_t>(step.carried));
  scans_.resize(step.outputs.size() - carried_.size());
}

BodyRunner::~BodyRunner() = default;

Context& BodyRunner::contextOf(size_t body) {
  std::unique_ptr<Context>& context = contexts_[body];
  if (!context) {
    context = std::make_unique<Context>(engine_.bodies()[step_.bodies[body]], threads_);
    context->setOutputAllocator(
        [this](int output, void*, int64_t bytes, std::span<const int64_t>) -> void* {
          return (*place_)(static_cast<size_t>(output), bytes);
        });
  }
  return *context;
}

void BodyRunner::run(std::span<const TensorArg> inputs, const Results& results) {
  step_.kind == StepKind::kIf ? runIf(inputs, results) : runLoop(inputs, results);
}

void BodyRunner::runIf(std::span<const TensorArg> inputs, const Results& results) {
  const bool condition = *inputs[0].as<uint8_t>() != 0;
  const size_t thenInputs = engine_.bodies()[step_.bodies[0]]->plan().inputs.size();
  const auto captures = condition ? inputs.subspan(1, thenInputs) : inputs.subspan(1 + thenInputs);
  Context& body = contextOf(condition ? 0 : 1);
  for (size_t i = 0; i < captures.size(); ++i) setInput(body, i, captures[i]);
  place_ = &results.memory;
  body.run();
  for (size_t i = 0; i < step_.outputs.size(); ++i)
    results.shape(i, body.outputShape(static_cast<int>(i)));
}

void BodyRunner::runLoop(std::span<const TensorArg> inputs, const Results& results) {
  trips_ = inputs[0].data ? *inputs[0].as<int64_t>() : std::numeric_limits<int64_t>::max();
  condition_ = !inputs[1].data || *inputs[1].as<uint8_t>() != 0;
  Context& body = contextOf(0);
  body.setInputAddress(0, &iteration_);
  body.setInputAddress(1, &condition_);
  const size_t firstCapture = 2 + carried_.size();
  for (size_t i = firstCapture; i < inputs.size(); ++i) setInput(body, i, inputs[i]);
  for (size_t c = 0; c < carried_.size(); ++c) carried_[c].value = inputs[2 + c];
  for (Scan& scan : scans_) scan.elementDims.clear();

  const auto place = [this](size_t output, int64_t bytes) { return placeInLoop(output, bytes); };
  const Place placeRef(place);
  place_ = &placeRef;
  for (iteration_ = 0; iteration_ < trips_ && condition_; ++iteration_) {
    for (size_t c = 0; c < carried_.size(); ++c) setInput(body, 2 + c, carried_[c].value);
    body.run();
    takeOutputs(body);
  }
  deliver(results);
}

void* BodyRunner::placeInLoop(size_t bodyOutput, int64_t bytes) {
  if (bodyOutput == 0) {
    if (bytes != sizeof nextCondition_)
      fail(ErrorKind::kInvalidArgument, "loop '", step_.name, "' has a condition of ", bytes,
           " elements where one is needed");
    return &nextCondition_;
  }
  const size_t output = bodyOutput - 1;
  if (output >= carried_.size()) return placeNext(scans_[output - carried_.size()], bytes);
  Carried& carried = carried_[output];
  AlignedBuffer& buffer = carried.buffers[carried.next];
  buffer.reserve(static_cast<size_t>(std::max<int64_t>(bytes, 1)));
  return buffer.data();
}

void* BodyRunner::placeNext(Scan& scan, int64_t bytes) {
  if (iteration_ == 0) scan.elementBytes = bytes;
  if (bytes != scan.elementBytes)
    fail(ErrorKind::kInvalidArgument, "loop '", step_.name,
         "' gives a scan output another size in iteration ", iteration_, " than before");
  const auto used = static_cast<size_t>(bytes * iteration_);
  const size_t needed = std::max<size_t>(used + static_cast<size_t>(bytes), 1);
  if (scan.all.size() < needed) {
    AlignedBuffer larger(2 * needed);
    copyBytes(larger.data(), scan.all.data(), static_cast<int64_t>(used));
    scan.all = std::move(larger);
  }
  return scan.all.data() + used;
}

void BodyRunner::takeOutputs(Context& body) {
  condition_ = nextCondition_;
  for (size_t c = 0; c < carried_.size(); ++c) {
    Carried& carried = carried_[c];
    const std::vector<int64_t> dims = body.outputShape(static_cast<int>(1 + c));
    std::copy(dims.begin(), dims.end(), carried.value.dims);
    carried.value.data = carried.buffers[carried.next].data();
    carried.next ^= 1;
  }
  for (size_t s = 0; s < scans_.size(); ++s) {
    std::vector<int64_t> dims = body.outputShape(static_cast<int>(1 + carried_.size() + s));
    if (iteration_ == 0)
      scans_[s].elementDims = std::move(dims);
    else if (dims != scans_[s].elementDims)
      fail(ErrorKind::kInvalidArgument, "loop '", step_.name, "' gives scan output ", s,
           " the shape [", join(dims, ", "), "] in iteration ", iteration_, " and had [",
           join(scans_[s].elementDims, ", "), "] before");
  }
}

void BodyRunner::deliver(const Results& results) {
  for (size_t c = 0; c < carried_.size(); ++c) {
    const TensorArg& value = carried_[c].value;
    copyBytes(results.memory(c, bytesIn(value)), value.data, bytesIn(value));
    results.shape(c, value.shape());
  }
  for (size_t s = 0; s < scans_.size(); ++s) {
    const size_t output = carried_.size() + s;
    Scan& scan = scans_[s];
    if (iteration_ == 0) scan.elementDims.assign(step_.outputs[output].tensor.dims.size() - 1, -1);
    const int64_t bytes = iteration_ == 0 ? 0 : iteration_ * scan.elementBytes;
    copyBytes(results.memory(output, bytes), scan.all.data(), bytes);
    std::vector<int64_t> dims = scan.elementDims;
    dims.insert(dims.begin(), iteration_);
    results.shape(output, dims);
  }
}

}  // namespace camshaft
