// Tests of the public API with an emulated GPU.
#include <gtest/gtest.h>

#include <cstdlib>

#include "api/test_client.h"
#include "cuda_emulator/emulated_backend.h"

int main(int argc, char** argv) {
  const camshaft::emulator::EmulatedBackend backend;
  setenv("CAMSHAFT_TRIALS", "none", 1);  // the emulated driver is this process's
  camshaft::api::testDevice = nvinfer1::DeviceType::kGPU;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
