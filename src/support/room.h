// Room in a list, taken before anything is changed that a failure would have to undo.
#pragma once

#include <vector>

namespace camshaft {

// So that the next push_back does not throw.
template <class T>
void roomForOneMore(std::vector<T>& list) {
  if (list.size() == list.capacity()) list.reserve(2 * list.size() + 8);
}

}  // namespace camshaft
