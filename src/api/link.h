// Objects that callers end when they like, and others that know them.
#pragma once

#include <memory>

namespace camshaft::api {

// A pointer to an object that its owner may end at any time, and null from then on.
template <class T>
class Link {
 public:
  Link() = default;
  T* get() const { return slot_ ? *slot_ : nullptr; }

 private:
  template <class U>
  friend class Anchor;
  explicit Link(std::shared_ptr<T* const> slot) : slot_(std::move(slot)) {}
  std::shared_ptr<T* const> slot_;
};

// A member of the object that is linked to.
template <class T>
class Anchor {
 public:
  explicit Anchor(T* object) : slot_(std::make_shared<T*>(object)) {}
  ~Anchor() { *slot_ = nullptr; }
  Anchor(const Anchor&) = delete;
  Anchor& operator=(const Anchor&) = delete;
  Link<T> link() const { return Link<T>(slot_); }

 private:
  std::shared_ptr<T*> slot_;
};

}  // namespace camshaft::api
