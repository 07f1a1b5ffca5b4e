// The file that code was loaded from.
#pragma once

#include <span>
#include <string>

namespace camshaft {

// The path of the library or program that `code`, a function of it, is in; "" where that is
// unknown.
std::string fileOf(const void* code);
template <class Result, class... Args>
std::string fileOf(Result (*function)(Args...)) {
  return fileOf(reinterpret_cast<const void*>(function));
}

// The path of the first of these libraries that this process has loaded; "" where it has none.
std::string fileOfLoaded(std::span<const char* const> libraries);

std::string folderOf(const std::string& path);  // with its slash; "" for a bare name

}  // namespace camshaft
