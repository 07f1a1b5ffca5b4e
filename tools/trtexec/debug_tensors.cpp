#include "debug_tensors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "elements.h"
#include "files.h"
#include "require.h"
#include "results.h"

namespace trtexec {

using namespace nvinfer1;

namespace {

// NumPy's names of types; empty where it has none.
std::string numpyName(DataType type) {
  switch (type) {
    case DataType::kFLOAT:
      return "<f4";
    case DataType::kHALF:
      return "<f2";
    case DataType::kDOUBLE:
      return "<f8";
    case DataType::kINT8:
      return "|i1";
    case DataType::kUINT8:
      return "|u1";
    case DataType::kBOOL:
      return "|b1";
    case DataType::kINT32:
      return "<i4";
    case DataType::kINT64:
      return "<i8";
    default:
      return "";
  }
}

// The head of a .npy file, format 1.0: 64 bytes or a multiple of them.
std::string numpyHead(DataType type, const Dims& dims) {
  std::string shape;
  for (int32_t i = 0; i < dims.nbDims; ++i) shape += std::to_string(dims.d[i]) + ",";
  std::string text =
      "{'descr': '" + numpyName(type) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr size_t kFixed = 10;
  text.resize((text.size() + 1 + kFixed + 63) / 64 * 64 - kFixed - 1, ' ');
  text += '\n';
  std::string head = "\x93NUMPY\x01";
  head += '\0';
  head += static_cast<char>(text.size() & 0xff);
  head += static_cast<char>(text.size() >> 8);
  return head + text;
}

std::string valuesText(DataType type, const std::string& bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += std::to_string(valueAt(type, bytes.data(), i)) + "\n";
  return text;
}

}  // namespace

DebugTensorWriter::DebugTensorWriter(IDevice* device, const InferenceOptions& inference,
                                     ConsoleLogger& log)
    : device_(device), inference_(inference), log_(log) {}

bool DebugTensorWriter::processDebugTensor(const void* address, TensorLocation location,
                                           DataType type, const Dims& shape, const char* name,
                                           cudaStream_t stream) {
  try {
    Tensor tensor{name, type, shape, std::string(bytesOf(type, shape), '\0')};
    const auto size = static_cast<int64_t>(tensor.bytes.size());
    if (device_ && location == TensorLocation::kDEVICE)
      require(device_->copy(tensor.bytes.data(), address, size, stream) &&
              device_->synchronize(stream));
    else
      std::memcpy(tensor.bytes.data(), address, tensor.bytes.size());
    write(tensor);
    return true;
  } catch (const std::exception& error) {
    if (*error.what()) log_.error(error.what());
    return false;
  }
}

void DebugTensorWriter::write(const Tensor& tensor) {
  if (const auto file = inference_.debugTensorFiles.find(tensor.name);
      file != inference_.debugTensorFiles.end())
    writeFile(file->second, tensor.bytes, log_);
  const size_t count = hasWholeBytes(tensor.type) ? elementsOf(tensor.dims) : 0;
  const std::string file = fileNameOf(tensor.name);
  for (const std::string& format : inference_.debugTensorFormats) {
    if (format == "raw") writeFile(file + ".raw", tensor.bytes, log_);
    if (format == "string")
      writeFile(file + ".str", valuesText(tensor.type, tensor.bytes, count), log_);
    if (format == "summary") summarize(tensor);
    if (format != "numpy") continue;
    if (numpyName(tensor.type).empty())
      log_.warning("NumPy has no type for debug tensor '" + tensor.name + "' of " +
                   nameOf(tensor.type) + "; write it as raw.");
    else
      writeFile(file + ".npy", numpyHead(tensor.type, tensor.dims) + tensor.bytes, log_);
  }
}

void DebugTensorWriter::summarize(const Tensor& tensor) {
  const size_t count = hasWholeBytes(tensor.type) ? elementsOf(tensor.dims) : 0;
  double least = std::numeric_limits<double>::infinity(), most = -least, sum = 0;
  for (size_t i = 0; i < count; ++i) {
    const double value = valueAt(tensor.type, tensor.bytes.data(), i);
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
  }
  nlohmann::ordered_json own = {
      {"name", tensor.name}, {"type", nameOf(tensor.type)}, {"dimensions", textOf(tensor.dims)}};
  if (count > 0)
    own.update({{"min", least}, {"max", most}, {"avg", sum / static_cast<double>(count)}});
  summaries_[tensor.name] = textOf(own);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& [name, text] : summaries_) all.push_back(nlohmann::ordered_json::parse(text));
  writeFile("tensor_summary.json", textOf(all), log_);
}

}  // namespace trtexec
