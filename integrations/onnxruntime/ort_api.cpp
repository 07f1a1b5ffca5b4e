#include "onnxruntime/ort_api.h"

#include <new>

#include "support/error.h"

namespace camshaft::ort {

OrtApi::OrtApi(const void* table) {
  const auto* const slots = static_cast<void* const*>(table);
#define ORT_API(slot, returns, name, ...) \
  name = reinterpret_cast<decltype(name)>(slots[slot]);  // NOLINT
#define ORT_EP_API(slot, returns, name, ...)
#include "onnxruntime/ort_functions.def"
#undef ORT_API
#undef ORT_EP_API
  const auto* const providerSlots = GetEpApi();
#define ORT_API(slot, returns, name, ...)
#define ORT_EP_API(slot, returns, name, ...) \
  name = reinterpret_cast<decltype(name)>(providerSlots[slot]);  // NOLINT
#include "onnxruntime/ort_functions.def"
#undef ORT_API
#undef ORT_EP_API
}

void OrtApi::check(OrtStatus* status) const {
  if (!status) return;
  const std::string message = GetErrorMessage(status);
  ReleaseStatus(status);
  fail(ErrorKind::kDevice, "ONNX Runtime: ", message);
}

OrtStatus* OrtApi::statusOfException() const noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return CreateStatus(
        error.kind() == ErrorKind::kInvalidArgument ? kOrtInvalidArgument : kOrtFail, error.what());
  } catch (const std::bad_alloc&) {
    return CreateStatus(kOrtFail, "Camshaft is out of memory");
  } catch (const std::exception& error) {
    return CreateStatus(kOrtFail, error.what());
  } catch (...) {
    return CreateStatus(kOrtFail, "Camshaft failed with an exception of an unknown type");
  }
}

}  // namespace camshaft::ort
