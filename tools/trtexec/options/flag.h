// One flag of the command line, and the tables of them all.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "options.h"
#include "values.h"

namespace trtexec {

using Setter = std::function<void(const std::string& flag, const std::string& value)>;

struct Flag {
  std::vector<std::string> names;  // all of them mean the same; --help explains the first
  std::string
      value;  // what --help calls it: empty for a switch, "[=KNOB]" where it may be left out
  std::string help;
  Setter set;
  bool isRepeatable = false;

  bool takesValue() const { return !value.empty(); }
  bool needsValue() const { return takesValue() && value[0] != '['; }
};

// As TensorRT groups its help.
enum class Group { kModel, kBuild, kInference, kTuning, kReporting, kSystem };

// Flags that do something, each in the file of its name. They write into `options`.
std::vector<Flag> modelFlags(Options& options);
std::vector<Flag> buildFlags(Options& options);
std::vector<Flag> engineFlags(Options& options);  // of builds too: what an engine is to be
std::vector<Flag> inferenceFlags(Options& options);
std::vector<Flag> tuningFlags(Options& options);
std::vector<Flag> reportingFlags(Options& options);
std::vector<Flag> systemFlags(Options& options);
// Flags that have no effect, or are refused (unavailable_flags.cpp).
std::vector<Flag> unavailableFlags(Group group, Options& options);

// What a flag without an effect says.
std::string noEffect(const std::string& flag, const std::string& reason);

// Setters: what most flags do with their value.

inline Setter turnsOn(bool& target) {
  return [&target](const std::string&, const std::string&) { target = true; };
}

inline Setter stores(std::string& target) {
  return [&target](const std::string&, const std::string& value) { target = value; };
}

// The names between commas.
inline Setter storesNames(std::vector<std::string>& target) {
  return [&target](const std::string&, const std::string& value) { target = split(value, ','); };
}

inline Setter appends(std::vector<std::string>& target) {
  return [&target](const std::string&, const std::string& value) { target.push_back(value); };
}

// A number within limits.
template <class T, class Target>
Setter storesNumber(Target& target, T least, T most) {
  return [&target, least, most](const std::string& flag, const std::string& value) {
    target = parseNumber<T>(flag, value, least, most);
  };
}

// One of a few words.
template <class T, class Target>
Setter storesWord(Target& target, Words<T> words) {
  return [&target, words = std::move(words)](const std::string& flag, const std::string& value) {
    target = parseWord<T>(flag, value, words);
  };
}

inline Setter sets(BuildOptions& build, std::vector<nvinfer1::BuilderFlag> flags) {
  return [&build, flags = std::move(flags)](const std::string&, const std::string&) {
    build.flags.insert(build.flags.end(), flags.begin(), flags.end());
  };
}

// For a flag that asks for what is so anyway.
inline Setter changesNothing() {
  return [](const std::string&, const std::string&) {};
}

// What `parse` makes of it.
template <class Target, class Value>
Setter storesParsed(Target& target, Value (*parse)(const std::string&, const std::string&)) {
  return [&target, parse](const std::string& flag, const std::string& value) {
    target = parse(flag, value);
  };
}

}  // namespace trtexec
