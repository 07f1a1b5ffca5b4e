// Watches a build, and ends it before it is done: a program with a window shows a bar and a button.
//
//   g++ -std=c++17 progress.cpp -I../../include -L../../build/lib -lcamshaft

#include "sample.h"

using namespace nvinfer1;

// Phases lie inside each other; each counts its own steps. Called from the builder's threads.
class Monitor : public IProgressMonitor {
 public:
  explicit Monitor(int stepsBeforeCancel) : left_(stepsBeforeCancel) {}

  void phaseStart(const char* phase, const char* parent, int32_t steps) noexcept override {
    std::printf("  %s%s%s: %d steps\n", parent ? parent : "", parent ? " > " : "", phase, steps);
  }
  // False asks the build to stop.
  bool stepComplete(const char* /*phase*/, int32_t /*step*/) noexcept override {
    ++steps;
    return left_-- > 0;
  }
  void phaseFinish(const char* phase) noexcept override { std::printf("  %s ended\n", phase); }

  int steps = 0;

 private:
  int left_;
};

int main() {
  Logger logger;
  std::unique_ptr<IBuilder> builder(createInferBuilder(logger));
  std::unique_ptr<INetworkDefinition> network(builder->createNetworkV2(0));
  std::vector<std::vector<float>> weights;
  addPerceptron(*network, weights, 4);
  std::unique_ptr<IBuilderConfig> config(builder->createBuilderConfig());
  config->setDefaultDeviceType(DeviceType::kCPU);

  std::printf("a whole build:\n");
  Monitor patient(1 << 20);
  config->setProgressMonitor(&patient);
  std::unique_ptr<IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
  require(plan != nullptr, "buildSerializedNetwork");
  require(patient.steps > 0, "steps were counted");

  std::printf("one that is ended after its first step:\n");
  Monitor impatient(1);
  config->setProgressMonitor(&impatient);
  plan.reset(builder->buildSerializedNetwork(*network, *config));
  require(plan == nullptr, "a build that was ended gives no plan");
  std::printf("%d steps instead of %d\n", impatient.steps, patient.steps);
}
