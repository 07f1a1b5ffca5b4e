// Files without a name, for what would fill the memory.
#pragma once

#include <cstddef>
#include <span>

#include "support/file_descriptor.h"

namespace camshaft {

// An empty file to write and read, which is gone when nobody has it open or mapped: in $TMPDIR,
// else in /var/tmp, which is made for large ones, else in /tmp. A descriptor below 0 where none can
// be had.
FileDescriptor openScratchFile();

// False where the file system has no room for them.
bool writeAt(const FileDescriptor& file, std::span<const std::byte> bytes, size_t offset);

}  // namespace camshaft
