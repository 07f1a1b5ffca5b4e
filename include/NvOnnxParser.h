#pragma once

// Reads an ONNX model into a network.

#include <utility>
#include <vector>

#include "NvInfer.h"

#define NV_ONNX_PARSER_MAJOR 0
#define NV_ONNX_PARSER_MINOR 1
#define NV_ONNX_PARSER_PATCH 0
#define NV_ONNX_PARSER_VERSION \
  (NV_ONNX_PARSER_MAJOR * 10000 + NV_ONNX_PARSER_MINOR * 100 + NV_ONNX_PARSER_PATCH)

// Positions of nodes in the model's graph, and whether they can be parsed.
using SubGraph_t = std::pair<std::vector<size_t>, bool>;
using SubGraphCollection_t = std::vector<SubGraph_t>;

namespace nvonnxparser {

// Number of values in an enumeration whose values are 0 .. n-1.
template <typename Enum>
constexpr int32_t EnumMax() noexcept;

enum class ErrorCode : int {
  kSUCCESS = 0,
  kINTERNAL_ERROR = 1,
  kMEM_ALLOC_FAILED = 2,
  kMODEL_DESERIALIZE_FAILED = 3,
  kINVALID_VALUE = 4,
  kINVALID_GRAPH = 5,
  kINVALID_NODE = 6,
  kUNSUPPORTED_GRAPH = 7,
  kUNSUPPORTED_NODE = 8,
  kUNSUPPORTED_NODE_ATTR = 9,
  kUNSUPPORTED_NODE_INPUT = 10,
  kUNSUPPORTED_NODE_DATATYPE = 11,
  kUNSUPPORTED_NODE_DYNAMIC = 12,
  kUNSUPPORTED_NODE_SHAPE = 13,
  kREFIT_FAILED = 14,
};
template <>
constexpr int32_t EnumMax<ErrorCode>() noexcept {
  return 15;
}

using OnnxParserFlags = uint32_t;

// Bit numbers of OnnxParserFlags. kENABLE_PLUGIN_OVERRIDE lets plugins replace operators of their
// name; the others do nothing: normalisations are always native, and there is no DLA.
enum class OnnxParserFlag : int32_t {
  kNATIVE_INSTANCENORM = 0,
  kENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA = 1,
  kREPORT_CAPABILITY_DLA = 2,
  kENABLE_PLUGIN_OVERRIDE = 3,
  kADJUST_FOR_DLA = 4,
  // Camshaft's own: caches of keys and values that a model grows by Concat, or by Attention's past
  // and present, get a fixed room, the size that profiles give them, and are updated in place. A
  // further input, past_length, an i64 scalar and shape tensor, tells how many rows they hold.
  kCAMSHAFT_FIXED_CACHES = 30,
};
template <>
constexpr int32_t EnumMax<OnnxParserFlag>() noexcept {
  return 5;
}

// One problem of a model. Belongs to its parser and lives as long.
class CAMSHAFT_API IParserError {
 public:
  virtual ErrorCode code() const noexcept = 0;
  // One sentence for the user.
  virtual const char* desc() const noexcept = 0;
  // Empty and 0: messages say what to do, not which line of Camshaft found it.
  virtual const char* file() const noexcept = 0;
  virtual int line() const noexcept = 0;
  virtual const char* func() const noexcept = 0;
  // Index of the ONNX node in its graph, -1 when the problem is not that of a node; its name and
  // operator are then empty.
  virtual int node() const noexcept = 0;
  virtual const char* nodeName() const noexcept = 0;
  virtual const char* nodeOperator() const noexcept = 0;
  // Names of the model-local functions the node lies in, outermost first.
  virtual const char* const* localFunctionStack() const noexcept = 0;
  virtual int32_t localFunctionStackSize() const noexcept = 0;

 protected:
  virtual ~IParserError() = default;
};

// Fills one network; once that has ended, the parser refuses to. One thread at a time uses a
// parser. The network keeps what it needs of the model, so the parser may end before the build.
class CAMSHAFT_API IParser {
 public:
  // Both return false when anything in the model cannot be read. All problems are collected, not
  // only the first: see getError(). The bytes may be freed afterwards. model_path is the file they
  // came from: external data is looked for beside it; null when there is none.
  virtual bool parse(const void* serialized_onnx_model, size_t serialized_onnx_model_size,
                     const char* model_path = nullptr) noexcept = 0;
  // verbosity is there for the signature: the logger decides what to show.
  virtual bool parseFromFile(const char* onnxModelFile, int verbosity) noexcept = 0;
  // Old spellings: supportsModelV2() with its result in a collection, and parse() without a path.
  virtual bool supportsModel(const void* serialized_onnx_model, size_t serialized_onnx_model_size,
                             SubGraphCollection_t& sub_graph_collection,
                             const char* model_path = nullptr) noexcept = 0;
  virtual bool parseWithWeightDescriptors(const void* serialized_onnx_model,
                                          size_t serialized_onnx_model_size) noexcept = 0;

  // Whether the operator, of ONNX's own domain or com.microsoft, is known at all; a node may still
  // be refused for its attributes.
  virtual bool supportsOperator(const char* op_name) const noexcept = 0;

  virtual int getNbErrors() const noexcept = 0;
  // Null when the index is out of range.
  virtual const IParserError* getError(int index) const noexcept = 0;
  virtual void clearErrors() noexcept = 0;

  virtual ~IParser() noexcept = default;

  // Always none: models need no plugin libraries.
  virtual const char* const* getUsedVCPluginLibraries(int64_t& nbPluginLibs) const noexcept = 0;

  virtual void setFlags(OnnxParserFlags onnxParserFlags) noexcept = 0;
  virtual OnnxParserFlags getFlags() const noexcept = 0;
  virtual void clearFlag(OnnxParserFlag onnxParserFlag) noexcept = 0;
  virtual void setFlag(OnnxParserFlag onnxParserFlag) noexcept = 0;
  virtual bool getFlag(OnnxParserFlag onnxParserFlag) const noexcept = 0;

  // Output i of the ONNX node of that name in the model's graph, once it is parsed; null when there
  // is none. A node without a name is called by its operator and first output, "Relu_y".
  virtual const nvinfer1::ITensor* getLayerOutputTensor(const char* name, int64_t i) noexcept = 0;

  // Whether parse() would succeed. The network stays as it is; getError() has what is wrong.
  // Subgraphs are then the runs of nodes between those that cannot be parsed, which are in none,
  // one after the other in an order that computes everything before its use. Those that are not
  // said to be supported were not tried, as what they read is lost: ask again for a model of them.
  // Null bytes, Camshaft's own: the model that loadModelProto() has read, with the initializers
  // that were handed over.
  virtual bool supportsModelV2(const void* serializedOnnxModel, size_t serializedOnnxModelSize,
                               const char* modelPath = nullptr) noexcept = 0;
  virtual int64_t getNbSubgraphs() noexcept = 0;
  virtual bool isSubgraphSupported(const int64_t index) noexcept = 0;
  // Positions in the model's graph. Null, and length 0, when the index is out of range; valid until
  // the next supportsModelV2().
  virtual int64_t* getSubgraphNodes(const int64_t index, int64_t& subgraphLength) noexcept = 0;

  // parse() in steps, so that weights kept elsewhere can be handed over: load the model, give
  // initializers their data, parse. loadInitializer() is false when the model has no initializer of
  // that name or its size differs. Its data is not copied: it must live until the network is built.
  virtual bool loadModelProto(const void* serializedOnnxModel, size_t serializedOnnxModelSize,
                              const char* modelPath = nullptr) noexcept = 0;
  virtual bool loadInitializer(const char* name, const void* data, size_t size) noexcept = 0;
  virtual bool parseModelProto() noexcept = 0;

  // A config that the model is read for. Whatever it says, the network is the same.
  virtual bool setBuilderConfig(const nvinfer1::IBuilderConfig* const builderConfig) noexcept = 0;
};

// Gives an engine the weights of another model with the same graph. Refused: none can be created.
// One thread at a time uses it.
class CAMSHAFT_API IParserRefitter {
 public:
  virtual bool refitFromBytes(const void* serializedOnnxModel, size_t serializedOnnxModelSize,
                              const char* modelPath = nullptr) noexcept = 0;
  virtual bool refitFromFile(const char* onnxModelFile) noexcept = 0;

  virtual int32_t getNbErrors() const noexcept = 0;
  // Null when the index is out of range.
  virtual const IParserError* getError(int32_t index) const noexcept = 0;
  virtual void clearErrors() = 0;

  virtual ~IParserRefitter() noexcept = default;

  // refitFromBytes() in steps, as IParser has them.
  virtual bool loadModelProto(const void* serializedOnnxModel, size_t serializedOnnxModelSize,
                              const char* modelPath = nullptr) noexcept = 0;
  virtual bool loadInitializer(const char* name, const void* data, size_t size) noexcept = 0;
  virtual bool refitModelProto() noexcept = 0;
};

}  // namespace nvonnxparser

extern "C" CAMSHAFT_API void* createNvOnnxParser_INTERNAL(void* network, void* logger,
                                                          int version) noexcept;
extern "C" CAMSHAFT_API void* createNvOnnxParserRefitter_INTERNAL(void* refitter, void* logger,
                                                                  int32_t version) noexcept;
// NV_ONNX_PARSER_VERSION of the library that is loaded.
extern "C" CAMSHAFT_API int getNvOnnxParserVersion() noexcept;

namespace nvonnxparser {
namespace {

// Null when the headers and the loaded library disagree on the parser version.
inline IParser* createParser(nvinfer1::INetworkDefinition& network,
                             nvinfer1::ILogger& logger) noexcept {
  return static_cast<IParser*>(
      createNvOnnxParser_INTERNAL(&network, &logger, NV_ONNX_PARSER_VERSION));
}

inline IParserRefitter* createParserRefitter(nvinfer1::IRefitter& refitter,
                                             nvinfer1::ILogger& logger) noexcept {
  return static_cast<IParserRefitter*>(
      createNvOnnxParserRefitter_INTERNAL(&refitter, &logger, NV_ONNX_PARSER_VERSION));
}

}  // namespace
}  // namespace nvonnxparser
