// Files that trtexec reads and writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report.h"

namespace trtexec {

// Reads to the end, pipes too; throws with the path and the reason.
std::vector<char> readFile(const std::string& path);
// Replaces the file as a whole; throws when the library has logged the reason.
void writeFile(const std::string& path, std::string_view bytes, ConsoleLogger& log);

}  // namespace trtexec
