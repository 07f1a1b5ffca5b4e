// The leaves of a model: tensors, and the types of values.
#include <charconv>

#include "onnx/wire/messages.h"
#include "support/text.h"

namespace camshaft::onnx {

namespace {

std::span<const std::byte> asBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

uint64_t parseNumber(const FieldReader& in, const StringPair& pair) {
  uint64_t number = 0;
  const char* const end = pair.value.data() + pair.value.size();
  const auto [stop, error] = std::from_chars(pair.value.data(), end, number);
  if (error != std::errc() || stop != end) {
    in.fail(str("the external data's ", pair.key, " '", pair.value, "' is not a byte count"));
  }
  return number;
}

void readExternalData(FieldReader& in, ExternalData& external) {
  StringPair pair;
  readStringPair(in.message("external data", -1, 0), pair);
  if (pair.key == "location") {
    external.location = pair.value;
  } else if (pair.key == "offset") {
    external.offset = parseNumber(in, pair);
  } else if (pair.key == "length") {
    external.length = parseNumber(in, pair);
  }
}

void readDim(FieldReader in, Dim& dim) {
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        dim = {.value = in.varint()};
        break;
      case 2:
        dim = {.param = in.bytes()};
        break;
      default:
        in.skip();
    }
  }
}

void readShape(FieldReader in, std::vector<Dim>& dims) {
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        appendMessage(in, "dimension", 0, dims, readDim);
        break;
      default:
        in.skip();
    }
  }
}

void readTensorType(FieldReader in, Type& type) {
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        type.elementType = in.code();
        break;
      case 2:
        if (!type.shape) type.shape.emplace();
        readShape(in.message("shape", -1, 0), *type.shape);
        break;
      default:
        in.skip();
    }
  }
}

// Sequences and optionals keep their element in field 1; maps their key in 1, their value in 2.
void readContainerType(FieldReader in, Type& type) {
  const uint32_t elementTag = type.kind == TypeKind::kMap ? 2 : 1;
  while (in.next()) {
    if (in.tag() == elementTag) {
      type.element.resize(1);
      readType(in.message("element type", -1, 0), type.element.front());
    } else if (in.tag() == 1) {
      type.elementType = in.code();
    } else {
      in.skip();
    }
  }
}

// The kinds are one oneof: another kind than before starts afresh.
Type& become(Type& type, TypeKind kind) {
  if (type.kind != kind) type = {.kind = kind};
  return type;
}

}  // namespace

void appendInts(FieldReader& in, std::vector<int64_t>& values) {
  in.varints([&](int64_t value) { values.push_back(value); });
}

void readStringPair(FieldReader in, StringPair& pair) {
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        pair.key = in.bytes();
        break;
      case 2:
        pair.value = in.bytes();
        break;
      default:
        in.skip();
    }
  }
}

void readTensor(FieldReader in, Tensor& tensor) {
  constexpr int64_t kExternal = 1;
  tensor = {.encoded = asBytes(in.whole())};
  ExternalData external;
  int64_t location = 0;
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        appendInts(in, tensor.dims);
        break;
      case 2:
        tensor.dataType = in.code();
        break;
      case 3:
        in.skip();
        tensor.segmented = true;
        break;
      case 8:
        tensor.name = in.bytes();
        break;
      case 9:
        tensor.raw = asBytes(in.bytes());
        break;
      case 13:
        readExternalData(in, external);
        break;
      case 14:
        location = in.varint();
        break;
      default:
        in.skip();
    }
  }
  if (location == kExternal) tensor.external = external;
}

void readSparseTensor(FieldReader in, SparseTensor& sparse) {
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        readTensor(in.message("values", -1, 8), sparse.values);
        break;
      case 2:
        readTensor(in.message("indices", -1, 8), sparse.indices);
        break;
      case 3:
        appendInts(in, sparse.dims);
        break;
      default:
        in.skip();
    }
  }
}

void readType(FieldReader in, Type& type) {
  using enum TypeKind;
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        readTensorType(in.message("tensor type", -1, 0), become(type, kTensor));
        break;
      case 4:
        readContainerType(in.message("sequence type", -1, 0), become(type, kSequence));
        break;
      case 5:
        readContainerType(in.message("map type", -1, 0), become(type, kMap));
        break;
      case 7:
        in.skip();
        become(type, kOpaque);
        break;
      case 8:
        readTensorType(in.message("sparse tensor type", -1, 0), become(type, kSparseTensor));
        break;
      case 9:
        readContainerType(in.message("optional type", -1, 0), become(type, kOptional));
        break;
      default:
        in.skip();
    }
  }
}

void readValueInfo(FieldReader in, ValueInfo& info) {
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        info.name = in.bytes();
        break;
      case 2:
        readType(in.message("type", -1, 0), info.type);
        break;
      case 3:
        info.docString = in.bytes();
        break;
      default:
        in.skip();
    }
  }
}

}  // namespace camshaft::onnx
