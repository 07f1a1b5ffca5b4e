#include "compiler/plugin_record.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <sstream>

#include "support/error.h"
#include "support/hash.h"

namespace camshaft {
namespace {

// Questions and answers are lines of text.

std::string textOf(std::span<const Dim> dims) {
  std::string text;
  for (const Dim& dim : dims) text += str("\n", toString(dim));
  return text;
}

std::string textOf(const TensorType& type) {
  return str("\n", type.type, " ", type.shape.size(), textOf(type.shape));
}

std::string inferQuestion(std::span<const TensorType> inputs, std::span<const Shape> sizes) {
  std::string text = "infer";
  for (const TensorType& input : inputs) text += textOf(input);
  for (const Shape& list : sizes) text += str("\nsizes", textOf(list));
  return text;
}

std::string tensorsQuestion(std::string_view what, const PluginTensors& tensors) {
  std::string text(what);
  for (const auto* list : {&tensors.inputs, &tensors.outputs})
    for (const PluginTensor& tensor : *list)
      text += str(list == &tensors.inputs ? "\nin" : "\nout", textOf(tensor.type), "\n",
                  join(tensor.min, " "), "\n", join(tensor.opt, " "), "\n", join(tensor.max, " "));
  return text;
}

std::string textOf(const PluginResults& results) {
  std::string text = str(results.outputs.size(), " ", results.sizes.size());
  for (const TensorType& output : results.outputs) text += textOf(output);
  for (const PluginSize& size : results.sizes)
    text += str("\n", size.output, "\n", toString(size.symbol), "\n", toString(size.upper));
  return text;
}

// Lines of a record that a file may hold damaged.
class Lines {
 public:
  explicit Lines(const std::string& text) : stream_(text) {}

  std::string line() {
    std::string text;
    if (!std::getline(stream_, text)) damaged();
    return text;
  }
  // The numbers of a line.
  std::vector<int64_t> numbers(size_t count) {
    std::istringstream words(line());
    std::vector<int64_t> numbers(count);
    for (int64_t& number : numbers)
      if (!(words >> number)) damaged();
    return numbers;
  }
  Dim dim() { return parseDim(line()); }
  TensorType type() {
    constexpr size_t kMostRank = 64;
    std::istringstream words(line());
    std::string name;
    size_t rank = 0;
    if (!(words >> name >> rank) || rank > kMostRank) damaged();
    const auto type = parseDataType(name);
    if (!type) damaged();
    TensorType result{*type, {}};
    for (size_t i = 0; i < rank; ++i) result.shape.push_back(dim());
    return result;
  }
  [[noreturn]] static void damaged() {
    fail(ErrorKind::kInvalidEngine, "what the engine's record says of a plugin is damaged");
  }

 private:
  std::istringstream stream_;
};

PluginResults parseResults(const std::string& text) {
  constexpr int64_t kMost = 1 << 12;
  Lines lines(text);
  const std::vector<int64_t> counts = lines.numbers(2);
  if (std::ranges::any_of(counts, [](int64_t count) { return count < 0 || count > kMost; }))
    Lines::damaged();
  PluginResults results;
  for (int64_t i = 0; i < counts[0]; ++i) results.outputs.push_back(lines.type());
  for (int64_t i = 0; i < counts[1]; ++i) {
    const auto output = static_cast<int>(lines.numbers(1)[0]);
    Dim symbol = lines.dim();
    results.sizes.push_back({output, std::move(symbol), lines.dim()});
  }
  return results;
}

uint64_t hashOf(std::span<const std::byte> params) { return Hasher().update(params).digest(); }

class RecordingPlugin final : public PluginOp {
 public:
  RecordingPlugin(std::shared_ptr<const PluginOp> plugin, PluginRecord& record)
      : plugin_(std::move(plugin)), record_(record) {
    record_.label = plugin_->label();
  }

  const std::string& label() const override { return plugin_->label(); }
  PluginResults infer(std::span<const TensorType> inputs,
                      std::span<const Shape> sizes) const override {
    PluginResults results = plugin_->infer(inputs, sizes);
    note(inferQuestion(inputs, sizes), textOf(results));
    return results;
  }
  std::string whyNot(const PluginTensors& tensors) const override {
    std::string reason = plugin_->whyNot(tensors);
    note(tensorsQuestion("why not", tensors), reason);
    return reason;
  }
  std::vector<int32_t> tactics(const PluginTensors& tensors) const override {
    std::vector<int32_t> tactics = plugin_->tactics(tensors);
    note(tensorsQuestion("tactics", tensors), join(tactics, " "));
    return tactics;
  }
  PluginConfiguration configure(const PluginTensors& tensors, int32_t tactic) const override {
    PluginConfiguration made = plugin_->configure(tensors, tactic);
    note(tensorsQuestion(str("configure ", tactic), tensors),
         str(hashOf(made.params), "\n", made.workspaceBytes));
    return made;
  }

 private:
  // Kernels are prepared by several threads. Of two answers to one question the later counts.
  void note(std::string question, std::string answer) const {
    const std::lock_guard lock(mutex_);
    record_.answers.insert_or_assign(std::move(question), std::move(answer));
  }

  std::shared_ptr<const PluginOp> plugin_;
  PluginRecord& record_;
  mutable std::mutex mutex_;
};

class RecordedPlugin final : public PluginOp {
 public:
  RecordedPlugin(PluginRecord record, PluginParamsByHash params)
      : record_(std::move(record)), params_(std::move(params)) {}

  const std::string& label() const override { return record_.label; }
  PluginResults infer(std::span<const TensorType> inputs,
                      std::span<const Shape> sizes) const override {
    return parseResults(answerTo(inferQuestion(inputs, sizes)));
  }
  std::string whyNot(const PluginTensors& tensors) const override {
    return answerTo(tensorsQuestion("why not", tensors));
  }
  std::vector<int32_t> tactics(const PluginTensors& tensors) const override {
    std::istringstream words(answerTo(tensorsQuestion("tactics", tensors)));
    return {std::istream_iterator<int32_t>(words), {}};
  }
  PluginConfiguration configure(const PluginTensors& tensors, int32_t tactic) const override {
    std::istringstream words(answerTo(tensorsQuestion(str("configure ", tactic), tensors)));
    uint64_t hash = 0;
    PluginConfiguration made;
    if (!(words >> hash >> made.workspaceBytes)) Lines::damaged();
    const auto params = params_.find(hash);
    if (params == params_.end()) Lines::damaged();
    made.params.assign(params->second.begin(), params->second.end());
    return made;
  }

 private:
  const std::string& answerTo(const std::string& question) const {
    const auto answer = record_.answers.find(question);
    if (answer == record_.answers.end())
      fail(ErrorKind::kUnsupported, "plugin '", record_.label,
           "' would see other tensors than those it was built for");
    return answer->second;
  }

  PluginRecord record_;
  PluginParamsByHash params_;
};

void collectParams(const Plan& plan, PluginParamsByHash& params) {
  for (const ProfilePlan& profile : plan.profiles)
    for (const Step& step : profile.steps)
      if (step.kernel.ends_with("/plugin")) params.emplace(hashOf(step.params), step.params);
  for (const std::shared_ptr<Plan>& body : plan.bodies) collectParams(*body, params);
}

}  // namespace

std::shared_ptr<const PluginOp> recordingPlugin(std::shared_ptr<const PluginOp> plugin,
                                                PluginRecord& record) {
  return std::make_shared<RecordingPlugin>(std::move(plugin), record);
}

PluginParamsByHash pluginParamsOf(const Plan& plan) {
  PluginParamsByHash params;
  collectParams(plan, params);
  return params;
}

std::shared_ptr<const PluginOp> recordedPlugin(PluginRecord record, PluginParamsByHash params) {
  return std::make_shared<RecordedPlugin>(std::move(record), std::move(params));
}

}  // namespace camshaft
