// Who reads a value.
#pragma once

#include <cstddef>
#include <iterator>
#include <vector>

namespace camshaft {

struct Node;

// One entry per use, in the order in which uses began. A value may have as many as there are nodes,
// and passes end uses one by one: an entry that is gone leaves a hole, and holes go when they are
// more than the entries. Only Graph changes it.
class UserList {
  struct Use {
    Node* node;  // null: a hole
    size_t input;
  };

 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Node*;
    using difference_type = std::ptrdiff_t;
    using pointer = Node* const*;
    using reference = Node* const&;

    Iterator() = default;
    Iterator(const Use* at, const Use* end) : at_(at), end_(end) { skipHoles(); }
    reference operator*() const { return at_->node; }
    Iterator& operator++() {
      ++at_;
      skipHoles();
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    void skipHoles() {
      while (at_ != end_ && !at_->node) ++at_;
    }
    const Use* at_ = nullptr;
    const Use* end_ = nullptr;
  };

  Iterator begin() const { return {uses_.data() + firstUse_, uses_.data() + uses_.size()}; }
  Iterator end() const { return {uses_.data() + uses_.size(), uses_.data() + uses_.size()}; }
  bool empty() const { return count_ == 0; }
  size_t size() const { return count_; }
  Node* front() const { return *begin(); }
  operator std::vector<Node*>() const { return {begin(), end()}; }  // survives edits

 private:
  friend class Graph;
  void add(Node* node, size_t input);
  void remove(Node* node, size_t input);
  void clear();

  std::vector<Use> uses_;
  size_t count_ = 0;
  size_t firstUse_ = 0;  // before it there are holes only
};

}  // namespace camshaft
