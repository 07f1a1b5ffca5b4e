// Device code of an engine, loaded once however many steps use it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "backends/cuda/runtime/driver.h"

namespace camshaft::cuda {

class CodeLibrary {
 public:
  // Throws Error saying what the code was built for when this GPU cannot run it.
  explicit CodeLibrary(std::span<const std::byte> binary);
  ~CodeLibrary();
  CodeLibrary(const CodeLibrary&) = delete;
  CodeLibrary& operator=(const CodeLibrary&) = delete;

  // The same library for equal bytes while somebody holds it.
  static std::shared_ptr<const CodeLibrary> of(std::span<const std::byte> binary);

  // The entry point, allowed that much dynamic shared memory and clusters of so many blocks.
  CUkernel find(const std::string& name, unsigned sharedBytes, unsigned cluster) const;

 private:
  CUlibrary library_ = nullptr;
};

}  // namespace camshaft::cuda
