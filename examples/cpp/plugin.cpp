// An operator of one's own: y = x * scale, clipped to [-1, 1]. The network takes it as a layer; the
// engine stores its fields and gets it back from the creator when it is loaded.
//
// On the CPU, enqueue() gets host memory:
//   g++ -std=c++17 plugin.cpp -I../../include -L../../build/lib -lcamshaft
// On a GPU, device memory and the stream to work on:
//   nvcc -x cu -std=c++17 plugin.cpp -I../../include -L../../build/lib -lcamshaft

#include <algorithm>
#include <cmath>
#include <string>

#include "CamshaftDevice.h"
#include "sample.h"

using namespace nvinfer1;

namespace {

#ifdef __CUDACC__
constexpr DeviceType kDevice = DeviceType::kGPU;

__global__ void scaleAndClip(const float* x, float* y, int64_t count, float scale) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) y[i] = fminf(fmaxf(x[i] * scale, -1.0F), 1.0F);
}

void run(const float* x, float* y, int64_t count, float scale, cudaStream_t stream) {
  constexpr int kThreads = 256;
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  scaleAndClip<<<blocks, kThreads, 0, stream>>>(x, y, count, scale);
}
#else
constexpr DeviceType kDevice = DeviceType::kCPU;

void run(const float* x, float* y, int64_t count, float scale, cudaStream_t /*stream*/) {
  for (int64_t i = 0; i < count; ++i) y[i] = std::min(std::max(x[i] * scale, -1.0F), 1.0F);
}
#endif

// One object has all three parts: what it is called, what a build asks, and what a run does.
class ScaleAndClip : public IPluginV3,
                     public IPluginV3OneCore,
                     public IPluginV3OneBuild,
                     public IPluginV3OneRuntime {
 public:
  explicit ScaleAndClip(float scale) : scale_(scale) {}

  IPluginCapability* getCapabilityInterface(PluginCapabilityType type) noexcept override {
    if (type == PluginCapabilityType::kCORE) return static_cast<IPluginV3OneCore*>(this);
    if (type == PluginCapabilityType::kBUILD) return static_cast<IPluginV3OneBuild*>(this);
    return static_cast<IPluginV3OneRuntime*>(this);
  }
  IPluginV3* clone() noexcept override { return new ScaleAndClip(scale_); }

  const char* getPluginName() const noexcept override { return "ScaleAndClip"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return ""; }

  // The build: how many outputs, of which types and shapes, in which formats.
  int32_t getNbOutputs() const noexcept override { return 1; }
  int32_t getOutputDataTypes(DataType* outputs, int32_t /*count*/, const DataType* inputs,
                             int32_t /*inputCount*/) const noexcept override {
    outputs[0] = inputs[0];
    return 0;
  }
  int32_t getOutputShapes(const DimsExprs* inputs, int32_t, const DimsExprs*, int32_t,
                          DimsExprs* outputs, int32_t, IExprBuilder&) noexcept override {
    outputs[0] = inputs[0];
    return 0;
  }
  bool supportsFormatCombination(int32_t position, const DynamicPluginTensorDesc* tensors, int32_t,
                                 int32_t) noexcept override {
    const PluginTensorDesc& tensor = tensors[position].desc;
    return tensor.type == DataType::kFLOAT && tensor.format == TensorFormat::kLINEAR;
  }
  int32_t configurePlugin(const DynamicPluginTensorDesc*, int32_t, const DynamicPluginTensorDesc*,
                          int32_t) noexcept override {
    return 0;
  }

  // The run. Each execution context works with a copy of its own.
  IPluginV3* attachToContext(IPluginResourceContext*) noexcept override { return clone(); }
  int32_t onShapeChange(const PluginTensorDesc*, int32_t, const PluginTensorDesc*,
                        int32_t) noexcept override {
    return 0;
  }
  int32_t enqueue(const PluginTensorDesc* inputs, const PluginTensorDesc*, const void* const* in,
                  void* const* out, void* /*workspace*/, cudaStream_t stream) noexcept override {
    run(static_cast<const float*>(in[0]), static_cast<float*>(out[0]), countOf(inputs[0].dims),
        scale_, stream);
    return 0;
  }

  // What the engine keeps, and the creator gets back.
  const PluginFieldCollection* getFieldsToSerialize() noexcept override {
    field_ = PluginField("scale", &scale_, PluginFieldType::kFLOAT32, 1);
    fields_ = {1, &field_};
    return &fields_;
  }

 private:
  float scale_;
  PluginField field_;
  PluginFieldCollection fields_{};
};

class ScaleAndClipCreator : public IPluginCreatorV3One {
 public:
  const char* getPluginName() const noexcept override { return "ScaleAndClip"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return ""; }
  const PluginFieldCollection* getFieldNames() noexcept override { return &fields_; }
  IPluginV3* createPlugin(const char* /*name*/, const PluginFieldCollection* given,
                          TensorRTPhase /*phase*/) noexcept override {
    float scale = 1;
    for (int32_t i = 0; i < given->nbFields; ++i)
      if (std::string(given->fields[i].name) == "scale")
        scale = *static_cast<const float*>(given->fields[i].data);
    return new ScaleAndClip(scale);
  }

 private:
  PluginField field_{"scale", nullptr, PluginFieldType::kFLOAT32, 1};
  PluginFieldCollection fields_{1, &field_};
};

// Host arrays in and out, wherever the engine runs.
void runOnce(ICudaEngine& engine, std::vector<float>& in, std::vector<float>& out) {
  std::unique_ptr<IExecutionContext> context(engine.createExecutionContext());
  void *x = in.data(), *y = out.data();
  const auto bytes = static_cast<int64_t>(in.size() * sizeof(float));
  cudaStream_t stream = nullptr;
  IDevice* device = engine.getDevice();  // null on the CPU
  if (device) {
    stream = device->createStream();
    x = device->allocate(bytes);
    y = device->allocate(bytes);
    require(device->copy(x, in.data(), bytes, stream), "copy to the GPU");
  }
  context->setTensorAddress("x", x);
  context->setTensorAddress("y", y);
  require(context->enqueueV3(stream), "enqueueV3");
  if (!device) return;
  require(device->copy(out.data(), y, bytes, stream) && device->synchronize(stream),
          "copy from the GPU");
  device->release(x);
  device->release(y);
  device->destroyStream(stream);
}

}  // namespace

int main() {
  Logger logger;
  ScaleAndClipCreator creator;
  require(getPluginRegistry()->registerCreator(creator, ""), "registerCreator");

  std::unique_ptr<IBuilder> builder(createInferBuilder(logger));
  std::unique_ptr<INetworkDefinition> network(builder->createNetworkV2(0));
  ITensor* x = network->addInput("x", DataType::kFLOAT, Dims2(1, 5));
  ScaleAndClip plugin(0.5F);
  IPluginV3Layer* layer = network->addPluginV3(&x, 1, nullptr, 0, plugin);
  require(layer != nullptr, "addPluginV3");
  layer->getOutput(0)->setName("y");
  network->markOutput(*layer->getOutput(0));
  std::unique_ptr<IBuilderConfig> config(builder->createBuilderConfig());
  config->setDefaultDeviceType(kDevice);
  std::unique_ptr<IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
  require(plan != nullptr, "buildSerializedNetwork");

  std::unique_ptr<IRuntime> runtime(createInferRuntime(logger));
  std::unique_ptr<ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  require(engine != nullptr, "deserializeCudaEngine");
  std::vector<float> in{-4, -1, 0, 1, 4}, out(5);
  runOnce(*engine, in, out);
  for (size_t i = 0; i < in.size(); ++i) std::printf("%5.2f -> %5.2f\n", in[i], out[i]);
  require(out == std::vector<float>{-1, -0.5F, 0, 0.5F, 1}, "scaled and clipped");
  getPluginRegistry()->deregisterCreator(creator);
}
