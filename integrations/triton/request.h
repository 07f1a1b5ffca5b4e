// One request: what it brings, what it wants, and its response.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "errors.h"
#include "memory.h"
#include "settings.h"
#include "signature.h"
#include "triton_api.h"

namespace triton_backend {

struct Piece {
  const char* data;
  uint64_t bytes;
  Place place;
};

struct InputData {
  Shape shape;  // with the batch
  uint64_t bytes = 0;
  std::vector<Piece> pieces;  // in the order of their bytes
};

// Times of a run, in nanoseconds of the steady clock.
struct RunTimes {
  uint64_t computeBegin = 0, computeEnd = 0;
};
uint64_t now();

// Owns Triton's request from the moment it is made: it is answered once, with its outputs or with
// an error, and released, whatever happens.
class Request {
 public:
  Request(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request);
  ~Request() { finish(); }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  // Throws where the request does not fit the model.
  void read(const Signature& signature, bool isBatched);

  const std::vector<InputData>& inputs() const { return inputs_; }
  int64_t batch() const { return batch_; }  // 1 where the model has none
  bool wants(size_t output) const { return wanted_[output]; }
  bool isOpen() const { return response_ != nullptr; }  // not answered yet

  // Memory of the response for an output. `place` goes in as what would be best and comes out as
  // what was given.
  void* addOutput(const Tensor& output, const Shape& shape, uint64_t bytes, Place& place);
  void setTimes(const RunTimes& times) { times_ = times; }

  void answer() { send(nullptr); }
  void answer(const Failure& failure);

 private:
  void send(TRITONSERVER_Error* error);
  void finish();

  TRITONBACKEND_ModelInstance* instance_;
  TRITONBACKEND_Request* request_;
  TRITONBACKEND_Response* response_ = nullptr;
  std::vector<InputData> inputs_;
  std::vector<bool> wanted_;
  int64_t batch_ = 1;
  bool succeeded_ = false;
  uint64_t begin_ = now();
  RunTimes times_;
};

}  // namespace triton_backend
