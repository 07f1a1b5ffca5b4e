// What tensors or layers are given on the command line, by name.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trtexec {

// Whether a pattern with at most one '*' fits a name.
inline bool fits(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  return name.size() >= head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
}

// Entries are names or patterns. A name comes first, then the last pattern that fits.
template <class T>
class ByName {
 public:
  void set(std::string name, T value) { entries_.emplace_back(std::move(name), std::move(value)); }

  const T* find(std::string_view name) const {
    const T* found = nullptr;
    for (const auto& [pattern, value] : entries_) {
      if (pattern == name) return &value;
      if (fits(pattern, name)) found = &value;
    }
    return found;
  }

  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<std::pair<std::string, T>> entries_;
};

}  // namespace trtexec
