// A smaller ONNX model that computes the same: import, the passes that keep one node near one of
// ONNX, and the way back.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <unordered_set>

#include "onnx/wire/read_model.h"
#include "slim/report.h"

namespace camshaft {

// A model ready to be written. Holds on to the bytes of the one it was made from.
class SlimModel {
 public:
  SlimModel(SlimModel&&) noexcept;
  ~SlimModel();
  const onnx::Model& model() const;
  const SlimReport& report() const;  // bytes after: once the model was encoded or written
  // Protobuf bytes; throws Error where they would exceed 2 GiB.
  std::string encode();
  // External data beside the file where the model is larger than that.
  void writeFile(const std::filesystem::path& path);

 private:
  friend SlimModel slim(onnx::LoadedModel, const std::unordered_set<std::string>&);
  struct State;
  explicit SlimModel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Opsets, inputs, outputs and metadata stay. Nodes that cannot be imported stay as they are, with
// what they read; throws Error with all reasons when the model's own names or opsets are wrong.
// `outside` are the names of the graphs around it where the model is a body: new
// tensors get none of them.
SlimModel slim(onnx::LoadedModel model, const std::unordered_set<std::string>& outside = {});

}  // namespace camshaft
