// What the generated test of the binary interface is made of. See generate.py.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include "NvInfer.h"
#include "NvInferPlugin.h"
#include "NvOnnxConfig.h"
#include "NvOnnxParser.h"

namespace binary_interface {

struct Expected {
  const char* member;
  std::ptrdiff_t place;  // the slot of a virtual function, the offset of a field
};
extern const std::vector<Expected> kExpected;

using Function = void (*)();
extern const std::vector<Function> kFunctions;

constexpr std::ptrdiff_t kNotVirtual = -1;

// The Itanium ABI's pointers to members: an offset for fields. For functions two words, of which
// the first gives a virtual function's offset in the table. The bit that says it is virtual is the
// lowest of that word, to which it adds 1, or on Arm of the second.
template <class Pointer>
std::ptrdiff_t placeOf(Pointer pointer) {
  std::ptrdiff_t words[2] = {};
  static_assert(sizeof(pointer) <= sizeof(words));
  std::memcpy(words, &pointer, sizeof(pointer));
  if constexpr (std::is_member_object_pointer_v<Pointer>) return words[0];
#if defined(__arm__) || defined(__aarch64__)
  const bool isVirtual = words[1] & 1;
  const std::ptrdiff_t offset = words[0];
#else
  const bool isVirtual = words[0] & 1;
  const std::ptrdiff_t offset = words[0] - 1;
#endif
  return isVirtual ? offset / static_cast<std::ptrdiff_t>(sizeof(void*)) : kNotVirtual;
}

struct Found {
  std::size_t index;  // in kExpected
  std::ptrdiff_t place;
};
inline std::vector<Found>& found() {
  static std::vector<Found> all;
  return all;
}

// Notes where a member is when it is instantiated, which names private members too.
template <std::size_t index, class Pointer, Pointer pointer>
struct At {
  static const bool kNoted;
};
template <std::size_t index, class Pointer, Pointer pointer>
const bool At<index, Pointer, pointer>::kNoted =
    (found().push_back({index, placeOf(pointer)}), true);

}  // namespace binary_interface
