// Ranges that NVIDIA's profilers show around layers.
#pragma once

#include <string>

namespace camshaft {

// What NVTX's library does: begin a range of the calling thread, end the last one.
struct NvtxFunctions {
  int (*push)(const char* name) = nullptr;
  int (*pop)() = nullptr;
};

// Those of libnvToolsExt.so.1, looked for once; null where it is not there, as without CUDA.
const NvtxFunctions& nvtxFunctions();
// Others in their place, for tests; null: the library's again.
void replaceNvtx(const NvtxFunctions* functions);

// A range from here to the end of the scope. An empty name: none.
class NvtxRange {
 public:
  explicit NvtxRange(const std::string& name)
      : functions_(name.empty() ? NvtxFunctions{} : nvtxFunctions()) {
    if (functions_.push) functions_.push(name.c_str());
  }
  ~NvtxRange() {
    if (functions_.pop) functions_.pop();
  }
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;

 private:
  NvtxFunctions functions_;
};

}  // namespace camshaft
