#include "quantize/options.h"

#include <charconv>
#include <utility>
#include <vector>

#include "support/error.h"

namespace camshaft {
namespace {

template <class T>
using Choices = std::initializer_list<std::pair<std::string_view, T>>;

template <class T>
T chosen(std::string_view name, std::string_view value, Choices<T> choices) {
  std::vector<std::string_view> known;
  for (const auto& [text, meaning] : choices) {
    if (text == value) return meaning;
    known.push_back(text);
  }
  fail(ErrorKind::kInvalidArgument, "option ", name, " is one of ", join(known, ", "), ", not '",
       value, "'");
}

bool flag(std::string_view name, std::string_view value) {
  return chosen<bool>(name, value, {{"on", true}, {"off", false}});
}

double number(std::string_view name, std::string_view value, double least, double most) {
  double result = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc() || end != value.data() + value.size() || !(result >= least) ||
      !(result <= most))
    fail(ErrorKind::kInvalidArgument, "option ", name, " is a number from ", least, " to ", most,
         ", not '", value, "'");
  return result;
}

}  // namespace

void setOption(QuantizeOptions& options, std::string_view name, std::string_view value) {
  if (name == "format") {
    options.format = chosen<QuantizeFormat>(name, value,
                                            {{"int8", QuantizeFormat::kInt8},
                                             {"fp8", QuantizeFormat::kFp8},
                                             {"int4", QuantizeFormat::kInt4}});
  } else if (name == "range") {
    options.range.method = chosen<RangeMethod>(name, value,
                                               {{"minmax", RangeMethod::kMinMax},
                                                {"percentile", RangeMethod::kPercentile},
                                                {"entropy", RangeMethod::kEntropy},
                                                {"mse", RangeMethod::kSquaredError}});
  } else if (name == "percentile") {
    options.range.percentile = number(name, value, 50, 100);
  } else if (name == "activations") {
    options.unsignedActivations = chosen<bool>(name, value, {{"int8", false}, {"uint8", true}});
  } else if (name == "equalization") {
    options.equalize = flag(name, value);
  } else if (name == "bias_correction") {
    options.correctBias = flag(name, value);
  } else if (name == "residuals") {
    options.quantizeResiduals = flag(name, value);
  } else if (name == "rounding") {
    options.compensateRounding = chosen<bool>(name, value, {{"nearest", false}, {"gptq", true}});
  } else if (name == "block_size") {
    options.blockSize = static_cast<int64_t>(
        chosen<int>(name, value, {{"16", 16}, {"32", 32}, {"64", 64}, {"128", 128}, {"256", 256}}));
  } else if (name == "int4_nodes") {
    options.matMulNBits = chosen<bool>(name, value, {{"dequantize", false}, {"matmulnbits", true}});
  } else if (name == "op") {
    if (value != "Conv" && value != "ConvTranspose" && value != "Gemm" && value != "MatMul")
      fail(ErrorKind::kInvalidArgument, "operators that can be quantised are Conv, ConvTranspose, ",
           "Gemm and MatMul, not '", value, "'");
    options.ops.emplace(value);
  } else if (name == "exclude") {
    options.excludedNodes.emplace(value);
  } else if (name == "exclude_op") {
    options.excludedOps.emplace(value);
  } else if (name == "threads") {
    options.threads = static_cast<int>(number(name, value, 0, 4096));
  } else {
    fail(ErrorKind::kInvalidArgument, "there is no option '", name, "'");
  }
}

}  // namespace camshaft
