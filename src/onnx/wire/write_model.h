// Writes models as protobuf bytes: what read_model.h reads.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "onnx/wire/external_data.h"
#include "onnx/wire/model.h"

namespace camshaft::onnx {

// Protobuf messages end at 2 GiB; tensors of larger models lie in a file beside them.
inline constexpr size_t kMaxModelBytes = (size_t{1} << 31) - 1;

// The bytes of tensors that lie in the model itself, subgraphs included.
size_t tensorBytes(const Model& model);

// `files` are those of the model the tensors were read from: data outside of it is taken in.
// Throws Error when that makes the model larger than protobuf allows.
std::string encodeModel(const Model& model, const ModelFiles& files);

// Writes the file; models over the limit keep the data of their initializers in `path`.data.
// Returns the bytes written.
size_t writeModelFile(const Model& model, const ModelFiles& files,
                      const std::filesystem::path& path);

}  // namespace camshaft::onnx
