// Values of flags: what their text means. All throw std::runtime_error with the flag, the part that
// is wrong and what it should be.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "numbers.h"
#include "options.h"

namespace trtexec {

// Words and what they stand for.
template <class T>
using Words = std::vector<std::pair<std::string_view, T>>;

extern const Words<nvinfer1::DataType> kTypeWords;
extern const Words<nvinfer1::TensorFormat> kFormatWords;

// What is not empty between the separators.
std::vector<std::string> split(const std::string& text, char separator);
// "a, b or c".
std::string listed(const std::vector<std::string_view>& words);
// The word that is spelled most like `unknown`, or none.
std::string nearest(const std::string& unknown, const std::vector<std::string>& words);

[[noreturn]] void failWord(const std::string& flag, const std::string& word,
                           const std::vector<std::string_view>& known);

template <class T>
T parseWord(const std::string& flag, const std::string& word, const Words<T>& words) {
  std::vector<std::string_view> known;
  for (const auto& [own, meaning] : words) {
    if (own == word) return meaning;
    known.push_back(own);
  }
  failWord(flag, word, known);
}

// "+CUDNN,-CUBLAS": what is added and what is taken away.
template <class T>
std::map<T, bool> parseChanges(const std::string& flag, const std::string& text,
                               const Words<T>& words) {
  std::map<T, bool> changes;
  for (const std::string& item : split(text, ',')) {
    if (item[0] != '+' && item[0] != '-')
      throw std::runtime_error(flag + ": '" + item +
                               "' needs a + to add it or a - to leave it out");
    changes[parseWord<T>(flag, item.substr(1), words)] = item[0] == '+';
  }
  return changes;
}

// "x:1x3x224x224,'y:0':4,z:scalar". Names may be quoted and hold one '*'.
ShapesByName parseShapes(const std::string& flag, const std::string& text);
// "name:file,'other:0':file".
FilesByName parseFiles(const std::string& flag, const std::string& text);
// "layer:fp16,conv*:fp32".
ByName<nvinfer1::DataType> parseLayerTypes(const std::string& flag, const std::string& text);
// "layer:fp16+fp32", one type per output.
ByName<std::vector<nvinfer1::DataType>> parseOutputTypes(const std::string& flag,
                                                         const std::string& text);
ByName<nvinfer1::DeviceType> parseLayerDevices(const std::string& flag, const std::string& text);
// "fp16:chw+hwc8,chw", one per tensor.
std::vector<IoFormat> parseFormats(const std::string& flag, const std::string& text);
// "workspace:512,tacticSharedMem:0.25M" in bytes; MiB where there is no unit.
std::map<nvinfer1::MemoryPoolType, size_t> parsePools(const std::string& flag,
                                                      const std::string& text);
// "-2", "-1", "30%" or "512M".
WeightBudget parseWeightBudget(const std::string& flag, const std::string& text);

}  // namespace trtexec
