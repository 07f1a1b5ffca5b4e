#pragma once

// Accuracy-aware builds: a network, data and a bound in, the fastest mix of precisions that keeps
// the bound out, as settings of the network and its configuration. Not part of TensorRT's API.

#include "CamshaftQuantize.h"
#include "NvInfer.h"

#define CAMSHAFT_PRECISION_TUNER_VERSION 1

namespace camshaft {

// What a network gave for one output on one sample, on the host.
struct OutputView {
  const char* name;
  nvinfer1::DataType type;
  nvinfer1::Dims dims;
  const void* data;
};

// How good outputs are, which the user implements.
class CAMSHAFT_API IAccuracyMetric {
 public:
  virtual ~IAccuracyMetric() noexcept = default;
  // Higher is better; NaN stops. `samples` are the numbers of those that were run, and `outputs`
  // are those of the first, then those of the second, and so on.
  virtual double score(const int32_t* samples, int32_t nbSamples, const OutputView* outputs,
                       int32_t nbOutputs) noexcept = 0;
};

// One thread at a time uses it. The network and its configuration must outlive it.
class CAMSHAFT_API IPrecisionTuner {
 public:
  virtual ~IPrecisionTuner() noexcept = default;

  // The largest relative error of an output, or of all that have none of their own (null): the L2
  // distance to f32 over the L2 norm, over all samples; of other than real numbers the share that
  // differs.
  virtual bool setMaxError(double error, const char* output = nullptr) noexcept = 0;
  // The metric may fall by so much below that of f32. Null: there is none any more.
  virtual bool setMetric(IAccuracyMetric* metric, double maxDrop) noexcept = 0;
  // How many samples, of those to tune with, each layer is lowered alone on; 8.
  virtual bool setSensitivitySamples(int32_t count) noexcept = 0;

  // Every other sample is held out: what is found must keep the bound on these too. Types that are
  // tried are those whose flags are set (kFP16, kBF16, kINT8), or all that the device has. What was
  // found is set: flags, precisions of layers, ranges of tensors. So the next build of the network
  // is the engine. Where it fails, or the configuration's progress monitor stops it, nothing is.
  virtual bool run(ICalibrationSamples& samples) noexcept = 0;

  // Once it ran: what each layer cost and gained. The JSON has the recipe, which later builds
  // follow without data.
  virtual const char* reportTable() noexcept = 0;
  virtual const char* reportJson() noexcept = 0;
};

}  // namespace camshaft

extern "C" CAMSHAFT_API void* createPrecisionTuner_INTERNAL(void* network, void* config,
                                                            void* logger, int version) noexcept;

namespace camshaft {
namespace {

// Null when the network's types cannot be changed; the log says why.
inline IPrecisionTuner* createPrecisionTuner(nvinfer1::INetworkDefinition& network,
                                             nvinfer1::IBuilderConfig& config,
                                             nvinfer1::ILogger& logger) noexcept {
  return static_cast<IPrecisionTuner*>(
      createPrecisionTuner_INTERNAL(&network, &config, &logger, CAMSHAFT_PRECISION_TUNER_VERSION));
}

}  // namespace
}  // namespace camshaft
