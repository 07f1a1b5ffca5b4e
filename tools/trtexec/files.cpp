#include "files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "CamshaftFiles.h"

namespace trtexec {

std::vector<char> readFile(const std::string& path) {
  const auto failed = [&] {
    return std::runtime_error("could not read '" + path + "': " + std::strerror(errno));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) throw failed();
  std::vector<char> bytes;
  size_t size = 0;
  do {
    bytes.resize(2 * size + (1 << 16));
    const size_t count = std::fread(bytes.data() + size, 1, bytes.size() - size, file.get());
    if (std::ferror(file.get())) throw failed();
    size += count;
  } while (size == bytes.size());
  bytes.resize(size);
  return bytes;
}

void writeFile(const std::string& path, std::string_view bytes, ConsoleLogger& log) {
  if (!camshaft::writeFile(path.c_str(), bytes.data(), bytes.size(), log))
    throw std::runtime_error("");
}

}  // namespace trtexec
