#include "backends/cuda/load_library.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace camshaft::cuda {
namespace {

TEST(LoadLibrary, ANamedOneThatDoesNotLoadIsNotReplacedByAnother) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has not loaded it yet
  EXPECT_EXIT(
      {
        setenv("CAMSHAFT_CUDA_LIBRARY", "/nowhere/libcamshaft_cuda.so", 1);
        replaceLibrary(nullptr);
        std::fputs(loadedLibrary() ? "loaded" : whyNotLoaded().c_str(), stderr);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "CAMSHAFT_CUDA_LIBRARY names does not load .*/nowhere/");
}

}  // namespace
}  // namespace camshaft::cuda
