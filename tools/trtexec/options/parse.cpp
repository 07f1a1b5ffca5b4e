// The command line against the tables of flags.
#include <algorithm>
#include <set>

#include "flag.h"

namespace trtexec {
namespace {

struct FlagGroup {
  const char* title;
  std::vector<Flag> flags;
};

std::vector<FlagGroup> allFlags(Options& options, bool& wantsHelp) {
  using List = std::vector<Flag>;
  const auto join = [](List a, const List& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  const auto of = [&](Group group, const List& available) {
    return join(available, unavailableFlags(group, options));
  };
  return {{"Model Options", of(Group::kModel, modelFlags(options))},
          {"Build Options", of(Group::kBuild, join(engineFlags(options), buildFlags(options)))},
          {"Inference Options", of(Group::kInference, inferenceFlags(options))},
          {"Tuning Options", of(Group::kTuning, tuningFlags(options))},
          {"Reporting Options", of(Group::kReporting, reportingFlags(options))},
          {"System Options", of(Group::kSystem, systemFlags(options))},
          {"Help", {{{"help", "h"}, "", "Print this text", turnsOn(wantsHelp)}}}};
}

// Flags that were given, one after the other.
class Parser {
 public:
  Parser(const std::vector<FlagGroup>& groups, std::vector<std::string>& mistakes)
      : groups_(groups), mistakes_(mistakes) {}

  void parse(const std::vector<std::string>& args) {
    for (size_t i = 0; i < args.size(); ++i) {
      // "--flag=value" or "--flag value"
      const size_t equals = args[i].find('=');
      const std::string given = args[i].substr(0, equals);
      const Flag* flag = find(given);
      if (!flag) {
        mistakes_.push_back(unknown(args[i], given));
        continue;
      }
      const bool hasOwn = equals != std::string::npos;
      const bool isNext =
          !hasOwn && flag->needsValue() && i + 1 < args.size() && !args[i + 1].starts_with("--");
      if (isNext) ++i;
      take(*flag, given, hasOwn || isNext,
           hasOwn   ? args[i].substr(equals + 1)
           : isNext ? args[i]
                    : "");
    }
  }

 private:
  static std::string nameOf(const std::string& given) {
    return given.starts_with("--") ? given.substr(2) : given == "-h" ? "h" : "";
  }

  const Flag* find(const std::string& given) const {
    for (const FlagGroup& group : groups_)
      for (const Flag& flag : group.flags)
        if (std::find(flag.names.begin(), flag.names.end(), nameOf(given)) != flag.names.end())
          return &flag;
    return nullptr;
  }

  std::string unknown(const std::string& arg, const std::string& given) const {
    std::vector<std::string> names;
    for (const FlagGroup& group : groups_)
      for (const Flag& flag : group.flags)
        names.insert(names.end(), flag.names.begin(), flag.names.end());
    const size_t begin = std::min(given.find_first_not_of('-'), given.size());
    const std::string suggestion = nearest(given.substr(begin), names);
    return "unknown option '" + (given.empty() ? arg : given) + "'" +
           (suggestion.empty() ? "; see --help" : "; did you mean --" + suggestion + "?");
  }

  void take(const Flag& flag, const std::string& given, bool hasValue, const std::string& value) {
    if (!taken_.insert(&flag).second && !flag.isRepeatable)
      return mistakes_.push_back(given + " is given twice; give it once");
    if (hasValue && !flag.takesValue())
      return mistakes_.push_back(given + " takes no value, and '" + value + "' is given");
    if (flag.needsValue() && value.empty())
      return mistakes_.push_back(given + " needs a value: " + given + "=" + flag.value);
    try {
      flag.set(given, value);
    } catch (const std::runtime_error& mistake) {
      mistakes_.emplace_back(mistake.what());
    }
  }

  const std::vector<FlagGroup>& groups_;
  std::vector<std::string>& mistakes_;
  std::set<const Flag*> taken_;
};

// What is left out of a profile is taken from what is given.
void completeProfile(ProfileShapes& profile) {
  const ShapesByName given = !profile.opt.empty()   ? profile.opt
                             : !profile.max.empty() ? profile.max
                                                    : profile.min;
  for (ShapesByName* part : {&profile.min, &profile.opt, &profile.max})
    for (const auto& [name, dims] : given)
      if (!part->find(name)) part->set(name, dims);
}

// What flags mean together; throws where they contradict each other.
void settle(Options& options) {
  BuildOptions& build = options.build;
  InferenceOptions& inference = options.inference;
  const auto demand = [](bool holds, const char* otherwise) {
    if (!holds) throw std::runtime_error(otherwise);
  };
  const bool hasModel = !options.model.onnx.empty(), hasEngine = !build.loadEngine.empty();
  demand(hasModel || hasEngine || build.showBuildRoutes,
         "give a model with --onnx=FILE or an engine with --loadEngine=FILE");
  demand(!hasModel || !hasEngine, "--onnx and --loadEngine exclude each other");
  demand(hasEngine || !build.getPlanVersionOnly,
         "--getPlanVersionOnly needs the file: --loadEngine=FILE");
  demand(!inference.includeDataTransfers || !inference.noDataTransfers,
         "--includeDataTransfers and --noDataTransfers exclude each other");
  inference.pairs.try_emplace(0);
  const bool hasOutputs =
      std::any_of(inference.pairs.begin(), inference.pairs.end(),
                  [](const auto& entry) { return !entry.second.outputs.empty(); });
  demand(hasOutputs || !inference.lossThreshold,
         "--accuracyThreshold needs outputs to compare with: --loadRefOutputs=name:file");

  for (auto& [number, profile] : build.profiles) completeProfile(profile);
  if (build.profiles.empty() && !inference.shapes.empty())
    build.profiles[0] = {inference.shapes, inference.shapes, inference.shapes};
}

// Words in lines of `width` characters.
std::vector<std::string> wrapped(const std::string& text, size_t width) {
  std::vector<std::string> lines(1);
  for (const std::string& word : split(text, ' ')) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

}  // namespace

std::string commandLineOf(int argc, const char* const* argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += std::string(i ? " " : "") + argv[i];
  return line;
}

ParseResult parseOptions(int argc, const char* const* argv, Options& options,
                         std::vector<std::string>& mistakes) {
  bool wantsHelp = false;
  const std::vector<FlagGroup> groups = allFlags(options, wantsHelp);
  Parser(groups, mistakes).parse({argv + std::min(argc, 1), argv + argc});
  if (wantsHelp) return ParseResult::kHelp;
  try {
    if (mistakes.empty()) settle(options);
  } catch (const std::runtime_error& mistake) {
    mistakes.emplace_back(mistake.what());
  }
  return mistakes.empty() ? ParseResult::kRun : ParseResult::kError;
}

std::string helpText() {
  constexpr size_t kColumn = 36, kWidth = 100;
  Options unused;
  bool wantsHelp = false;
  std::string text = "trtexec builds an engine from an ONNX model, or loads one, and times it.\n";
  for (const FlagGroup& group : allFlags(unused, wantsHelp)) {
    text += "\n=== " + std::string(group.title) + " ===\n";
    for (const Flag& flag : group.flags) {
      std::string head = " ";
      for (const std::string& name : flag.names)
        head += (&name == flag.names.data() ? " " : ", ") +
                std::string(name.size() == 1 ? "-" : "--") + name;
      if (flag.takesValue()) head += (flag.needsValue() ? "=" : "") + flag.value;
      if (head.size() >= kColumn) {
        text += head + "\n";
        head.clear();
      }
      for (const std::string& line : wrapped(flag.help, kWidth - kColumn)) {
        text += head + std::string(kColumn - head.size(), ' ') + line + "\n";
        head.clear();
      }
    }
  }
  return text;
}

}  // namespace trtexec
