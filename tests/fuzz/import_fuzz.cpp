// Any bytes as an ONNX model: read, imported, or refused in words. Built with libFuzzer under
// clang; elsewhere driver.cpp mutates the corpus.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "onnx/import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace camshaft;
  const auto stopOnBug = [](ErrorKind kind, const std::string& message) {
    if (kind != ErrorKind::kInternal) return;
    std::fprintf(stderr, "%s\n", message.c_str());
    std::abort();
  };
  try {
    const onnx::LoadedModel model = onnx::readModelBytes(std::as_bytes(std::span(data, size)));
    Graph graph;
    const auto problems = onnx::importModel(model, graph);
    for (const onnx::ImportProblem& problem : problems) stopOnBug(problem.kind, problem.message);
    if (problems.empty()) verify(graph, "import");
  } catch (const Error& error) {
    stopOnBug(error.kind(), error.message());
  }
  return 0;
}
