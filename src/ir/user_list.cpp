#include "ir/user_list.h"

#include "ir/graph.h"
#include "support/error.h"

namespace camshaft {

void UserList::add(Node* node, size_t input) {
  node->usePlaces_[input] = uses_.size();
  uses_.push_back({node, input});
  ++count_;
}

void UserList::remove(Node* node, size_t input) {
  const size_t place = node->usePlaces_[input];
  CAMSHAFT_CHECK(place < uses_.size() && uses_[place].node == node && uses_[place].input == input,
                 describe(*node), " is not known to what it reads");
  uses_[place].node = nullptr;
  --count_;
  while (firstUse_ < uses_.size() && !uses_[firstUse_].node) ++firstUse_;
  if (uses_.size() <= 2 * count_ + 8) return;
  std::erase_if(uses_, [](const Use& use) { return !use.node; });
  for (size_t i = 0; i < uses_.size(); ++i) uses_[i].node->usePlaces_[uses_[i].input] = i;
  firstUse_ = 0;
}

void UserList::clear() {
  uses_.clear();
  count_ = firstUse_ = 0;
}

}  // namespace camshaft
