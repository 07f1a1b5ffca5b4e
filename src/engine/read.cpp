#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/engine_file.h"
#include "engine/file_layout.h"
#include "engine/tables.h"
#include "engine/validate.h"
#include "support/aligned_buffer.h"
#include "support/byte_reader.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/mapped_file.h"
#include "support/mapped_pages.h"

namespace camshaft {
namespace {

[[noreturn]] void damaged(std::string_view what) {
  fail(ErrorKind::kInvalidEngine, "the engine is damaged: ", what, "; build it again");
}

EngineHeader readHeader(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(EngineHeader))
    fail(ErrorKind::kInvalidEngine, "the engine is ", bytes.size(),
         " bytes long, too short to be one");
  const auto header = ByteReader(bytes, "the engine").read<EngineHeader>();
  if (header.magic != kEngineMagic)
    fail(ErrorKind::kInvalidEngine,
         "this is not a Camshaft engine (TensorRT plans and ONNX files must be built first: "
         "trtexec --onnx=model.onnx --saveEngine=model.engine)");
  if (header.format != kEngineFormat)
    fail(ErrorKind::kInvalidEngine, "the engine has format ", header.format,
         " and this version reads format ", kEngineFormat, "; build it again with this version");
  if (header.fileBytes != bytes.size())
    damaged(str("it should be ", header.fileBytes, " bytes long and is ", bytes.size()));
  for (const EngineSection& section :
       {header.plan, header.weights, header.inspection, header.refit, header.sources})
    if (section.offset % kSectionAlignment != 0 || section.offset > bytes.size() ||
        section.size > bytes.size() - section.offset)
      damaged("a section lies outside the file");
  return header;
}

// Piece by piece: `done` may let go of what has been looked at.
void checkHash(std::span<const std::byte> bytes, EngineHeader header,
               FunctionRef<void(std::span<const std::byte> piece)> done) {
  constexpr size_t kPiece = size_t{1} << 22;
  const uint64_t wanted = std::exchange(header.hash, 0);
  Hasher hasher;
  hasher.update(std::as_bytes(std::span(&header, 1)));
  for (size_t at = sizeof header; at < bytes.size(); at += kPiece) {
    const auto piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
    hasher.update(piece);
    done(piece);
  }
  if (hasher.digest() != wanted) damaged("its checksum does not match");
}

// What a refit changes is copied, whoever owns the file.
struct FileSections {
  std::span<const std::byte> weights, sources;
  std::shared_ptr<const void> owner;
};

std::span<const std::byte> sourceIn(const FileSections& file, const StoredSource& place,
                                    const SourceWeights& source) {
  const std::span<const std::byte> section = place.inWeights ? file.weights : file.sources;
  const int64_t bytes = fixedBytesOf(source.tensor);
  const auto size = static_cast<int64_t>(section.size());
  if (bytes < 0 || place.offset > size || bytes > size - place.offset)
    damaged("weights of its record lie outside the file");
  return section.subspan(static_cast<size_t>(place.offset), static_cast<size_t>(bytes));
}

// The record, and weights of the plan's own that a refit may write.
void setRefit(Plan& plan, StoredRefit stored, const FileSections& file) {
  if (stored.isStripped ? stored.weightsBytes < 0 || !file.weights.empty()
                        : stored.weightsBytes != static_cast<int64_t>(file.weights.size()))
    damaged("its weights have another size than its record says");
  RefitRecord& record = stored.record;
  for (size_t i = 0; i < record.sources.size(); ++i) {
    SourceWeights& source = record.sources[i];
    if (stored.sources[i].offset < 0) continue;
    source.bytes = sourceIn(file, stored.sources[i], source);
    source.owner = file.owner;
    if (file.owner && reinterpret_cast<uintptr_t>(source.bytes.data()) % kSectionAlignment == 0)
      continue;
    auto copy = std::make_shared<AlignedBuffer>(std::max<size_t>(source.bytes.size(), 1));
    if (!source.bytes.empty()) std::memcpy(copy->data(), source.bytes.data(), source.bytes.size());
    source.bytes = {copy->data(), source.bytes.size()};
    source.owner = std::move(copy);
  }
  auto weights = std::make_shared<AlignedBuffer>(static_cast<size_t>(stored.weightsBytes));
  if (!file.weights.empty()) std::memcpy(weights->data(), file.weights.data(), file.weights.size());
  record.weights = {weights->data(), static_cast<size_t>(stored.weightsBytes)};
  setWeights(plan, record.weights, std::move(weights));
  if (const std::string fault = faultOf(record); !fault.empty()) damaged(fault);
  record.isStripped = stored.isStripped;
  plan.refit = std::make_shared<RefitRecord>(std::move(record));
}

Plan readSections(std::span<const std::byte> bytes, const EngineHeader& header,
                  std::shared_ptr<const void> owner) {
  const auto in = [&](const EngineSection& section) {
    return bytes.subspan(section.offset, section.size);
  };
  Plan plan = readTables(in(header.plan), in(header.inspection));

  std::span<const std::byte> weights = in(header.weights);
  if (header.refit.size > 0) {
    setRefit(plan, readRefit(in(header.refit)), {weights, in(header.sources), std::move(owner)});
    if (const std::string fault = faultOf(plan); !fault.empty()) damaged(fault);
    return plan;
  }
  const bool aligned = reinterpret_cast<uintptr_t>(weights.data()) % kSectionAlignment == 0;
  if (!owner || !aligned) {
    auto copy = std::make_shared<AlignedBuffer>(weights.size());
    if (!weights.empty()) std::memcpy(copy->data(), weights.data(), weights.size());
    weights = {copy->data(), header.weights.size};
    owner = std::move(copy);
  }
  setWeights(plan, weights, owner);
  if (const std::string fault = faultOf(plan); !fault.empty()) damaged(fault);
  return plan;
}

}  // namespace

Plan readEngine(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  const EngineHeader header = readHeader(bytes);
  checkHash(bytes, header, [](std::span<const std::byte>) {});
  return readSections(bytes, header, std::move(owner));
}

// Weights come into memory when they are first used: whoever loads an engine often lets go of
// others at that moment.
Plan readEngineFile(const std::string& path) {
  auto file = std::make_shared<MappedFile>(MappedFile::open(path));
  const std::span<const std::byte> bytes = file->bytes();
  const EngineHeader header = readHeader(bytes);
  checkHash(bytes, header, letGoOfMapped);
  return readSections(bytes, header, std::move(file));
}

}  // namespace camshaft
