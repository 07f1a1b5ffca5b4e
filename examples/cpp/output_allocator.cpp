// An output whose size the data decides: the positions of elements that are not zero. The engine
// asks for memory once it knows how much it needs.
//
//   g++ -std=c++17 output_allocator.cpp -I../../include -L../../build/lib -lcamshaft

#include "sample.h"

using namespace nvinfer1;

class Memory : public IOutputAllocator {
 public:
  // Asked in every run; what is there already may be given again.
  void* reallocateOutput(const char* name, void* /*current*/, uint64_t size,
                         uint64_t alignment) noexcept override {
    std::printf("  %s needs %d bytes\n", name, static_cast<int>(size));
    bytes_.resize(size + alignment);
    void* start = bytes_.data();
    size_t space = bytes_.size();
    return data_ = std::align(alignment, size, start, space);
  }
  void notifyShape(const char* /*name*/, const Dims& dims) noexcept override { shape_ = dims; }

  const int64_t* data() const { return static_cast<const int64_t*>(data_); }
  const Dims& shape() const { return shape_; }

 private:
  std::vector<char> bytes_;
  void* data_ = nullptr;
  Dims shape_{};
};

int main() {
  Logger logger;
  std::unique_ptr<IBuilder> builder(createInferBuilder(logger));
  std::unique_ptr<INetworkDefinition> network(builder->createNetworkV2(0));
  ITensor* x = network->addInput("x", DataType::kFLOAT, Dims2(2, 3));
  ITensor* positions = network->addNonZero(*x, DataType::kINT64)->getOutput(0);
  positions->setName("positions");
  network->markOutput(*positions);

  std::unique_ptr<IBuilderConfig> config(builder->createBuilderConfig());
  config->setDefaultDeviceType(DeviceType::kCPU);  // its tensors are in host memory
  std::unique_ptr<IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
  require(plan != nullptr, "buildSerializedNetwork");
  std::unique_ptr<IRuntime> runtime(createInferRuntime(logger));
  std::unique_ptr<ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  std::unique_ptr<IExecutionContext> context(engine->createExecutionContext());

  Memory memory;
  context->setOutputAllocator("positions", &memory);
  for (std::vector<float> in : {std::vector<float>{0, 5, 0, 0, 0, 1}, {1, 1, 1, 1, 0, 1}}) {
    context->setTensorAddress("x", in.data());
    require(context->enqueueV3(nullptr), "enqueueV3");
    const int64_t count = memory.shape().d[1];  // [2, count]: rows, then columns
    std::printf("%d elements are not zero:", static_cast<int>(count));
    int64_t wanted = 0;
    for (const float value : in) wanted += value != 0;
    require(count == wanted, "as many positions as elements");
    for (int64_t i = 0; i < count; ++i)
      std::printf(" (%d, %d)", static_cast<int>(memory.data()[i]),
                  static_cast<int>(memory.data()[count + i]));
    std::printf("\n");
  }
}
