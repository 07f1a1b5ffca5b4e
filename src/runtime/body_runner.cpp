#include "runtime/body_runner.h"

#include <algorithm>
#include <limits>

#include "runtime/context.h"
#include "support/error.h"

namespace camshaft {
namespace {

constexpr uint8_t kTrue = 1;  // a loop's condition, as its body sees it

bool isTrue(const void* condition) { return *static_cast<const uint8_t*>(condition) != 0; }

void setInput(Context& context, size_t input, const TensorArg& value) {
  context.setInputShape(static_cast<int>(input), value.shape());
  context.setInputAddress(static_cast<int>(input), value.data);
}

}  // namespace

BodyRunner::BodyRunner(const LoadedEngine& engine, const Step& step, ThreadPool& threads,
                       const Log& log)
    : engine_(engine),
      step_(step),
      threads_(threads),
      log_(log),
      device_(engine.bodies()[step.bodies[0]]->device()),
      contexts_(step.bodies.size()),
      values_(step, device_),
      numbers_(device_, DeviceBuffer::Side::kHost),
      condition_(device_),
      conditionOnHost_(device_, DeviceBuffer::Side::kHost) {}

BodyRunner::~BodyRunner() = default;

Context& BodyRunner::contextOf(size_t body) {
  std::unique_ptr<Context>& context = contexts_[body];
  if (!context) {
    context = std::make_unique<Context>(
        engine_.bodies()[step_.bodies[body]], threads_,
        device_ ? Context::ArenaOwner::kCaller : Context::ArenaOwner::kContext);
    context->setLog(log_);
  }
  return *context;
}

void BodyRunner::run(const LaunchArgs& args, const BodyResults& results) {
  step_.kind == StepKind::kIf ? runIf(args, results) : runLoop(args, results);
}

void BodyRunner::runIf(const LaunchArgs& args, const BodyResults& results) {
  const bool condition = isTrue(args.inputs[0].data);
  const size_t thenInputs = engine_.bodies()[step_.bodies[0]]->plan().inputs.size();
  const auto captures =
      condition ? args.inputs.subspan(1, thenInputs) : args.inputs.subspan(1 + thenInputs);
  Context& body = contextOf(condition ? 0 : 1);
  for (size_t i = 0; i < captures.size(); ++i) setInput(body, i, captures[i]);
  runBody(body, args, results.memory);
  for (size_t i = 0; i < step_.outputs.size(); ++i)
    results.shape(i, body.outputShape(static_cast<int>(i)));
}

void BodyRunner::runLoop(const LaunchArgs& args, const BodyResults& results) {
  const std::span<const TensorArg> inputs = args.inputs;
  const int64_t trips =
      inputs[0].data ? *inputs[0].as<int64_t>() : std::numeric_limits<int64_t>::max();
  bool condition = !inputs[1].data || isTrue(inputs[1].data);
  Context& body = contextOf(0);
  const bool decides = body.engine().plan().outputs.size() > step_.outputs.size();
  const size_t firstResult = decides ? 1 : 0;
  const size_t carried = values_.carriedCount(), firstCapture = 2 + carried;
  body.setInputAddress(1, &kTrue);
  for (size_t i = firstCapture; i < inputs.size(); ++i) setInput(body, i, inputs[i]);
  values_.begin(inputs.subspan(2, carried),
                decides     ? -1
                : condition ? std::max<int64_t>(trips, 0)
                            : 0,
                results, args.stream);

  const auto place = [&](size_t output, int64_t bytes) {
    return output < firstResult ? placeCondition(bytes)
                                : values_.place(output - firstResult, bytes);
  };
  for (iteration_ = 0; iteration_ < trips && condition; ++iteration_) {
    body.setInputAddress(0, iterationForBody(args.stream));
    for (size_t c = 0; c < carried; ++c) setInput(body, 2 + c, values_.carried(c));
    runBody(body, args, place);
    for (size_t i = 0; i < step_.outputs.size(); ++i)
      values_.take(i, body.outputShape(static_cast<int>(firstResult + i)));
    values_.endIteration();
    if (decides) condition = readCondition(args.stream);
  }
  values_.deliver();
}

void BodyRunner::runBody(Context& body, const LaunchArgs& args, Place place) {
  place_ = &place;
  if (device_) body.setArena(args.workspace, args.workspaceBytes);
  body.setObserver(observer_);
  placeOutputs(body);
  body.run(args.stream);
}

// With addresses that are set beforehand a context records what it launches; an allocator has its
// say in every run, and is needed where only that decides sizes.
void BodyRunner::placeOutputs(Context& body) {
  const auto outputs = static_cast<int>(body.engine().plan().outputs.size());
  bool areKnown = device_ != nullptr;
  for (int i = 0; i < outputs && areKnown; ++i) areKnown = body.outputBytesAhead(i) >= 0;
  for (int i = 0; i < outputs; ++i)
    body.setOutputAddress(
        i, areKnown ? (*place_)(static_cast<size_t>(i), body.outputBytesAhead(i)) : nullptr);
  if (areKnown)
    body.setOutputAllocator(nullptr);
  else
    body.setOutputAllocator(
        [this](int output, void*, int64_t bytes, std::span<const int64_t>) -> void* {
          return (*place_)(static_cast<size_t>(output), bytes);
        });
}

void* BodyRunner::placeCondition(int64_t bytes) {
  if (bytes != 1)
    fail(ErrorKind::kInvalidArgument, "loop '", step_.name, "' has a condition of ", bytes,
         " elements where one is needed");
  condition_.reserve(1);
  return condition_.data();
}

bool BodyRunner::readCondition(void* stream) {
  if (!device_) return isTrue(condition_.data());
  conditionOnHost_.reserve(1);
  device_->copy(conditionOnHost_.data(), condition_.data(), 1, stream);
  device_->synchronize(stream);
  return isTrue(conditionOnHost_.data());
}

// For a device many are written ahead, each to memory of its own: it copies them as it comes to
// them, long after the host.
const void* BodyRunner::iterationForBody(void* stream) {
  if (!device_) return &iteration_;
  constexpr int64_t kNumbers = 4096;
  const int64_t first = iteration_ / kNumbers * kNumbers;
  if (!numbers_.data() || firstNumber_ != first) {
    if (numbers_.data()) device_->synchronize(stream);
    numbers_.reserve(kNumbers * static_cast<int64_t>(sizeof(int64_t)));
    auto* numbers = reinterpret_cast<int64_t*>(numbers_.data());
    for (int64_t i = 0; i < kNumbers; ++i) numbers[i] = first + i;
    firstNumber_ = first;
  }
  return reinterpret_cast<int64_t*>(numbers_.data()) + (iteration_ - first);
}

}  // namespace camshaft
