#include "api/plugins/params.h"

#include "support/byte_reader.h"
#include "support/error.h"

namespace camshaft::api {
namespace {

using nvinfer1::PluginFieldType;

constexpr char kWhat[] = "the parameters of a plugin";

// Bytes of a field's values; those of unknown type are bytes.
size_t bytesOf(PluginFieldType type, int32_t length) {
  const auto count = static_cast<size_t>(length);
  switch (type) {
    case PluginFieldType::kFLOAT16:
    case PluginFieldType::kBF16:
    case PluginFieldType::kINT16:
      return 2 * count;
    case PluginFieldType::kFLOAT32:
    case PluginFieldType::kINT32:
      return 4 * count;
    case PluginFieldType::kFLOAT64:
    case PluginFieldType::kINT64:
      return 8 * count;
    case PluginFieldType::kDIMS:
      return sizeof(nvinfer1::Dims) * count;
    case PluginFieldType::kINT4:
    case PluginFieldType::kFP4:
      return (count + 1) / 2;
    default:
      return count;
  }
}

}  // namespace

std::string toString(const PluginName& name) {
  return str("'", name.name, "' of version '", name.version, "'",
             name.space.empty() ? "" : str(" in namespace '", name.space, "'"));
}

PluginFields::PluginFields(const nvinfer1::PluginFieldCollection* borrowed) {
  if (!borrowed) return;
  for (int32_t i = 0; i < borrowed->nbFields; ++i) {
    const nvinfer1::PluginField& field = borrowed->fields[i];
    const std::string name = field.name ? field.name : "";
    if (field.length < 0 || (field.length > 0 && !field.data))
      fail(ErrorKind::kInvalidArgument, "field '", name, "' has length ", field.length,
           field.data ? "" : " and no data");
    const auto* data = static_cast<const std::byte*>(field.data);
    add(name, field.type, field.length, {data, data + bytesOf(field.type, field.length)});
  }
}

PluginFields::PluginFields(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, kWhat);
  for (uint64_t left = reader.read<uint64_t>(); left > 0; --left) {
    std::string name = reader.readString();
    const auto type = static_cast<PluginFieldType>(reader.read<int32_t>());
    const auto length = reader.read<int32_t>();
    std::vector<std::byte> data = reader.readVector<std::byte>();
    if (length < 0 || data.size() != bytesOf(type, length))
      fail(ErrorKind::kInvalidEngine, "the engine is damaged: field '", name, "' of a plugin has ",
           data.size(), " bytes");
    add(std::move(name), type, length, std::move(data));
  }
  reader.expectEnd();
}

void PluginFields::add(std::string name, PluginFieldType type, int32_t length,
                       std::vector<std::byte> data) {
  fields_.push_back({std::move(name), type, length, std::move(data)});
}

std::vector<std::byte> PluginFields::bytes() const {
  ByteWriter writer;
  writer.write<uint64_t>(fields_.size());
  for (const Field& field : fields_) {
    writer.writeString(field.name);
    writer.write(static_cast<int32_t>(field.type));
    writer.write(field.length);
    writer.writeVector(field.data);
  }
  return writer.take();
}

nvinfer1::PluginFieldCollection PluginFields::view() {
  views_.clear();
  for (const Field& field : fields_)
    views_.emplace_back(field.name.c_str(), field.data.empty() ? nullptr : field.data.data(),
                        field.type, field.length);
  return {static_cast<int32_t>(views_.size()), views_.data()};
}

PluginParams PluginParams::read(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, kWhat);
  PluginParams params;
  params.version = static_cast<Version>(reader.read<uint32_t>());
  if (params.version != Version::kV2 && params.version != Version::kV3)
    fail(ErrorKind::kInvalidEngine, "the engine is damaged: a plugin is of class version ",
         static_cast<uint32_t>(params.version));
  params.name.name = reader.readString();
  params.name.version = reader.readString();
  params.name.space = reader.readString();
  params.tactic = reader.read<int32_t>();
  params.aliases = reader.readVector<int32_t>();
  params.data = reader.readVector<std::byte>();
  reader.expectEnd();
  return params;
}

std::vector<std::byte> PluginParams::bytes() const {
  ByteWriter writer;
  writer.write(static_cast<uint32_t>(version));
  writer.writeString(name.name);
  writer.writeString(name.version);
  writer.writeString(name.space);
  writer.write(tactic);
  writer.writeVector(aliases);
  writer.writeVector(data);
  return writer.take();
}

}  // namespace camshaft::api
