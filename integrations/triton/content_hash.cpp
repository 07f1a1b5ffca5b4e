#include "content_hash.h"

#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

#include "errors.h"

namespace triton_backend {

// Two chains of xor, rotation and multiplication by different odd numbers.
void ContentHash::mix(uint64_t word) {
  a_ = std::rotl((a_ ^ word) * 0xff51afd7ed558ccd, 29);
  b_ = std::rotl((b_ + word) * 0xc4ceb9fe1a85ec53, 37) ^ a_;
}

void ContentHash::add(std::string_view bytes) {
  mix(bytes.size());
  for (size_t i = 0; i < bytes.size(); i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
    mix(word);
  }
}

void ContentHash::addFile(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(TRITONSERVER_ERROR_NOT_FOUND, "the file ", file, " cannot be read");
  std::vector<char> block(1 << 20);
  while (stream) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    add({block.data(), static_cast<size_t>(stream.gcount())});
  }
}

std::string ContentHash::text() const {
  ContentHash last = *this;
  last.mix(0);
  last.mix(1);
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(last.a_),
                static_cast<unsigned long long>(last.b_));
  return digits;
}

}  // namespace triton_backend
