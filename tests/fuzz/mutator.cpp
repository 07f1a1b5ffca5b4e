#include "fuzz/mutator.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace camshaft::fuzz {

namespace {

constexpr size_t kMostSeen = 256;                                    // of one path
constexpr int kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5;  // wire types

struct Field {
  uint64_t key = 0;
  Bytes payload;  // as it is written, without the length
  int wireType() const { return static_cast<int>(key & 7); }
};

uint64_t below(Random& random, uint64_t end) { return random() % end; }
bool oneIn(Random& random, uint64_t n) { return below(random, n) == 0; }

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

uint64_t extended(uint64_t path, const Field& field) { return path * 1000003 + field.key; }

// Small numbers, negative ones, and those that break arithmetic.
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
  if (bytes.empty() || oneIn(random, 8)) return bytes + varint(interesting(random));
  const size_t at = below(random, bytes.size());
  const size_t length = 1 + below(random, std::min<size_t>(bytes.size() - at, 32));
  switch (below(random, 6)) {
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
    case 4:
      bytes.replace(at, 1, varint(interesting(random)));
      break;
    default:  // raw tensors hold numbers of eight bytes where they hold sizes
      for (uint64_t value = interesting(random), i = 0, start = at / 8 * 8;
           i < 8 && start + i < bytes.size(); ++i)
        bytes[start + i] = static_cast<char>(value >> (8 * i));
  }
  return bytes;
}

}  // namespace

void ModelMutator::learn(std::string_view model) { learn(model, 0); }

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
    model = oneIn(random, 16) ? changedBytes(model, random) : changed(model, 0, random);
  return model;
}

Bytes ModelMutator::changed(const Bytes& message, uint64_t path, Random& random) const {
  auto fields = parse(message);
  if (!fields || fields->empty()) return changedBytes(message, random);
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
  return oneIn(random, 8) ? changedBytes(payload, random) : changed(payload, path, random);
}

}  // namespace camshaft::fuzz
