// Changes models so that they stay readable: what lies in a field changes, the lengths around it
// follow.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fuzz/mutator.h"

namespace camshaft::fuzz {

namespace {

constexpr size_t kMostSeen = 256;                                    // of one path
constexpr int kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5;  // wire types

struct Field {
  uint64_t key = 0;
  Bytes payload;  // as it is written, without the length
  int wireType() const { return static_cast<int>(key & 7); }
};

Bytes varint(uint64_t value) {
  Bytes encoded;
  for (; value >= 0x80; value >>= 7) encoded += static_cast<char>(value | 0x80);
  return encoded + static_cast<char>(value);
}

std::optional<uint64_t> takeVarint(std::string_view& bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size() && i < 10; ++i) {
    value |= static_cast<uint64_t>(bytes[i] & 0x7f) << (7 * i);
    if (bytes[i] & 0x80) continue;
    bytes.remove_prefix(i + 1);
    return value;
  }
  return std::nullopt;
}

std::optional<Field> takeField(std::string_view& bytes) {
  const auto key = takeVarint(bytes);
  if (!key || *key >> 3 == 0) return std::nullopt;
  Field field{*key, {}};
  uint64_t length = 0;
  if (field.wireType() == kVarint) {
    const auto value = takeVarint(bytes);
    if (!value) return std::nullopt;
    field.payload = varint(*value);
    return field;
  }
  if (field.wireType() == kFixed64 || field.wireType() == kFixed32) {
    length = field.wireType() == kFixed64 ? 8 : 4;
  } else {
    const auto given = field.wireType() == kLength ? takeVarint(bytes) : std::nullopt;
    if (!given) return std::nullopt;
    length = *given;
  }
  if (length > bytes.size()) return std::nullopt;
  field.payload = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return field;
}

// Nothing when the bytes are no message.
std::optional<std::vector<Field>> parse(std::string_view bytes) {
  std::vector<Field> fields;
  while (!bytes.empty()) {
    std::optional<Field> field = takeField(bytes);
    if (!field) return std::nullopt;
    fields.push_back(std::move(*field));
  }
  return fields;
}

Bytes print(const std::vector<Field>& fields) {
  Bytes bytes;
  for (const Field& field : fields) {
    bytes += varint(field.key);
    if (field.wireType() == kLength) bytes += varint(field.payload.size());
    bytes += field.payload;
  }
  return bytes;
}

// Bytes that may hold numbers as messages write them.
Bytes changedText(const Bytes& bytes, Random& random) {
  if (!bytes.empty() && !oneIn(random, 4)) return changedBytes(bytes, random);
  const size_t at = below(random, bytes.size() + 1);
  const size_t replaced = oneIn(random, 2) && at < bytes.size() ? 1 : 0;
  return Bytes(bytes).replace(at, replaced, varint(interesting(random)));
}

uint64_t extended(uint64_t path, const Field& field) { return path * 1000003 + field.key; }

class ModelMutator : public Mutator {
 public:
  void learn(std::string_view model) override { learn(model, 0); }
  Bytes mutated(Bytes model, Random& random) const override;

 private:
  // By the numbers of the fields on the way to it.
  std::unordered_map<uint64_t, std::vector<Bytes>> seen_;

  void learn(std::string_view message, uint64_t path);
  Bytes changed(const Bytes& message, uint64_t path, Random& random) const;
  Bytes changedPayload(const Bytes& payload, uint64_t path, Random& random) const;
};

void ModelMutator::learn(std::string_view message, uint64_t path) {
  const auto fields = parse(message);
  if (!fields) return;
  for (const Field& field : *fields) {
    const uint64_t here = extended(path, field);
    std::vector<Bytes>& seen = seen_[here];
    if (std::find(seen.begin(), seen.end(), field.payload) != seen.end()) continue;
    if (seen.size() < kMostSeen) seen.push_back(field.payload);
    if (field.wireType() == kLength) learn(field.payload, here);
  }
}

Bytes ModelMutator::mutated(Bytes model, Random& random) const {
  for (uint64_t changes = 1 + below(random, 4); changes > 0; --changes)
    model = oneIn(random, 16) ? changedText(model, random) : changed(model, 0, random);
  return model;
}

Bytes ModelMutator::changed(const Bytes& message, uint64_t path, Random& random) const {
  auto fields = parse(message);
  if (!fields || fields->empty()) return changedText(message, random);
  const size_t at = below(random, fields->size());
  const auto position = fields->begin() + static_cast<int64_t>(at);
  if (oneIn(random, 24)) {
    fields->erase(position);
  } else if (oneIn(random, 24)) {
    const Field copy = (*fields)[below(random, fields->size())];
    fields->insert(position, copy);
  } else {
    Field& field = *position;
    const uint64_t here = extended(path, field);
    const auto known = seen_.find(here);
    if (known != seen_.end() && oneIn(random, 4)) {
      field.payload = known->second[below(random, known->second.size())];
    } else if (field.wireType() == kVarint) {
      field.payload = varint(interesting(random));
    } else if (field.wireType() == kLength) {
      field.payload = changedPayload(field.payload, here, random);
    } else {
      field.payload[below(random, field.payload.size())] = static_cast<char>(random());
    }
  }
  return print(*fields);
}

// Text and packed numbers may read as messages by chance: both ways are tried.
Bytes ModelMutator::changedPayload(const Bytes& payload, uint64_t path, Random& random) const {
  return oneIn(random, 8) ? changedText(payload, random) : changed(payload, path, random);
}

}  // namespace

std::unique_ptr<Mutator> makeMutator() { return std::make_unique<ModelMutator>(); }

}  // namespace camshaft::fuzz
