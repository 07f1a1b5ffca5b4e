#include "calibration.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string_view>

#include "elements.h"
#include "files.h"

namespace trtexec {
namespace {

using namespace nvinfer1;

class FileCalibrator : public IInt8Calibrator {
 public:
  explicit FileCalibrator(const std::string& file) : cache_(readFile(file)) {
    const std::string_view text(cache_.data(), cache_.size());
    const std::string_view header = text.substr(0, text.find_first_of("\r\n"));
    static constexpr std::pair<std::string_view, CalibrationAlgoType> kAlgorithms[] = {
        {"-LegacyCalibration", CalibrationAlgoType::kLEGACY_CALIBRATION},
        {"-EntropyCalibration", CalibrationAlgoType::kENTROPY_CALIBRATION},
        {"-EntropyCalibration2", CalibrationAlgoType::kENTROPY_CALIBRATION_2},
        {"-MinMaxCalibration", CalibrationAlgoType::kMINMAX_CALIBRATION},
    };
    const auto* known =
        std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms),
                     [&](const auto& named) { return header.ends_with(named.first); });
    if (!header.starts_with("TRT-") || known == std::end(kAlgorithms))
      throw std::runtime_error("--calib=" + file +
                               " is no calibration cache: its first line must be one such as "
                               "TRT-101600-EntropyCalibration2");
    algorithm_ = known->second;
  }
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"IInt8Calibrator", 1, 0}; }
  int32_t getBatchSize() const noexcept override { return 1; }
  bool getBatch(void*[], const char*[], int32_t) noexcept override { return false; }
  const void* readCalibrationCache(std::size_t& length) noexcept override {
    length = cache_.size();
    return cache_.data();
  }
  void writeCalibrationCache(const void*, std::size_t) noexcept override {}
  CalibrationAlgoType getAlgorithm() noexcept override { return algorithm_; }

 private:
  std::vector<char> cache_;
  CalibrationAlgoType algorithm_;
};

// One batch; integers are zeros, which are valid as whatever they mean.
class RandomCalibrator : public IInt8MinMaxCalibrator {
 public:
  void addInput(DataType type, const Dims& dims) {
    const bool isReal =
        type == DataType::kFLOAT || type == DataType::kHALF || type == DataType::kBF16;
    std::vector<char>& data = inputs_.emplace_back(bytesOf(isReal ? DataType::kFLOAT : type, dims));
    if (!isReal) return;
    std::minstd_rand random;
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (size_t i = 0; i + sizeof(float) <= data.size(); i += sizeof(float)) {
      const float value = uniform(random);
      std::memcpy(&data[i], &value, sizeof value);
    }
  }
  int32_t getBatchSize() const noexcept override { return 1; }
  bool getBatch(void* bindings[], const char*[], int32_t count) noexcept override {
    if (isDone_ || count != static_cast<int32_t>(inputs_.size())) return false;
    for (int32_t i = 0; i < count; ++i) bindings[i] = inputs_[static_cast<size_t>(i)].data();
    return isDone_ = true;
  }
  const void* readCalibrationCache(std::size_t& length) noexcept override {
    length = 0;
    return nullptr;
  }
  void writeCalibrationCache(const void*, std::size_t) noexcept override {}

 private:
  std::vector<std::vector<char>> inputs_;
  bool isDone_ = false;
};

bool isQuantised(const INetworkDefinition& network) {
  for (int32_t i = 0; i < network.getNbLayers(); ++i) {
    const LayerType type = network.getLayer(i)->getType();
    if (type == LayerType::kQUANTIZE || type == LayerType::kDEQUANTIZE) return true;
  }
  return false;
}

// The shape that batches have; false: nobody said.
bool findShape(const Options& options, const ITensor& input, Dims& dims) {
  dims = input.getDimensions();
  const auto& profiles = options.build.profiles;
  const ShapesByName* shapes = !options.build.calibrationShapes.opt.empty()
                                   ? &options.build.calibrationShapes.opt
                               : profiles.empty() ? nullptr
                                                  : &profiles.begin()->second.opt;
  if (const auto* sizes = shapes ? shapes->find(input.getName()) : nullptr)
    std::copy(sizes->begin(), sizes->end(), dims.d);
  return std::all_of(dims.d, dims.d + dims.nbDims, [](int64_t size) { return size >= 0; });
}

}  // namespace

std::unique_ptr<IInt8Calibrator> makeCalibrator(const Options& options,
                                                const INetworkDefinition& network,
                                                IBuilderConfig& config) {
  if (!config.getFlag(BuilderFlag::kINT8)) return nullptr;
  std::unique_ptr<IInt8Calibrator> calibrator;
  if (!options.build.calibrationFile.empty()) {
    calibrator = std::make_unique<FileCalibrator>(options.build.calibrationFile);
  } else if (!isQuantised(network)) {
    auto made = std::make_unique<RandomCalibrator>();
    for (int32_t i = 0; i < network.getNbInputs(); ++i) {
      Dims dims;
      const ITensor& input = *network.getInput(i);
      if (!findShape(options, input, dims) || input.isShapeTensor()) return nullptr;
      made->addInput(input.getType(), dims);
    }
    calibrator = std::move(made);
  }
  config.setInt8Calibrator(calibrator.get());
  return calibrator;
}

}  // namespace trtexec
