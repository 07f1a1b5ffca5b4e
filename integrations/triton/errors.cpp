#include "errors.h"

#include <memory>

#include "log.h"
#include "settings/read.h"

namespace triton_backend {
namespace {

using OwnedError = std::unique_ptr<TRITONSERVER_Error, void (*)(TRITONSERVER_Error*)>;

}  // namespace

Failure asFailure(const std::exception& error) {
  if (const auto* failure = dynamic_cast<const Failure*>(&error)) return *failure;
  const bool isSettings = dynamic_cast<const camshaft::settings::SettingsError*>(&error) != nullptr;
  return {isSettings ? TRITONSERVER_ERROR_INVALID_ARG : TRITONSERVER_ERROR_INTERNAL, error.what()};
}

void check(TRITONSERVER_Error* error) {
  if (!error) return;
  const OwnedError owned(error, &TRITONSERVER_ErrorDelete);
  throw Failure(TRITONSERVER_ErrorCode(error), TRITONSERVER_ErrorMessage(error));
}

void report(TRITONSERVER_Error* error) {
  if (!error) return;
  const OwnedError owned(error, &TRITONSERVER_ErrorDelete);
  log(TRITONSERVER_LOG_ERROR, TRITONSERVER_ErrorMessage(error));
}

void requireCamshaft(bool worked, TRITONSERVER_Error_Code code) {
  const std::string message = takeCamshaftError();  // of a call that worked it is forgotten
  if (!worked) throw Failure(code, message.empty() ? "Camshaft failed without a word" : message);
}

}  // namespace triton_backend
