// The texts of docs/schema, which CMake puts into the library.
#pragma once

namespace camshaft::settings {

extern const char kOnnxruntimeSchema[];
extern const char kTritonSchema[];

}  // namespace camshaft::settings
