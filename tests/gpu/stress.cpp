// Many threads with many contexts of one engine at once, over the public API:
//   gpu_stress [SECONDS [THREADS [CONTEXTS]]]
// Every context has a stream of its own, changes its batch from run to run and is made anew now and
// then. Results are compared with a CPU engine's. Exit code 0 when every run agreed and memory, of
// the host and of the GPU, was as much near the end as after a quarter of the time.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "NvInfer.h"

namespace {

using namespace nvinfer1;

constexpr int64_t kChannels = 16, kSide = 20, kFeatures = 64, kClasses = 24;
constexpr int64_t kBatches[] = {1, 3, 8, 17};
constexpr int64_t kMostImages = 17;
constexpr int64_t kImage = kChannels * kSide * kSide;
constexpr int kNewContextEvery = 200;  // runs
constexpr double kTolerance = 2e-3;    // of TF32 products, relative to the largest element

class Logger : public ILogger {
 public:
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kWARNING) std::fprintf(stderr, "%s\n", message);
  }
};
Logger logger;

template <class T>
std::unique_ptr<T> owned(T* object) {
  if (!object) throw std::runtime_error("an object could not be made");
  return std::unique_ptr<T>(object);
}

void require(bool worked, const char* what) {
  if (!worked) throw std::runtime_error(std::string(what) + " failed");
}

std::vector<float> randomValues(int64_t count, unsigned seed, float spread) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-spread, spread);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = uniform(random);
  return values;
}

Weights weightsOf(const std::vector<float>& values) {
  return {DataType::kFLOAT, values.data(), static_cast<int64_t>(values.size())};
}

// A convolution, a pool, a product and a softmax, for any batch up to kMostImages.
std::vector<char> buildEngine(DeviceType device) {
  const auto builder = owned(createInferBuilder(logger));
  const auto network = owned(builder->createNetworkV2(0));
  const std::vector<float> filters = randomValues(kFeatures * kChannels * 9, 1, 0.1f);
  const std::vector<float> biases = randomValues(kFeatures, 2, 0.1f);
  const std::vector<float> matrix = randomValues(kFeatures * kClasses, 3, 0.3f);
  ITensor* x = network->addInput("x", DataType::kFLOAT, Dims4(-1, kChannels, kSide, kSide));
  auto* conv =
      network->addConvolutionNd(*x, kFeatures, Dims2(3, 3), weightsOf(filters), weightsOf(biases));
  auto* relu = network->addActivation(*conv->getOutput(0), ActivationType::kRELU);
  auto* pool = network->addReduce(*relu->getOutput(0), ReduceOperation::kAVG, 0b1100, false);
  auto* weights = network->addConstant(Dims2(kFeatures, kClasses), weightsOf(matrix));
  auto* product = network->addMatrixMultiply(*pool->getOutput(0), MatrixOperation::kNONE,
                                             *weights->getOutput(0), MatrixOperation::kNONE);
  auto* softmax = network->addSoftMax(*product->getOutput(0));
  softmax->setAxes(0b10);
  softmax->getOutput(0)->setName("y");
  network->markOutput(*softmax->getOutput(0));

  const auto config = owned(builder->createBuilderConfig());
  config->setDefaultDeviceType(device);
  IOptimizationProfile* profile = builder->createOptimizationProfile();
  for (auto [select, batch] : {std::pair{OptProfileSelector::kMIN, int64_t{1}},
                               {OptProfileSelector::kOPT, int64_t{8}},
                               {OptProfileSelector::kMAX, kMostImages}})
    profile->setDimensions("x", select, Dims4(batch, kChannels, kSide, kSide));
  config->addOptimizationProfile(profile);
  const auto engine = owned(builder->buildSerializedNetwork(*network, *config));
  const char* data = static_cast<const char*>(engine->data());
  return {data, data + engine->size()};
}

// Memory of the engine's device, or of the host for a CPU engine.
class Buffer {
 public:
  Buffer(IDevice* device, int64_t count) : device_(device), bytes_(count * 4) {
    data_ = device ? device->allocate(bytes_) : std::malloc(static_cast<size_t>(bytes_));
    require(data_, "allocation");
  }
  ~Buffer() { device_ ? device_->release(data_) : std::free(data_); }
  Buffer(const Buffer&) = delete;
  void* data() const { return data_; }
  void copy(void* to, const void* from, int64_t count, cudaStream_t stream) const {
    if (device_) return require(device_->copy(to, from, count * 4, stream), "copy");
    std::copy_n(static_cast<const float*>(from), count, static_cast<float*>(to));
  }

 private:
  IDevice* device_;
  int64_t bytes_;
  void* data_;
};

// A context with stream and memory.
class Lane {
 public:
  explicit Lane(ICudaEngine& engine)
      : engine_(engine),
        device_(engine.getDevice()),
        stream_(device_ ? device_->createStream() : nullptr),
        x_(device_, kMostImages * kImage),
        y_(device_, kMostImages * kClasses),
        result_(kMostImages * kClasses) {
    renew();
  }
  ~Lane() {
    wait();
    context_.reset();
    if (device_) device_->destroyStream(stream_);
  }

  void renew() {
    context_.reset();
    context_ = owned(engine_.createExecutionContext());
    require(context_->setTensorAddress("x", x_.data()), "setTensorAddress");
    require(context_->setTensorAddress("y", y_.data()), "setTensorAddress");
  }

  void start(const std::vector<float>& images, int64_t batch) {
    batch_ = batch;
    std::fill(result_.begin(), result_.end(), NAN);
    x_.copy(x_.data(), images.data(), batch * kImage, stream_);
    require(context_->setInputShape("x", Dims4(batch, kChannels, kSide, kSide)), "setInputShape");
    require(context_->enqueueV3(stream_), "enqueueV3");
    y_.copy(result_.data(), y_.data(), batch * kClasses, stream_);
  }

  void wait() {
    if (device_) require(device_->synchronize(stream_), "synchronize");
  }

  // Images are independent, so that a smaller batch gives the first rows of the largest.
  bool agrees(const std::vector<float>& wanted) const {
    for (int64_t i = 0; i < batch_ * kClasses; ++i)
      if (!(std::fabs(result_[static_cast<size_t>(i)] - wanted[static_cast<size_t>(i)]) <=
            kTolerance))
        return false;
    return true;
  }
  const std::vector<float>& result() const { return result_; }

 private:
  ICudaEngine& engine_;
  IDevice* device_;
  cudaStream_t stream_;
  Buffer x_, y_;
  std::vector<float> result_;
  int64_t batch_ = 0;
  std::unique_ptr<IExecutionContext> context_;
};

struct MemoryUse {
  int64_t hostBytes = 0, deviceBytes = 0;

  static MemoryUse now() {
    MemoryUse use;
    int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages >> pages;  // the second number is what is resident
    use.hostBytes = pages * 4096;
    using MemGetInfo = int (*)(size_t*, size_t*);
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    const auto info =
        driver ? reinterpret_cast<MemGetInfo>(dlsym(driver, "cuMemGetInfo_v2")) : nullptr;
    size_t available = 0, total = 0;
    if (info && info(&available, &total) == 0)
      use.deviceBytes = static_cast<int64_t>(total - available);
    return use;
  }
  // Pools of the driver and of malloc breathe a little.
  bool isAbout(const MemoryUse& other) const {
    constexpr int64_t kBreath = int64_t{64} << 20;
    return std::abs(hostBytes - other.hostBytes) < kBreath &&
           std::abs(deviceBytes - other.deviceBytes) < kBreath;
  }
};

struct Counts {
  std::atomic<int64_t> runs{0}, wrong{0}, failures{0};
};

void work(ICudaEngine& engine, const std::vector<float>& images, const std::vector<float>& wanted,
          int contexts, unsigned seed, std::chrono::steady_clock::time_point end, Counts& counts) {
  try {
    std::mt19937 random(seed);
    std::vector<std::unique_ptr<Lane>> lanes;
    for (int i = 0; i < contexts; ++i) lanes.push_back(std::make_unique<Lane>(engine));
    while (std::chrono::steady_clock::now() < end) {
      for (auto& lane : lanes) {
        if (random() % kNewContextEvery == 0) lane->renew();
        lane->start(images, kBatches[random() % std::size(kBatches)]);
      }
      for (auto& lane : lanes) {
        lane->wait();
        ++counts.runs;
        if (!lane->agrees(wanted)) ++counts.wrong;
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "thread %u: %s\n", seed, error.what());
    ++counts.failures;
  }
}

std::vector<float> resultOf(ICudaEngine& engine, const std::vector<float>& images) {
  Lane lane(engine);
  lane.start(images, kMostImages);
  lane.wait();
  return lane.result();
}

int run(double seconds, int threadCount, int contexts) {
  const auto runtime = owned(createInferRuntime(logger));
  runtime->setMaxThreads(1);
  const std::vector<char> cpuBytes = buildEngine(DeviceType::kCPU),
                          bytes = buildEngine(DeviceType::kGPU);
  const auto cpu = owned(runtime->deserializeCudaEngine(cpuBytes.data(), cpuBytes.size()));
  const auto engine = owned(runtime->deserializeCudaEngine(bytes.data(), bytes.size()));
  const std::vector<float> images = randomValues(kMostImages * kImage, 4, 1);
  const std::vector<float> wanted = resultOf(*cpu, images);

  Counts counts;
  const auto start = std::chrono::steady_clock::now();
  const auto after = [&](double part) {
    return start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                       std::chrono::duration<double>(part * seconds));
  };
  const auto end = after(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < threadCount; ++i)
    threads.emplace_back(
        [&, i] { work(*engine, images, wanted, contexts, static_cast<unsigned>(i), end, counts); });
  std::this_thread::sleep_until(after(0.25));
  const MemoryUse early = MemoryUse::now();
  std::this_thread::sleep_until(after(0.95));
  const MemoryUse late = MemoryUse::now();
  for (std::thread& thread : threads) thread.join();
  for (const auto& [when, use] : {std::pair("a quarter", early), std::pair("the end", late)})
    std::printf("memory at %s: host %lld MB, GPU %lld MB\n", when,
                static_cast<long long>(use.hostBytes >> 20),
                static_cast<long long>(use.deviceBytes >> 20));
  std::printf("%s: %d threads x %d contexts, %lld runs, %lld wrong, %lld threads failed\n",
              engine->getDevice() ? engine->getDevice()->getName() : "CPU", threadCount, contexts,
              static_cast<long long>(counts.runs), static_cast<long long>(counts.wrong),
              static_cast<long long>(counts.failures));
  const bool isRight = counts.runs > 0 && counts.wrong == 0 && counts.failures == 0;
  return isRight && late.isAbout(early) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? std::atof(argv[1]) : 60, argc > 2 ? std::atoi(argv[2]) : 8,
               argc > 3 ? std::atoi(argv[3]) : 8);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_stress: %s\n", error.what());
    return 1;
  }
}
