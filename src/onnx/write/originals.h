// Nodes that passes left as the importer made them are written as the ONNX nodes they came from,
// with their attributes and names: whatever several nodes of the IR do for one of ONNX stays one.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "onnx/trace.h"
#include "onnx/write/graph_writer.h"

namespace camshaft::onnx::writer {

// An ONNX node whose parts all are in the graph as they were imported.
struct OriginalMatch {
  const TracedNode* traced = nullptr;
  std::unordered_map<const Value*, const Value*> values;  // imported → in the graph
  std::unordered_map<const Node*, const Node*> parts;
  bool needsSizes = false;  // an input is sizes known at run time only: a printer may do without
};

class Originals {
 public:
  // `imported` values are those of the trace; `graph` is what passes made of a copy, with
  // the parts of ONNX nodes that it was imported as among its nodes' origins.
  // `importedSizes` are symbols of the graph that are other sizes in the trace.
  Originals(const ImportTrace& trace, const Graph& graph,
            std::unordered_map<std::string, int64_t> opsets,
            std::unordered_map<std::string, Dim> importedSizes);
  ~Originals();

  // The ONNX node that gives one of this node's outputs, when its structure is as it was.
  std::optional<OriginalMatch> find(const GraphWriter& writer, const Node& node);
  void write(GraphWriter& writer, const OriginalMatch& match, bool sizesAsImported);
  // Makes a value of the graph by the ONNX node that made the imported one of its name, whatever
  // passes put in its place; false when there is none.
  bool writeByName(GraphWriter& writer, const Value* value);

 private:
  class Matcher;
  bool canWriteInputs(const GraphWriter& writer, OriginalMatch& match);
  const ConstantPtr& valueOf(const Value* imported);  // computed from constants; null: is not
  // A value that passes left no reader but this: as it is in the graph, or by its ONNX nodes again.
  bool canWriteAgain(const GraphWriter& writer, const Value* imported, int depth = 0);
  Name writeAgain(GraphWriter& writer, const Value* imported);
  bool isUsable(const TracedNode& traced) const;
  bool hasShape(const Value* now, const Shape& imported) const;

  const ImportTrace& trace_;
  const Graph& graph_;
  std::unordered_map<std::string, int64_t> opsets_;
  std::unordered_map<std::string, Dim> importedSizes_;
  std::map<ImportedPart, std::vector<const Node*>> nodesOf_;  // by origin
  std::unordered_map<const Value*, ConstantPtr> constants_;
  std::unordered_map<const Value*, const TracedNode*> makers_;
  std::unordered_map<std::string, const Value*> byName_;
  std::unordered_map<const Value*, Name> again_;
};

}  // namespace camshaft::onnx::writer
