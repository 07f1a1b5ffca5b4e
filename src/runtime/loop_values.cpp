#include "runtime/loop_values.h"

#include <algorithm>
#include <cstring>

#include "support/error.h"

namespace camshaft {

LoopValues::LoopValues(const Step& step, Device* device) : step_(step), device_(device) {
  if (step.kind != StepKind::kLoop) return;
  carried_.resize(static_cast<size_t>(step.carried));
  scans_.resize(step.outputs.size() - carried_.size());
  for (Carried& carried : carried_)
    for (DeviceBuffer& buffer : carried.buffers) buffer = DeviceBuffer(device);
  for (Scan& scan : scans_)
    for (DeviceBuffer* buffer : {&scan.all, &scan.element}) *buffer = DeviceBuffer(device);
}

void LoopValues::begin(std::span<const TensorArg> carried, int64_t count,
                       const BodyResults& results, void* stream) {
  results_ = &results;
  stream_ = stream;
  count_ = count;
  iteration_ = 0;
  for (size_t c = 0; c < carried.size(); ++c) carried_[c].value = carried[c];
}

void* LoopValues::place(size_t output, int64_t bytes) {
  if (output < carried_.size()) {
    Carried& carried = carried_[output];
    DeviceBuffer& buffer = carried.buffers[carried.next];
    enlarge(buffer, bytes);
    return buffer.data();
  }
  Scan& scan = scans_[output - carried_.size()];
  if (iteration_ == 0) beginScan(output, bytes);
  if (bytes != scan.elementBytes)
    fail(ErrorKind::kInvalidArgument, "loop '", step_.name,
         "' gives a scan output another size in iteration ", iteration_, " than before");
  return device_ ? scan.element.data() : placeNext(scan);
}

void LoopValues::beginScan(size_t output, int64_t elementBytes) {
  Scan& scan = scans_[output - carried_.size()];
  scan.elementBytes = elementBytes;
  int64_t all = 0;
  const bool isKnown = count_ >= 0 && !__builtin_mul_overflow(elementBytes, count_, &all);
  scan.result = isKnown ? static_cast<std::byte*>(results_->memory(output, all)) : nullptr;
  if (device_) enlarge(scan.element, elementBytes);
}

std::byte* LoopValues::placeNext(Scan& scan) {
  const int64_t used = scan.elementBytes * iteration_;
  if (scan.result) return scan.result + used;
  enlarge(scan.all, used + scan.elementBytes, used);
  return scan.all.data() + used;
}

void LoopValues::take(size_t output, std::vector<int64_t> dims) {
  if (output < carried_.size()) {
    Carried& carried = carried_[output];
    std::copy(dims.begin(), dims.end(), carried.value.dims);
    carried.value.data = carried.buffers[carried.next].data();
    carried.next ^= 1;
    return;
  }
  Scan& scan = scans_[output - carried_.size()];
  if (iteration_ == 0)
    scan.elementDims = std::move(dims);
  else if (dims != scan.elementDims)
    fail(ErrorKind::kInvalidArgument, "loop '", step_.name, "' gives scan output ",
         output - carried_.size(), " the shape [", join(dims, ", "), "] in iteration ", iteration_,
         " and had [", join(scan.elementDims, ", "), "] before");
  if (device_) copy(placeNext(scan), scan.element.data(), scan.elementBytes);
}

void LoopValues::deliver() {
  for (size_t c = 0; c < carried_.size(); ++c) {
    const TensorArg& value = carried_[c].value;
    const auto bytes = static_cast<int64_t>(bytesOf(value.type, value.count()));
    copy(results_->memory(c, bytes), value.data, bytes);
    results_->shape(c, value.shape());
  }
  for (size_t s = 0; s < scans_.size(); ++s) {
    const size_t output = carried_.size() + s;
    Scan& scan = scans_[s];
    if (iteration_ == 0) {
      scan.elementDims.assign(step_.outputs[output].tensor.dims.size() - 1, -1);
      results_->memory(output, 0);
    } else if (!scan.result) {
      const int64_t bytes = iteration_ * scan.elementBytes;
      copy(results_->memory(output, bytes), scan.all.data(), bytes);
    }
    std::vector<int64_t> dims = scan.elementDims;
    dims.insert(dims.begin(), iteration_);
    results_->shape(output, dims);
  }
}

// Larger by a half at least, so that a value that grows is seldom moved. Queued work may still use
// the memory that is given back.
void LoopValues::enlarge(DeviceBuffer& buffer, int64_t bytes, int64_t kept) {
  if (buffer.data() && bytes <= buffer.size()) return;
  DeviceBuffer larger(device_);
  larger.reserve(std::max({bytes, buffer.size() + buffer.size() / 2, int64_t{1}}));
  copy(larger.data(), buffer.data(), kept);
  if (device_ && buffer.data()) device_->synchronize(stream_);
  buffer = std::move(larger);
}

void LoopValues::copy(void* to, const void* from, int64_t bytes) {
  if (bytes == 0) return;
  if (device_)
    device_->copy(to, from, bytes, stream_);
  else
    std::memcpy(to, from, static_cast<size_t>(bytes));
}

}  // namespace camshaft
