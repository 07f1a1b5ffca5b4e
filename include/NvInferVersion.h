#pragma once

// The TensorRT API this SDK speaks. Clients branch on these, so they name the API, not Camshaft.
#define NV_TENSORRT_MAJOR 10
#define NV_TENSORRT_MINOR 16
#define NV_TENSORRT_PATCH 0
#define NV_TENSORRT_BUILD 0

#define NV_TENSORRT_VERSION_INT(major, minor, patch) ((major) * 10000 + (minor) * 100 + (patch))
#define NV_TENSORRT_VERSION \
  NV_TENSORRT_VERSION_INT(NV_TENSORRT_MAJOR, NV_TENSORRT_MINOR, NV_TENSORRT_PATCH)

// Camshaft's own version. Defined by no other TensorRT-shaped SDK: test it to detect Camshaft.
#define CAMSHAFT_VERSION_MAJOR 0
#define CAMSHAFT_VERSION_MINOR 1
#define CAMSHAFT_VERSION_PATCH 0
#define CAMSHAFT_VERSION \
  NV_TENSORRT_VERSION_INT(CAMSHAFT_VERSION_MAJOR, CAMSHAFT_VERSION_MINOR, CAMSHAFT_VERSION_PATCH)
