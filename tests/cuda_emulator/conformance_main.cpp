// The conformance suite with an emulated GPU: every generated kernel runs as text.
#include <gtest/gtest.h>

#include "conformance/case.h"
#include "cuda_emulator/emulated_backend.h"

int main(int argc, char** argv) {
  const camshaft::emulator::EmulatedBackend backend;
  camshaft::conformance::useDevices({"cuda"}, /*levels=*/{0});
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
