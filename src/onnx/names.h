// Which names mean what in the importer: the IR's types are plain, those of the wire format, which
// share their names, are wire::Node, wire::Graph and so on.
#pragma once

#include "ir/graph.h"
#include "onnx/wire/model.h"

namespace camshaft::onnx::importer {

namespace wire = camshaft::onnx;

using camshaft::Dim;
using camshaft::Graph;
using camshaft::Node;

// "" and "ai.onnx" are two spellings of one domain.
inline std::string_view canonicalDomain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view{} : domain;
}

}  // namespace camshaft::onnx::importer
