#include "request.h"

#include <chrono>

#include "log.h"

namespace triton_backend {
namespace {

InputData readInput(TRITONBACKEND_Request* request, const Tensor& tensor) {
  TRITONBACKEND_Input* input = nullptr;
  if (TRITONSERVER_Error* error =
          TRITONBACKEND_RequestInput(request, tensor.name.c_str(), &input)) {
    TRITONSERVER_ErrorDelete(error);
    fail(TRITONSERVER_ERROR_INVALID_ARG, "the request lacks the input '", tensor.name, "'");
  }
  const char* name = nullptr;
  TRITONSERVER_DataType type;
  const int64_t* sizes = nullptr;
  uint32_t rank = 0, pieces = 0;
  InputData data;
  check(TRITONBACKEND_InputProperties(input, &name, &type, &sizes, &rank, &data.bytes, &pieces));
  data.shape.assign(sizes, sizes + rank);
  if (type != toTriton(tensor))
    fail(TRITONSERVER_ERROR_INVALID_ARG, "input '", tensor.name, "' is ", nameOf(type),
         " in the request and ", nameOf(toTriton(tensor)), " in the model");
  if (!fits(data.shape, tensor.shape))
    fail(TRITONSERVER_ERROR_INVALID_ARG, "input '", tensor.name, "' is ", toText(data.shape),
         " in the request and ", toText(tensor.shape), " in the model");
  if (tensor.shape.empty()) data.shape.clear();
  for (uint32_t i = 0; i < pieces; ++i) {
    const void* bytes = nullptr;
    Piece piece{};
    check(TRITONBACKEND_InputBuffer(input, i, &bytes, &piece.bytes, &piece.place.memory,
                                    &piece.place.device));
    piece.data = static_cast<const char*>(bytes);
    if (piece.bytes > 0) data.pieces.push_back(piece);
  }
  return data;
}

}  // namespace

uint64_t now() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

Request::Request(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request)
    : instance_(instance), request_(request) {
  report(TRITONBACKEND_ResponseNew(&response_, request_));
}

void Request::read(const Signature& signature, bool isBatched) {
  bool isCancelled = false;
  check(TRITONBACKEND_RequestIsCancelled(request_, &isCancelled));
  if (isCancelled) fail(TRITONSERVER_ERROR_CANCELLED, "the request was cancelled before it ran");

  for (const Tensor& tensor : signature.inputs) inputs_.push_back(readInput(request_, tensor));
  if (isBatched) batch_ = inputs_.front().shape.front();

  wanted_.assign(signature.outputs.size(), false);
  uint32_t count = 0;
  check(TRITONBACKEND_RequestOutputCount(request_, &count));
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    check(TRITONBACKEND_RequestOutputName(request_, i, &name));
    for (size_t output = 0; output < signature.outputs.size(); ++output)
      if (signature.outputs[output].name == name) wanted_[output] = true;
  }
}

void* Request::addOutput(const Tensor& output, const Shape& shape, uint64_t bytes, Place& place) {
  const Shape given = shape.empty() ? Shape{1} : shape;
  TRITONBACKEND_Output* handle = nullptr;
  check(TRITONBACKEND_ResponseOutput(response_, &handle, output.name.c_str(), toTriton(output),
                                     given.data(), static_cast<uint32_t>(given.size())));
  void* data = nullptr;
  check(TRITONBACKEND_OutputBuffer(handle, &data, bytes, &place.memory, &place.device));
  return data;
}

void Request::answer(const Failure& failure) {
  TRITONSERVER_Error* error = TRITONSERVER_ErrorNew(failure.code(), failure.what());
  send(error);
  TRITONSERVER_ErrorDelete(error);
}

void Request::send(TRITONSERVER_Error* error) {
  if (!response_) return;
  succeeded_ = !error;
  report(TRITONBACKEND_ResponseSend(response_, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error));
  response_ = nullptr;
}

void Request::finish() {
  if (response_)
    answer(Failure(TRITONSERVER_ERROR_INTERNAL, "the request was left without an answer"));
  const uint64_t end = now();
  if (times_.computeEnd == 0) times_ = {end, end};  // it never ran
  report(TRITONBACKEND_ModelInstanceReportStatistics(instance_, request_, succeeded_, begin_,
                                                     times_.computeBegin, times_.computeEnd, end));
  report(TRITONBACKEND_RequestRelease(request_, TRITONSERVER_REQUEST_RELEASE_ALL));
}

}  // namespace triton_backend
