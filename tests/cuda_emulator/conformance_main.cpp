// The conformance suite with an emulated GPU: every generated kernel runs as text. At level 0,
// unless CAMSHAFT_TEST_LEVEL names another, where the tuner looks at their results too.
#include <gtest/gtest.h>

#include <cstdlib>

#include "conformance/case.h"
#include "cuda_emulator/emulated_backend.h"

int main(int argc, char** argv) {
  const camshaft::emulator::EmulatedBackend backend;
  setenv("CAMSHAFT_TRIALS", "none", 1);  // the emulated driver is this process's
  const char* level = std::getenv("CAMSHAFT_TEST_LEVEL");
  camshaft::conformance::useDevices({"cuda"}, {level ? std::atoi(level) : 0});
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
