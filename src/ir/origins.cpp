#include "ir/origins.h"

#include <set>
#include <string_view>
#include <unordered_set>

namespace camshaft {

// A name, or two parts one after the other.
struct Origins::Part {
  using Ptr = std::shared_ptr<const Part>;
  Part(std::string name, ImportedPart imported) : name(std::move(name)), imported(imported) {}
  Part(Ptr first, Ptr second) : first(std::move(first)), second(std::move(second)) {}
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  ~Part() {
    takeApart(std::move(first));
    takeApart(std::move(second));
  }

  // Frees them one after the other, as parts within parts are as deep as a chain of nodes is long,
  // and without memory of its own: what is first within a first part comes to hang behind it.
  static void takeApart(Ptr rest) {
    while (rest && rest.use_count() == 1) {
      if (rest->first && rest->first.use_count() == 1) {
        Ptr inner = std::move(rest->first);
        rest->first = std::move(inner->second);
        inner->second = std::move(rest);
        rest = std::move(inner);
      } else {
        rest->first.reset();
        rest = Ptr(std::move(rest->second));
      }
    }
  }

  std::string name;
  ImportedPart imported;
  mutable Ptr first, second;  // taken apart by the last who holds the part
};

Origins::Origins(std::initializer_list<std::string> names) {
  for (const std::string& name : names) add(name);
}

void Origins::add(std::string name, ImportedPart part) {
  Part::Ptr leaf = std::make_shared<const Part>(std::move(name), part);
  root_ = root_ ? std::make_shared<const Part>(std::move(root_), std::move(leaf)) : std::move(leaf);
}

void Origins::add(const Origins& others) {
  if (others.empty() || others.root_ == root_) return;
  root_ = root_ ? std::make_shared<const Part>(root_, others.root_) : others.root_;
}

template <class F>
void Origins::visit(F leaf) const {
  std::unordered_set<const Part*> seen;
  std::vector<const Part*> open;
  if (root_) open.push_back(root_.get());
  while (!open.empty()) {
    const Part* part = open.back();
    open.pop_back();
    if (!seen.insert(part).second) continue;
    if (part->first) {
      open.push_back(part->second.get());
      open.push_back(part->first.get());
    } else {
      leaf(*part);
    }
  }
}

std::vector<std::string> Origins::list() const {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> known;
  visit([&](const Part& leaf) {
    if (known.insert(leaf.name).second) names.push_back(leaf.name);
  });
  return names;
}

std::vector<ImportedPart> Origins::parts() const {
  std::vector<ImportedPart> parts;
  std::set<ImportedPart> known;
  visit([&](const Part& leaf) {
    if (leaf.imported.node >= 0 && known.insert(leaf.imported).second)
      parts.push_back(leaf.imported);
  });
  return parts;
}

}  // namespace camshaft
