// 128 bits that say which bytes a file has. Not for secrets.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace triton_backend {

class ContentHash {
 public:
  void add(std::string_view bytes);  // their number counts too
  void addFile(const std::filesystem::path& file);
  std::string text() const;  // 32 hexadecimal digits

 private:
  void mix(uint64_t word);

  uint64_t a_ = 0x9e3779b97f4a7c15, b_ = 0xc2b2ae3d27d4eb4f;
};

}  // namespace triton_backend
