#include "quantize/quantize.h"

#include <algorithm>
#include <map>

#include "onnx/import.h"
#include "onnx/wire/tensor.h"
#include "onnx/wire/write_model.h"
#include "quantize/bias.h"
#include "quantize/equalize.h"
#include "quantize/fold_batch_norm.h"
#include "quantize/insert_nbits.h"
#include "quantize/insert_qdq.h"
#include "quantize/moments.h"
#include "quantize/residual.h"
#include "quantize/upgrade.h"
#include "quantize/weights.h"
#include "support/cpu_info.h"

namespace camshaft {

struct QuantizedModel::State {
  explicit State(onnx::LoadedModel model) : editor(std::move(model)) {}
  ModelEditor editor;
  QuantizeReport report;
};

namespace {

using Statistics = std::map<std::string, TensorStatistics, std::less<>>;

constexpr std::string_view kConvolutions[] = {"Conv", "ConvTranspose"};
constexpr std::string_view kMatrixProducts[] = {"Gemm", "MatMul"};

std::string_view formatName(QuantizeFormat format) {
  switch (format) {
    case QuantizeFormat::kInt8:
      return "int8";
    case QuantizeFormat::kFp8:
      return "fp8";
    case QuantizeFormat::kInt4:
      return "int4";
  }
  return "";
}

int64_t opsetFor(QuantizeFormat format) {
  switch (format) {
    case QuantizeFormat::kInt8:
      return 13;  // scales by channel
    case QuantizeFormat::kFp8:
      return 19;
    case QuantizeFormat::kInt4:
      return 21;  // blocks
  }
  return 0;
}

int64_t modelBytes(const onnx::LoadedModel& model) {
  size_t bytes = model.files->model().bytes.size();
  for (const onnx::Tensor& tensor : model.model.graph.initializers)
    if (tensor.external) bytes += onnx::tensorData(tensor, *model.files).bytes.size();
  return static_cast<int64_t>(bytes);
}

class ModelQuantization {
 public:
  ModelQuantization(ModelEditor& editor, QuantizeReport& report, const Samples* samples,
                    const QuantizeOptions& options)
      : editor_(editor), report_(report), options_(options) {
    report_.format = formatName(options.format);
    report_.bytesBefore = modelBytes(editor.loaded());
    if (samples)
      runner_ =
          std::make_unique<SampleRunner>(*samples, inputNames(editor.model()), options.threads);
    else if (quantizesActivations())
      fail(ErrorKind::kInvalidArgument, report_.format,
           " needs calibration data: ranges of tensors come from it");
    report_.samples = runner_ ? runner_->count() : 0;
  }

  void run() {
    prepareModel();
    chooseProducts();
    if (quantizesActivations()) {
      gatherStatistics();
      if (options_.equalize) equalize();
      chooseQuantizers();
    }
    storeWeights();
    describeLayers();
    const onnx::LoadedModel real = editor_.loaded();
    if (options_.correctBias && quantizesActivations()) correctBiases();
    if (writesNBits())
      insertMatMulNBits(editor_, products_, weights_);
    else
      insertQuantization(editor_, products_, residuals_, quantizers_, weights_);
    if (runner_) measure(real);
  }

 private:
  bool quantizesActivations() const { return options_.format != QuantizeFormat::kInt4; }
  bool writesNBits() const {
    return options_.format == QuantizeFormat::kInt4 && options_.matMulNBits;
  }
  DataType activationType() const {
    if (options_.format == QuantizeFormat::kFp8) return DataType::kF8E4M3;
    return options_.unsignedActivations ? DataType::kU8 : DataType::kI8;
  }

  // Import says what is wrong with a model in words, and knows ranks.
  void prepareModel() {
    const Graph graph = onnx::importModel(editor_.loaded());
    std::map<std::string, size_t, std::less<>> ranks;
    for (const Value* value : graph.values()) ranks.emplace(value->name, value->shape().size());
    report_.opsetBefore = opsetOf(editor_.model());
    const int64_t opset = writesNBits() ? report_.opsetBefore : opsetFor(options_.format);
    upgradeOpset(editor_, opset, [&](std::string_view tensor) {
      const auto it = ranks.find(tensor);
      return it == ranks.end() ? std::nullopt : std::optional(it->second);
    });
    report_.opsetAfter = opsetOf(editor_.model());
    report_.foldedBatchNorms = foldBatchNorms(editor_);
  }

  ProductChoice choice() const {
    ProductChoice choice{options_.ops, options_.excludedNodes};
    if (choice.ops.empty()) {
      choice.ops.insert(std::begin(kMatrixProducts), std::end(kMatrixProducts));
      if (quantizesActivations())
        choice.ops.insert(std::begin(kConvolutions), std::end(kConvolutions));
    }
    for (const std::string& op : options_.excludedOps) choice.ops.erase(op);
    if (!quantizesActivations())
      for (const std::string_view op : kConvolutions) choice.ops.erase(std::string(op));
    return choice;
  }

  void chooseProducts() {
    std::set<std::string, std::less<>> names;
    for (const onnx::Node& node : editor_.graph().nodes) names.insert(nameOf(node));
    for (const std::string& excluded : options_.excludedNodes)
      if (!names.contains(excluded))
        fail(ErrorKind::kInvalidArgument, "there is no node '", excluded, "' to exclude");
    products_ = findProducts(editor_, choice(), report_.skipped);
    if (writesNBits())
      std::erase_if(products_, [&](const Product& product) {
        const std::string reason = whyNoMatMulNBits(editor_, product);
        if (!reason.empty()) report_.skipped.push_back({product.name, product.op, reason});
        return !reason.empty();
      });
    requireProducts();
  }

  void requireProducts() const {
    if (products_.empty())
      fail(ErrorKind::kUnsupported, "the model has no ", join(choice().ops, ", "),
           " with constant f32 weights to quantise",
           report_.skipped.empty() ? ""
                                   : str(": ", report_.skipped[0].op, " '", report_.skipped[0].name,
                                         "' is left since ", report_.skipped[0].reason));
  }

  void step(const char* phase, int done) {
    if (options_.progress && !options_.progress(phase, done, runner_ ? runner_->count() : 1))
      fail(ErrorKind::kInvalidArgument, "quantisation was stopped");
  }

  void runAll(const char* phase, ObservedNetwork& network) {
    step(phase, 0);
    for (int sample = 0; sample < runner_->count(); ++sample) {
      runner_->run(network, sample);
      step(phase, sample + 1);
    }
  }

  void gatherStatistics() {
    TensorNames inputs;
    for (const Product& product : products_) {
      inputs.insert(product.input);
      statistics_.try_emplace(product.input, product.isConvolution);
    }
    if (options_.quantizeResiduals) residuals_ = findResiduals(editor_, products_);
    for (const TensorRead& residual : residuals_) {
      inputs.insert(residual.tensor);
      statistics_.try_emplace(residual.tensor, true);
    }
    const auto network = runner_->build(
        editor_.loaded(), inputs,
        [&](const std::string& name, std::span<const int64_t> dims, std::span<const float> values) {
          statistics_.find(name)->second.add(dims, values);
        });
    runAll("ranges", *network);
    // What was never seen lies in a branch that no sample took, or is no tensor of its own here.
    std::erase_if(products_, [&](const Product& product) {
      if (!statistics_.find(product.input)->second.isEmpty()) return false;
      report_.skipped.push_back({product.name, product.op, "no sample showed what it reads"});
      return true;
    });
    std::erase_if(residuals_, [&](const TensorRead& residual) {
      return statistics_.find(residual.tensor)->second.isEmpty();
    });
    report_.residuals = static_cast<int>(residuals_.size());
    requireProducts();
  }

  void equalize() {
    report_.equalized = static_cast<int>(equalizeChannels(editor_, products_, statistics_).size());
    if (report_.equalized == 0) return;
    report_.skipped.clear();
    statistics_.clear();
    chooseProducts();
    gatherStatistics();
  }

  void chooseQuantizers() {
    const DataType type = activationType();
    for (const auto& [tensor, statistics] : statistics_) {
      if (statistics.isEmpty()) continue;
      // Floats have no use for clipping: their steps grow with the numbers.
      const RangeChoice choice =
          type == DataType::kF8E4M3 ? RangeChoice{RangeMethod::kMinMax} : options_.range;
      const Range range = chooseRange(statistics, choice, type != DataType::kU8);
      quantizers_.emplace(tensor, quantizerFor(range, type));
    }
  }

  void storeWeights() {
    const bool byBlock = options_.format == QuantizeFormat::kInt4;
    if (byBlock && runner_ && options_.compensateRounding) return storeCompensating();
    for (const Product& product : products_) {
      if (byBlock) {
        const auto integers =
            roundToNearest(weightMatrix(product), product.rows(), options_.blockSize);
        weights_.push_back(storeBlocks(product, integers, options_.blockSize));
      } else {
        const bool isFp8 = options_.format == QuantizeFormat::kFp8;
        weights_.push_back(storeByChannel(product, isFp8 ? DataType::kF8E4M3 : DataType::kI8));
      }
    }
  }

  // As many products at a time as their moments have room for, each time with a run over the data.
  void storeCompensating() {
    ThreadPool threads(options_.threads > 0 ? options_.threads : usableCores());
    weights_.resize(products_.size());
    for (size_t begin = 0; begin < products_.size();) {
      MomentsGatherer gatherer(threads);
      size_t end = begin;
      for (; end < products_.size() && gatherer.hasRoomFor(products_[end]); ++end)
        gatherer.add(products_[end]);
      const auto network =
          runner_->build(editor_.loaded(), gatherer.tensors(), gatherer.observer());
      runAll("inputs of products", *network);
      for (; begin < end; ++begin) {
        const Product& product = products_[begin];
        const std::vector<float> matrix = weightMatrix(product);
        const auto moments = gatherer.momentsOf(product);
        const auto integers =
            moments.empty()
                ? roundToNearest(matrix, product.rows(), options_.blockSize)
                : roundCompensating(matrix, product.rows(), options_.blockSize, moments, threads);
        weights_[begin] = storeBlocks(product, integers, options_.blockSize);
      }
    }
  }

  void describeLayers() {
    for (const Product& product : products_) {
      QuantizeReport::Layer layer{product.name, product.op, {}, {}, 0, 0, {}};
      if (const auto it = quantizers_.find(product.input); it != quantizers_.end()) {
        layer.input = product.input;
        layer.range = it->second.range();
        layer.scale = it->second.scale;
        layer.clipped = clippedShare(statistics_.find(product.input)->second, layer.range);
      }
      report_.layers.push_back(std::move(layer));
    }
  }

  // Rounding and clipping shift means; what the inputs lose is found by another run.
  void correctBiases() {
    std::map<std::string, TensorStatistics, std::less<>> rounded;
    TensorNames inputs;
    for (const Product& product : products_) {
      rounded.try_emplace(product.input, product.isConvolution);
      inputs.insert(product.input);
    }
    std::vector<float> buffer;
    const auto network = runner_->build(
        editor_.loaded(), inputs,
        [&](const std::string& name, std::span<const int64_t> dims, std::span<const float> values) {
          const Quantizer& quantizer = quantizers_.find(name)->second;
          buffer.resize(values.size());
          std::ranges::transform(values, buffer.begin(),
                                 [&](float value) { return quantizer.rounded(value); });
          rounded.find(name)->second.add(dims, buffer);
        });
    runAll("means", *network);
    for (size_t i = 0; i < products_.size(); ++i) {
      const std::string& input = products_[i].input;
      const std::vector<double> means = statistics_.find(input)->second.channelMeans();
      if (means.size() != static_cast<size_t>(products_[i].inputChannels())) continue;
      std::vector<double> error = meanError(products_[i], weights_[i].rounded, means,
                                            rounded.find(input)->second.channelMeans());
      for (double& each : error) each = -each;
      if (addToBias(editor_, products_[i], error)) ++report_.correctedBiases;
    }
  }

  // Both models on the same data, tensor by tensor.
  void measure(const onnx::LoadedModel& real) {
    TensorNames tensors;
    for (const Product& product : products_) tensors.insert(product.output);
    for (const auto& output : editor_.graph().outputs) tensors.emplace(output.name);
    std::map<std::string, std::vector<float>, std::less<>> expected;
    std::map<std::string, NoiseMeter, std::less<>> meters;
    const auto before = runner_->build(
        real, tensors,
        [&](const std::string& name, std::span<const int64_t>, std::span<const float> values) {
          expected[name].assign(values.begin(), values.end());
        });
    const auto after = runner_->build(
        editor_.loaded(), tensors,
        [&](const std::string& name, std::span<const int64_t>, std::span<const float> values) {
          if (const auto it = expected.find(name); it != expected.end())
            meters[name].add(it->second, values);
        });
    step("errors", 0);
    for (int sample = 0; sample < runner_->count(); ++sample) {
      runner_->run(*before, sample);
      runner_->run(*after, sample);
      step("errors", sample + 1);
    }
    for (size_t i = 0; i < products_.size(); ++i)
      if (const auto it = meters.find(products_[i].output); it != meters.end())
        report_.layers[i].signalToNoise = it->second.decibels();
    for (const auto& output : editor_.graph().outputs)
      if (const auto it = meters.find(output.name); it != meters.end())
        report_.outputs.push_back({std::string(output.name), it->second.decibels()});
  }

  ModelEditor& editor_;
  QuantizeReport& report_;
  const QuantizeOptions& options_;
  std::unique_ptr<SampleRunner> runner_;
  std::vector<Product> products_;
  std::vector<TensorRead> residuals_;
  Statistics statistics_;
  Quantizers quantizers_;
  std::vector<StoredWeights> weights_;
};

}  // namespace

QuantizedModel quantize(onnx::LoadedModel model, const Samples* samples,
                        const QuantizeOptions& options) {
  auto state = std::make_unique<QuantizedModel::State>(std::move(model));
  ModelQuantization(state->editor, state->report, samples, options).run();
  return QuantizedModel(std::move(state));
}

QuantizedModel::QuantizedModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
QuantizedModel::QuantizedModel(QuantizedModel&&) noexcept = default;
QuantizedModel& QuantizedModel::operator=(QuantizedModel&&) noexcept = default;
QuantizedModel::~QuantizedModel() = default;
const onnx::LoadedModel& QuantizedModel::model() const { return state_->editor.loaded(); }
const QuantizeReport& QuantizedModel::report() const { return state_->report; }

std::string QuantizedModel::encode() {
  std::string bytes = onnx::encodeModel(model().model, *model().files);
  state_->report.bytesAfter = static_cast<int64_t>(bytes.size());
  return bytes;
}

void QuantizedModel::writeFile(const std::filesystem::path& path) {
  state_->report.bytesAfter =
      static_cast<int64_t>(onnx::writeModelFile(model().model, *model().files, path));
}

}  // namespace camshaft
