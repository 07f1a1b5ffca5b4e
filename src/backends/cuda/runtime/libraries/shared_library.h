// Libraries opened at run time: nothing of the vendor's is linked, so one build serves machines
// with and without a GPU.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace camshaft::cuda {

// A library opened for the rest of the process. Throws Error(kUnsupported) that names what is
// missing and what to install.
class SharedLibrary {
 public:
  // `names` in order of preference; `product` and `package` are for the message. A copy that the
  // process has loaded already is taken first, then folders named in CAMSHAFT_CUDA_LIBRARIES
  // (colons between them), the system's search path, and where Python packages put theirs.
  SharedLibrary(std::string_view product, std::string_view package,
                std::span<const char* const> names);

  template <class Function>
  void find(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(findSymbol(symbol));
  }

 private:
  void* findSymbol(const char* symbol) const;

  std::string product_;
  void* handle_ = nullptr;
};

}  // namespace camshaft::cuda
