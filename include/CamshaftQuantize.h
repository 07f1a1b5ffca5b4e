#pragma once

// Quantisation: an ONNX model and calibration data in, the same model with QuantizeLinear and
// DequantizeLinear nodes out, for Camshaft or anything else that reads ONNX. Not part of TensorRT's
// interface.

#include "NvInferRuntime.h"

#define CAMSHAFT_QUANTIZER_VERSION 1

namespace camshaft {

// Calibration data, which the user implements. Samples are asked for several times, in order.
class CAMSHAFT_API ICalibrationSamples {
 public:
  virtual ~ICalibrationSamples() noexcept = default;
  virtual int32_t getCount() noexcept = 0;
  // Writes the address and shape of each input's data, on the host, in the order of the model's
  // inputs: real numbers as f32, all else in the input's type. They stay valid until the next call.
  virtual bool getSample(int32_t index, const void** data, nvinfer1::Dims* dims) noexcept = 0;
};

// Told how far a phase is; returning false stops.
class CAMSHAFT_API IQuantizerProgress {
 public:
  virtual ~IQuantizerProgress() noexcept = default;
  virtual bool advance(const char* phase, int32_t done, int32_t total) noexcept = 0;
};

// One thread at a time uses it.
class CAMSHAFT_API IQuantizer {
 public:
  virtual ~IQuantizer() noexcept = default;

  // The model's inputs, without those that have a default. Sizes that it leaves open are -1.
  virtual int32_t getNbInputs() const noexcept = 0;
  virtual const char* getInputName(int32_t index) const noexcept = 0;
  virtual nvinfer1::DataType getInputType(int32_t index) const noexcept = 0;
  virtual nvinfer1::Dims getInputShape(int32_t index) const noexcept = 0;

  // Options by name, as docs/quantization.md lists them: set("range", "percentile"). False, with
  // the reason in the log, for those that are none.
  virtual bool set(const char* option, const char* value) noexcept = 0;

  // Samples may be null for formats of weights alone, progress always.
  virtual bool run(ICalibrationSamples* samples, IQuantizerProgress* progress) noexcept = 0;

  // Once it ran. The model as protobuf bytes; null, with the reason in the log, beyond 2 GiB.
  virtual nvinfer1::IHostMemory* serialize() noexcept = 0;
  // Where the model exceeds 2 GiB, its weights lie beside it, in `path`.data.
  virtual bool writeFile(const char* path) noexcept = 0;
  // Layer by layer: signal to noise of the results in dB, range, scale and clipped share of what is
  // read; and which were left as they were.
  virtual const char* reportTable() noexcept = 0;
  virtual const char* reportJson() noexcept = 0;
};

}  // namespace camshaft

extern "C" CAMSHAFT_API void* createQuantizer_INTERNAL(const void* bytes, size_t size,
                                                       const char* path, void* logger,
                                                       int version) noexcept;

namespace camshaft {
namespace {

// Null when the model cannot be read; the log says why. The bytes may be freed afterwards; `path`
// is the file they came from, for external data, or null.
inline IQuantizer* createQuantizer(const void* bytes, size_t size, nvinfer1::ILogger& logger,
                                   const char* path = nullptr) noexcept {
  return static_cast<IQuantizer*>(
      createQuantizer_INTERNAL(bytes, size, path, &logger, CAMSHAFT_QUANTIZER_VERSION));
}

inline IQuantizer* createQuantizerForFile(const char* path, nvinfer1::ILogger& logger) noexcept {
  return static_cast<IQuantizer*>(
      createQuantizer_INTERNAL(nullptr, 0, path, &logger, CAMSHAFT_QUANTIZER_VERSION));
}

}  // namespace
}  // namespace camshaft
