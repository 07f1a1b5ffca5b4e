#include <filesystem>

#include "compiler/compile.h"
#include "passes/pipeline.h"
#include "support/error.h"
#include "support/new_file.h"

namespace camshaft {

std::vector<std::string_view> passNames() {
  std::vector<std::string_view> names;
  for (const Pass& pass : pipeline()) names.push_back(pass.name);
  return names;
}

GraphDump graphsInto(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    fail(ErrorKind::kIo, "cannot make the folder '", folder, "' for graphs: ", error.message());
  return
      [folder, count = 0, last = std::string()](std::string_view pass, const Graph& graph) mutable {
        std::string text = toText(graph);
        if (text == last) return;
        const std::string_view zero = count < 10 ? "0" : "";
        writeFileAtomically(str(folder, "/", zero, count++, "-", pass, ".txt"),
                            std::as_bytes(std::span(text)));
        last = std::move(text);
      };
}

}  // namespace camshaft
