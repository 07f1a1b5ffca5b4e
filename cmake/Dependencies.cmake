# Everything comes from the distribution's packages; scripts/setup.sh names them.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HIGHWAY REQUIRED IMPORTED_TARGET libhwy)
find_path(PROTOZERO_INCLUDE protozero/pbf_reader.hpp REQUIRED)
find_path(FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h REQUIRED)
find_program(FLATC flatc REQUIRED)
if(CAMSHAFT_TESTS)
  find_package(GTest REQUIRED)
endif()

# The CUDA backend needs headers alone: the toolkit's, cuDNN's and those of cudnn-frontend.
option(CAMSHAFT_CUDA "Build the CUDA backend where CUDA's headers are" ON)
find_path(CUDA_INCLUDE cuda.h HINTS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda
          PATH_SUFFIXES include)
if(CAMSHAFT_CUDA AND NOT CUDA_INCLUDE)
  message(STATUS "No CUDA headers found: Camshaft is built without its CUDA backend (set CUDA_HOME to the toolkit to have it)")
  set(CAMSHAFT_CUDA OFF)
endif()
