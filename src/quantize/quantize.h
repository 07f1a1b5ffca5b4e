// A model in few bits: the caller's ONNX model with QuantizeLinear and DequantizeLinear nodes
// around its products, for any runtime.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "onnx/wire/read_model.h"
#include "quantize/product.h"
#include "quantize/range.h"
#include "quantize/report.h"
#include "quantize/samples.h"

namespace camshaft {

enum class QuantizeFormat {
  kInt8,  // weights by channel, activations by tensor
  kFp8,   // e4m3, likewise
  kInt4,  // weights of matrix products alone, by block
};

struct QuantizeOptions {
  QuantizeFormat format = QuantizeFormat::kInt8;
  RangeChoice range;
  bool unsignedActivations = false;  // u8 with a zero point, and not i8 around zero
  bool equalize = true;              // channels of a tensor, where that costs nothing
  bool correctBias = true;
  bool quantizeResiduals = true;   // what is added to convolutions
  bool compensateRounding = true;  // of kInt4, where there is data
  int64_t blockSize = 32;          // of kInt4
  bool matMulNBits = false;  // kInt4 as nodes of com.microsoft, and not DequantizeLinear in blocks
  std::set<std::string, std::less<>> ops;  // types to quantise; empty: all that can be
  std::set<std::string, std::less<>> excludedNodes, excludedOps;
  int threads = 0;  // 0: all cores
  QuantizeProgress progress;
};

// A model ready to be written. Holds on to the bytes of the one it was made from.
class QuantizedModel {
 public:
  QuantizedModel(QuantizedModel&&) noexcept;
  QuantizedModel& operator=(QuantizedModel&&) noexcept;
  ~QuantizedModel();
  const onnx::LoadedModel& model() const;
  const QuantizeReport& report() const;
  std::string encode();  // protobuf bytes; throws Error where they would exceed 2 GiB
  void writeFile(const std::filesystem::path& path);  // with external data beside it beyond that

 private:
  friend QuantizedModel quantize(onnx::LoadedModel, const Samples*, const QuantizeOptions&);
  struct State;
  explicit QuantizedModel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// `samples` may be null where only weights become smaller. Throws Error with one sentence where the
// model cannot be run here, has nothing to quantise, or a name to exclude is no node of it.
QuantizedModel quantize(onnx::LoadedModel model, const Samples* samples,
                        const QuantizeOptions& options);

}  // namespace camshaft
