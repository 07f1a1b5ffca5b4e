// How the memory of a network's inputs and outputs is laid out: TensorFormat.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "NvInferRuntime.h"
#include "ir/graph.h"
#include "plan/plan.h"
#include "plan/profile.h"

namespace camshaft::api {

// What a build does with a tensor whose memory is not linear: the engine's own input or output has
// the shape of that memory, and nodes at the border of the graph lead from one to the other. So the
// compiler and the runtime know row-major tensors only, and passes may cancel a conversion.
//
// Channels are the third dimension from behind, or the fourth where the format has three spatial
// ones. They are stored in vectors, [.., C/v, H, W, v], or last, [.., H, W, C]; in both cases there
// are as many as fill the last vector: those added to an input are ignored, those of an output 0.

// The format of a tensor that may have any of these; throws, naming it, where there is none for a
// tensor of this shape.
nvinfer1::TensorFormat chooseFormat(nvinfer1::TensorFormats allowed, const std::string& name,
                                    const TensorType& type);

// The graph with an input or output stored in that format; linear ones stay as they are.
void storeInput(Graph& graph, size_t index, nvinfer1::TensorFormat format);
void storeOutput(Graph& graph, size_t index, nvinfer1::TensorFormat format);

IoFormat ioFormat(nvinfer1::TensorFormat format, const Shape& shape);
nvinfer1::TensorFormat formatOf(const IoTensor& tensor);

// Dimensions as callers know them, and as they are stored; -1 is unknown in both. storedDims()
// throws where the rank or the number of channels is not the tensor's.
std::vector<int64_t> storedDims(const IoTensor& tensor, const std::vector<int64_t>& dims);
std::vector<int64_t> logicalDims(const IoTensor& tensor, const std::vector<int64_t>& stored);
// In vectors, for each logical dimension.
std::vector<int64_t> stridesOf(const IoTensor& tensor, const std::vector<int64_t>& stored);

int32_t vectorizedDim(const IoTensor& tensor);               // -1: not in vectors
int32_t componentsPerElement(const IoTensor& tensor);        // likewise
std::string formatText(const IoTensor& tensor);              // "Row-major linear FP32 format"
std::string_view formatName(nvinfer1::TensorFormat format);  // "kCHW4"

// What the profile says of an input, for that as it is stored.
void storeProfile(ShapeProfile& profile, const Value& input, nvinfer1::TensorFormat format);

}  // namespace camshaft::api
