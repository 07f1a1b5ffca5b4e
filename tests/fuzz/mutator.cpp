#include "fuzz/mutator.h"

#include <algorithm>

namespace camshaft::fuzz {

uint64_t interesting(Random& random) {
  switch (below(random, 4)) {
    case 0:
      return below(random, 20);
    case 1:
      return uint64_t{0} - below(random, 5);
    case 2:
      return (uint64_t{1} << below(random, 64)) - below(random, 3);
    default:
      return random() >> below(random, 64);
  }
}

Bytes changedBytes(Bytes bytes, Random& random) {
  if (bytes.empty() || oneIn(random, 8)) return bytes + static_cast<char>(interesting(random));
  const size_t at = below(random, bytes.size());
  const size_t length = 1 + below(random, std::min<size_t>(bytes.size() - at, 32));
  switch (below(random, 5)) {
    case 0:
      bytes[at] = static_cast<char>(random());
      break;
    case 1:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(random, 8)));
      break;
    case 2:
      bytes.erase(at, length);
      break;
    case 3:
      bytes.insert(at, bytes.substr(below(random, bytes.size()), length));
      break;
    default:  // numbers of eight bytes, where sizes are
      for (uint64_t value = interesting(random), i = 0, start = at / 8 * 8;
           i < 8 && start + i < bytes.size(); ++i)
        bytes[start + i] = static_cast<char>(value >> (8 * i));
  }
  return bytes;
}

}  // namespace camshaft::fuzz
