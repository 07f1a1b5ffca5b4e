#include "instance.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "errors.h"
#include "log.h"

namespace triton_backend {
namespace {

using namespace nvinfer1;

bool isKnown(const Dims& dims) {
  return dims.nbDims >= 0 &&
         std::all_of(dims.d, dims.d + dims.nbDims, [](int64_t size) { return size >= 0; });
}

// But for the batch.
bool haveEqualShapes(const Request& a, const Request& b) {
  return std::equal(a.inputs().begin(), a.inputs().end(), b.inputs().begin(),
                    [](const InputData& one, const InputData& other) {
                      return std::equal(one.shape.begin() + 1, one.shape.end(),
                                        other.shape.begin() + 1, other.shape.end());
                    });
}

int64_t batchOf(const std::vector<Request*>& group) {
  return std::accumulate(group.begin(), group.end(), int64_t{0},
                         [](int64_t sum, const Request* one) { return sum + one->batch(); });
}

}  // namespace

void EngineOutput::place(IExecutionContext& context, const Shape& shape, uint64_t bytes,
                         void* target) {
  shape_ = shape;
  address_ = target ? target : buffer_.reserve(bytes);
  context.setOutputAllocator(tensor_.name.c_str(), nullptr);
  requireCamshaft(context.setTensorAddress(tensor_.name.c_str(), address_),
                  TRITONSERVER_ERROR_INTERNAL);
}

void EngineOutput::placeGrowing(IExecutionContext& context) {
  address_ = buffer_.reserve(0);
  requireCamshaft(context.setOutputAllocator(tensor_.name.c_str(), this),
                  TRITONSERVER_ERROR_INTERNAL);
}

void* EngineOutput::reallocateOutput(const char* /*name*/, void* /*current*/, uint64_t bytes,
                                     uint64_t /*alignment*/) noexcept {
  try {
    return address_ = buffer_.reserve(bytes);
  } catch (const Failure&) {
    return nullptr;
  }
}

void EngineOutput::notifyShape(const char* /*name*/, const Dims& dims) noexcept {
  shape_ = toShape(dims);
}

Instance::Instance(TRITONBACKEND_ModelInstance* handle, Model& model)
    : handle_(handle),
      signature_(model.signature()),
      isBatched_(model.isBatched()),
      maxBatch_(model.maxBatchSize()),
      engine_(model.engineFor(handle)),
      stream_(engine_->getDevice()),
      context_(engine_->createExecutionContext()) {
  requireCamshaft(context_ != nullptr, TRITONSERVER_ERROR_INTERNAL);
  check(TRITONBACKEND_ModelInstanceDeviceId(handle, &gpu_));
  for (const Tensor& input : signature_.inputs)
    inputs_.emplace_back(isOnHost(input) ? nullptr : stream_.device());
  for (const Tensor& output : signature_.outputs)
    outputs_.push_back(
        std::make_unique<EngineOutput>(output, isOnHost(output) ? nullptr : stream_.device()));
  splits_ = isBatched_ && splitsByBatch();
  if (isBatched_ && maxBatch_ > 1 && !splits_)
    log(TRITONSERVER_LOG_WARN,
        "requests run one by one, since an output has not one row for each of a batch");
}

// Asked of every profile at its smallest and its largest batch.
bool Instance::splitsByBatch() {
  for (int32_t profile = 0; profile < engine_->getNbOptimizationProfiles(); ++profile) {
    requireCamshaft(context_->setOptimizationProfileAsync(profile, stream_.handle()),
                    TRITONSERVER_ERROR_INTERNAL);
    for (const OptProfileSelector bound : {OptProfileSelector::kMIN, OptProfileSelector::kMAX}) {
      int64_t batch = 0;
      for (const Tensor& input : signature_.inputs) {
        const Dims shape = engine_->getProfileShape(input.name.c_str(), profile, bound);
        batch = shape.d[0];
        requireCamshaft(context_->setInputShape(input.name.c_str(), shape),
                        TRITONSERVER_ERROR_INTERNAL);
      }
      for (const Tensor& output : signature_.outputs) {
        const Dims shape = context_->getTensorShape(output.name.c_str());
        if (shape.nbDims < 1 || shape.d[0] != batch) return false;
      }
    }
  }
  return true;
}

void Instance::execute(TRITONBACKEND_Request** requests, uint32_t count) {
  std::vector<std::unique_ptr<Request>> all;
  all.reserve(count);
  for (uint32_t i = 0; i < count; ++i)
    all.push_back(std::make_unique<Request>(handle_, requests[i]));
  for (const auto& request : all) try {
      request->read(signature_, isBatched_);
    } catch (const std::exception& error) {
      request->answer(asFailure(error));
    }
  for (const Group& group : groupsOf(all)) answerGroup(group);
}

std::vector<Instance::Group> Instance::groupsOf(
    const std::vector<std::unique_ptr<Request>>& requests) const {
  std::vector<Group> groups;
  for (const auto& request : requests) {
    if (!request->isOpen()) continue;
    const auto joins = [&](const Group& group) {
      return splits_ && haveEqualShapes(*group.front(), *request) &&
             batchOf(group) + request->batch() <= maxBatch_;
    };
    const auto group = std::find_if(groups.begin(), groups.end(), joins);
    if (group != groups.end())
      group->push_back(request.get());
    else
      groups.push_back({request.get()});
  }
  return groups;
}

void Instance::answerGroup(const Group& group) {
  try {
    run(group);
    for (Request* request : group) request->answer();  // but for those that were refused
  } catch (const std::exception& error) {
    if (group.size() > 1) {
      for (Request* request : group)
        if (request->isOpen()) answerGroup({request});
      return;
    }
    group.front()->answer(asFailure(error));
  }
}

void Instance::run(const Group& group) {
  const uint64_t begin = now();
  const int64_t batch = batchOf(group);
  setShapes(*group.front(), batch);
  gather(group);

  // A request alone gets its results from the engine, without a copy, where it can write there.
  struct Delivery {
    void* memory = nullptr;
    bool isDirect = false;
  };
  std::vector<Delivery> alone(outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Tensor& tensor = outputs_[i]->tensor();
    const Dims dims = context_->getTensorShape(tensor.name.c_str());
    if (!isKnown(dims)) {
      outputs_[i]->placeGrowing(*context_);
      continue;
    }
    const Shape shape = toShape(dims);
    const uint64_t bytes = bytesOf(tensor, shape);
    if (group.size() == 1 && group.front()->wants(i)) {
      Place place{isOnHost(tensor) ? TRITONSERVER_MEMORY_CPU : TRITONSERVER_MEMORY_GPU, gpu_};
      alone[i].memory = group.front()->addOutput(tensor, shape, bytes, place);
      alone[i].isDirect = canUse(alone[i].memory, place, tensor);
    }
    outputs_[i]->place(*context_, shape, bytes, alone[i].isDirect ? alone[i].memory : nullptr);
  }

  RunTimes times{now(), 0};
  requireCamshaft(context_->enqueueV3(stream_.handle()), TRITONSERVER_ERROR_INVALID_ARG);
  stream_.wait();
  times.computeEnd = now();

  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!alone[i].memory)
      deliver(group, i, batch);
    else if (!alone[i].isDirect)
      stream_.copy(alone[i].memory, outputs_[i]->data(),
                   bytesOf(outputs_[i]->tensor(), outputs_[i]->shape()));
  }
  stream_.wait();
  for (Request* request : group) request->setTimes(times);
  report(TRITONBACKEND_ModelInstanceReportBatchStatistics(
      handle_, static_cast<uint64_t>(batch), begin, times.computeBegin, times.computeEnd, now()));
}

void Instance::setShapes(const Request& request, int64_t batch) {
  std::vector<Shape> shapes;
  for (const InputData& input : request.inputs()) {
    shapes.push_back(input.shape);
    if (isBatched_) shapes.back().front() = batch;
  }
  selectProfile(shapes);
  for (size_t i = 0; i < shapes.size(); ++i)
    requireCamshaft(context_->setInputShape(signature_.inputs[i].name.c_str(), toDims(shapes[i])),
                    TRITONSERVER_ERROR_INVALID_ARG);
}

// The first that takes the shapes; where none does, the engine's own words say why.
void Instance::selectProfile(const std::vector<Shape>& shapes) {
  const int32_t count = engine_->getNbOptimizationProfiles();
  for (int32_t profile = 0; count > 1 && profile < count; ++profile) {
    bool takes = true;
    for (size_t i = 0; takes && i < shapes.size(); ++i) {
      const char* name = signature_.inputs[i].name.c_str();
      const Shape least =
          toShape(engine_->getProfileShape(name, profile, OptProfileSelector::kMIN));
      const Shape most = toShape(engine_->getProfileShape(name, profile, OptProfileSelector::kMAX));
      for (size_t d = 0; d < shapes[i].size(); ++d)
        takes &= least[d] <= shapes[i][d] && shapes[i][d] <= most[d];
    }
    if (!takes) continue;
    if (profile != context_->getOptimizationProfile())
      requireCamshaft(context_->setOptimizationProfileAsync(profile, stream_.handle()),
                      TRITONSERVER_ERROR_INTERNAL);
    return;
  }
}

void Instance::gather(const Group& group) {
  for (size_t i = 0; i < inputs_.size(); ++i)
    requireCamshaft(
        context_->setTensorAddress(signature_.inputs[i].name.c_str(), gatherInput(group, i)),
        TRITONSERVER_ERROR_INTERNAL);
}

// Where the input of a group lies: where the request brought it, if it is alone and in one piece,
// else one after the other in memory of the instance's.
void* Instance::gatherInput(const Group& group, size_t input) {
  const Tensor& tensor = signature_.inputs[input];
  const std::vector<Piece>& first = group.front()->inputs()[input].pieces;
  if (group.size() == 1 && first.size() == 1 &&
      canUse(first.front().data, first.front().place, tensor))
    return const_cast<char*>(first.front().data);  // engines do not write to inputs

  uint64_t bytes = 0;
  for (const Request* request : group) bytes += request->inputs()[input].bytes;
  char* data = static_cast<char*>(inputs_[input].reserve(bytes));
  char* end = data;
  for (const Request* request : group)
    for (const Piece& piece : request->inputs()[input].pieces) {
      if (isOnHost(tensor) && piece.place.isOnHost())
        std::memcpy(end, piece.data, piece.bytes);
      else
        stream_.copy(end, piece.data, piece.bytes);
      end += piece.bytes;
    }
  if (isOnHost(tensor)) stream_.wait();  // the host reads it when the run begins
  return data;
}

// Copies rows of an output into the responses. One that cannot take them is refused alone.
void Instance::deliver(const Group& group, size_t output, int64_t batch) {
  const EngineOutput& from = *outputs_[output];
  const uint64_t bytes = bytesOf(from.tensor(), from.shape());
  const char* rows = from.data();
  for (Request* request : group) {
    const bool isAlone = group.size() == 1;
    Shape shape = from.shape();
    if (!isAlone) shape.front() = request->batch();
    const uint64_t part =
        isAlone ? bytes
                : bytes / static_cast<uint64_t>(batch) * static_cast<uint64_t>(request->batch());
    if (request->isOpen() && request->wants(output)) try {
        Place place;
        stream_.copy(request->addOutput(from.tensor(), shape, part, place), rows, part);
      } catch (const Failure& failure) {
        request->answer(failure);
      }
    rows += part;
  }
}

bool Instance::isOnHost(const Tensor& tensor) const {
  return engine_->getTensorLocation(tensor.name.c_str()) == TensorLocation::kHOST;
}

// Whether the engine can read or write a tensor where it is.
bool Instance::canUse(const void* data, const Place& place, const Tensor& tensor) const {
  constexpr uintptr_t kAlignment = 16;
  return data && reinterpret_cast<uintptr_t>(data) % kAlignment == 0 &&
         (isOnHost(tensor) ? place.isOnHost() : !place.isOnHost() && place.device == gpu_);
}

}  // namespace triton_backend
