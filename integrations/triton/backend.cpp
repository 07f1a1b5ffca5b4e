// The functions that Triton calls.

#include <memory>

#include "errors.h"
#include "instance.h"
#include "log.h"
#include "model.h"
#include "triton_api.h"

#define TRITON_ENTRY extern "C" __attribute__((visibility("default"))) TRITONSERVER_Error*

using namespace triton_backend;

// NOLINTBEGIN(readability-identifier-naming)

// Cancelled requests came with version 1.16 of the interface.
TRITON_ENTRY TRITONBACKEND_Initialize(TRITONBACKEND_Backend* /*backend*/) {
  return guarded([] {
    constexpr uint32_t kMajor = 1, kLeastMinor = 16;
    uint32_t major = 0, minor = 0;
    check(TRITONBACKEND_ApiVersion(&major, &minor));
    if (major != kMajor || minor < kLeastMinor)
      fail(TRITONSERVER_ERROR_UNSUPPORTED, "this server has version ", major, ".", minor,
           " of the backend interface, and Camshaft's backend needs ", kMajor, ".", kLeastMinor,
           " or a later one of the same major version");
  });
}

TRITON_ENTRY TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* handle) {
  return guarded([&] {
    check(TRITONBACKEND_ModelSetState(handle, std::make_unique<Model>(handle).release()));
  });
}

TRITON_ENTRY TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* handle) {
  return guarded([&] {
    void* model = nullptr;
    check(TRITONBACKEND_ModelState(handle, &model));
    delete static_cast<Model*>(model);
  });
}

TRITON_ENTRY TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* handle) {
  return guarded([&] {
    TRITONBACKEND_Model* of = nullptr;
    void* model = nullptr;
    check(TRITONBACKEND_ModelInstanceModel(handle, &of));
    check(TRITONBACKEND_ModelState(of, &model));
    auto instance = std::make_unique<Instance>(handle, *static_cast<Model*>(model));
    check(TRITONBACKEND_ModelInstanceSetState(handle, instance.release()));
  });
}

TRITON_ENTRY TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* handle) {
  return guarded([&] {
    void* instance = nullptr;
    check(TRITONBACKEND_ModelInstanceState(handle, &instance));
    delete static_cast<Instance*>(instance);
  });
}

TRITON_ENTRY TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* handle,
                                                TRITONBACKEND_Request** requests, uint32_t count) {
  void* instance = nullptr;
  if (TRITONSERVER_Error* error = TRITONBACKEND_ModelInstanceState(handle, &instance)) return error;
  // From here on the requests are the instance's, so an error is for the log alone.
  report(guarded([&] { static_cast<Instance*>(instance)->execute(requests, count); }));
  return nullptr;
}

// NOLINTEND(readability-identifier-naming)
