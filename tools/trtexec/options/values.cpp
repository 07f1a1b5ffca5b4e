#include "values.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <sstream>

namespace trtexec {

using namespace nvinfer1;

const Words<DataType> kTypeWords = {{"fp32", DataType::kFLOAT},  {"fp16", DataType::kHALF},
                                    {"bf16", DataType::kBF16},   {"int8", DataType::kINT8},
                                    {"int32", DataType::kINT32}, {"int64", DataType::kINT64},
                                    {"uint8", DataType::kUINT8}, {"bool", DataType::kBOOL},
                                    {"fp8", DataType::kFP8},     {"int4", DataType::kINT4}};

const Words<TensorFormat> kFormatWords = {
    {"chw", TensorFormat::kLINEAR},       {"chw2", TensorFormat::kCHW2},
    {"chw4", TensorFormat::kCHW4},        {"chw16", TensorFormat::kCHW16},
    {"chw32", TensorFormat::kCHW32},      {"hwc", TensorFormat::kHWC},
    {"hwc8", TensorFormat::kHWC8},        {"hwc16", TensorFormat::kHWC16},
    {"dhwc", TensorFormat::kDHWC},        {"dhwc8", TensorFormat::kDHWC8},
    {"cdhw32", TensorFormat::kCDHW32},    {"dla_linear", TensorFormat::kDLA_LINEAR},
    {"dla_hwc4", TensorFormat::kDLA_HWC4}};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

std::string listed(const std::vector<std::string_view>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + std::string(words[i]);
  return text;
}

namespace {

size_t editDistance(const std::string& a, const std::string& b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (lower(a[i - 1]) != lower(b[j - 1]) ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(const std::string& unknown, const std::vector<std::string>& words) {
  constexpr size_t kLongest = 100;  // nobody mistypes more
  std::string best;
  // They have at least a letter in common.
  size_t bestDistance = std::min(std::max<size_t>(3, unknown.size() / 2), unknown.size());
  if (unknown.size() > kLongest) return best;
  for (const std::string& word : words) {
    const size_t distance = editDistance(unknown, word);
    if (distance >= bestDistance) continue;
    best = word;
    bestDistance = distance;
  }
  return best;
}

void failWord(const std::string& flag, const std::string& word,
              const std::vector<std::string_view>& known) {
  throw std::runtime_error(flag + " takes " + listed(known) + ", not '" + word + "'");
}

namespace {

using Pair = std::pair<std::string, std::string>;

// "name:value,'other:0':value": a quoted name may hold commas and colons.
std::vector<Pair> parsePairs(const std::string& flag, const std::string& text,
                             const std::string& form, bool mayBeEmpty = false) {
  std::vector<Pair> pairs;
  for (size_t begin = 0; begin < text.size();) {
    size_t nameEnd, valueBegin, end;
    const bool isQuoted = text[begin] == '\'';
    if (isQuoted) {
      nameEnd = text.find('\'', begin + 1);
      valueBegin = nameEnd == std::string::npos ? nameEnd : text.find(':', nameEnd);
      end = std::min(text.find(',', std::min(nameEnd, text.size())), text.size());
    } else {
      end = std::min(text.find(',', begin), text.size());
      nameEnd = valueBegin = end == begin ? std::string::npos : text.rfind(':', end - 1);
    }
    const std::string item = text.substr(begin, end - begin);
    const size_t nameBegin = begin + (isQuoted ? 1 : 0);
    begin = end + 1;
    if (item.empty()) continue;
    const bool isWhole = nameEnd != std::string::npos && nameEnd > nameBegin && valueBegin < end &&
                         valueBegin >= nameEnd && (mayBeEmpty || valueBegin + 1 < end);
    if (!isWhole) throw std::runtime_error(flag + ": '" + item + "' is not " + form);
    pairs.emplace_back(text.substr(nameBegin, nameEnd - nameBegin),
                       text.substr(valueBegin + 1, end - valueBegin - 1));
  }
  return pairs;
}

int64_t parseDimension(const std::string& flag, const Pair& pair, const std::string& text) {
  try {
    return parseNumber<int64_t>(flag, text, 0, std::numeric_limits<int64_t>::max());
  } catch (const std::runtime_error&) {
    throw std::runtime_error(flag + ": '" + text + "' in '" + pair.first + ":" + pair.second +
                             "' is not a size");
  }
}

// Bytes from "512", "0.25M" or "2G"; nothing where it is no size.
std::optional<double> parseBytes(std::string text, double unitless) {
  constexpr double kMost = 1ULL << 50;  // a pebibyte
  static const std::map<char, double> kUnits = {
      {'B', 1}, {'K', 1 << 10}, {'M', 1 << 20}, {'G', 1 << 30}};
  double unit = unitless;
  if (!text.empty()) {
    const auto letter = static_cast<char>(std::toupper(static_cast<unsigned char>(text.back())));
    if (const auto known = kUnits.find(letter); known != kUnits.end()) {
      unit = known->second;
      text.pop_back();
    }
  }
  try {
    const double bytes = parseNumber<double>("", text, 0, kMost) * unit;
    return bytes <= kMost ? std::optional(bytes) : std::nullopt;
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

}  // namespace

ShapesByName parseShapes(const std::string& flag, const std::string& text) {
  ShapesByName shapes;
  for (const Pair& pair : parsePairs(flag, text, "name:1x3x224x224", true)) {
    std::vector<int64_t> dims;
    if (pair.second != "scalar")
      for (const std::string& size : split(pair.second, 'x'))
        dims.push_back(parseDimension(flag, pair, size));
    if (dims.size() > static_cast<size_t>(Dims::MAX_DIMS))
      throw std::runtime_error(flag + " gives '" + pair.first + "' more than 8 dimensions");
    shapes.set(pair.first, std::move(dims));
  }
  return shapes;
}

FilesByName parseFiles(const std::string& flag, const std::string& text) {
  FilesByName files;
  for (auto& [name, file] : parsePairs(flag, text, "name:file")) files[name] = file;
  return files;
}

ByName<DataType> parseLayerTypes(const std::string& flag, const std::string& text) {
  ByName<DataType> types;
  for (const auto& [layer, type] : parsePairs(flag, text, "layer:type"))
    types.set(layer, parseWord(flag, type, kTypeWords));
  return types;
}

ByName<std::vector<DataType>> parseOutputTypes(const std::string& flag, const std::string& text) {
  ByName<std::vector<DataType>> types;
  for (const auto& [layer, list] : parsePairs(flag, text, "layer:type")) {
    std::vector<DataType> own;
    for (const std::string& type : split(list, '+'))
      own.push_back(parseWord(flag, type, kTypeWords));
    if (own.empty()) throw std::runtime_error(flag + " gives '" + layer + "' no type");
    types.set(layer, std::move(own));
  }
  return types;
}

ByName<DeviceType> parseLayerDevices(const std::string& flag, const std::string& text) {
  ByName<DeviceType> devices;
  for (const auto& [layer, device] : parsePairs(flag, text, "layer:device"))
    devices.set(layer, parseWord<DeviceType>(
                           flag, device, {{"GPU", DeviceType::kGPU}, {"DLA", DeviceType::kDLA}}));
  return devices;
}

std::vector<IoFormat> parseFormats(const std::string& flag, const std::string& text) {
  std::vector<IoFormat> list;
  for (const std::string& item : split(text, ',')) {
    IoFormat format;
    const size_t colon = item.find(':');
    if (colon != std::string::npos)
      format.type = parseWord(flag, item.substr(0, colon), kTypeWords);
    const size_t formats = colon == std::string::npos ? 0 : colon + 1;
    for (const std::string& word : split(item.substr(formats), '+'))
      format.formats |= 1u << static_cast<uint32_t>(parseWord(flag, word, kFormatWords));
    if (format.formats == 0)
      throw std::runtime_error(flag + ": '" + item + "' is not type:format such as fp16:chw");
    list.push_back(format);
  }
  return list;
}

std::map<MemoryPoolType, size_t> parsePools(const std::string& flag, const std::string& text) {
  constexpr double kMiB = 1 << 20;
  std::map<MemoryPoolType, size_t> pools;
  for (const auto& [name, size] : parsePairs(flag, text, "pool:size such as workspace:512", true)) {
    const auto pool =
        parseWord<MemoryPoolType>(flag, name,
                                  {{"workspace", MemoryPoolType::kWORKSPACE},
                                   {"tacticSharedMem", MemoryPoolType::kTACTIC_SHARED_MEMORY},
                                   {"dlaSRAM", MemoryPoolType::kDLA_MANAGED_SRAM},
                                   {"dlaLocalDRAM", MemoryPoolType::kDLA_LOCAL_DRAM},
                                   {"dlaGlobalDRAM", MemoryPoolType::kDLA_GLOBAL_DRAM}});
    const std::optional<double> bytes = parseBytes(size, kMiB);
    if (!bytes)
      throw std::runtime_error(flag + ": '" + size + "' in '" + name + ":" + size +
                               "' is not a size such as 512 (MiB), 512M or 2G");
    pools[pool] = static_cast<size_t>(*bytes);
  }
  return pools;
}

WeightBudget parseWeightBudget(const std::string& flag, const std::string& text) {
  using Kind = WeightBudget::Kind;
  if (text == "-2") return {Kind::kAll, 0};
  if (text == "-1") return {Kind::kAutomatic, 0};
  if (text.ends_with('%'))
    return {Kind::kPercent, parseNumber<double>(flag, text.substr(0, text.size() - 1), 0, 100)};
  const bool hasUnit = !text.empty() && !std::isdigit(static_cast<unsigned char>(text.back()));
  const std::optional<double> bytes = hasUnit ? parseBytes(text, 1) : std::nullopt;
  if (bytes) return {Kind::kBytes, *bytes};
  if (parseBytes(text, 1))
    throw std::runtime_error(flag + "=" + text + " lacks a unit: write " + text + "% or " + text +
                             "M (B, K, M or G)");
  throw std::runtime_error(flag +
                           " takes -2 (all weights), -1 (automatic), a share such as 30% or " +
                           "a size such as 512M, not '" + text + "'");
}

}  // namespace trtexec
