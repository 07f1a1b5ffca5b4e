#include "onnx/wire/external_data.h"

#include <algorithm>
#include <cstdlib>

#include "support/error.h"
#include "support/mapped_file.h"

namespace camshaft::onnx {

namespace fs = std::filesystem;

namespace {

bool isInside(const fs::path& path, const fs::path& folder) {
  const auto [folderEnd, _] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return folderEnd == folder.end();
}

void addFoldersOfEnvironment(std::vector<fs::path>& folders) {
  const char* given = std::getenv("CAMSHAFT_DATA_FOLDERS");
  std::string_view rest = given ? given : "";
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace

ModelPlace ModelPlace::ofFile(const fs::path& file) {
  ModelPlace place{file.has_parent_path() ? file.parent_path() : ".", {}};
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (!error && fs::is_symlink(file, error)) place.linked.push_back(real.parent_path());
  addFoldersOfEnvironment(place.linked);
  return place;
}

// Checked twice: on the text, so a hostile model cannot probe which files exist outside, and on
// the canonical path, which is where symbolic links lead.
fs::path ModelFiles::resolve(std::string_view location, std::string_view what) const {
  const auto refuse = [&](ErrorKind kind, const auto&... reason) {
    fail(kind, what, " keeps its data in '", location, "', ", reason...);
  };
  if (!place_) {
    refuse(ErrorKind::kInvalidArgument,
           "but the model was given as bytes with no folder: pass the folder of that file");
  }
  const fs::path relative(location);
  const fs::path normal = relative.lexically_normal();
  if (location.empty() || location.find('\0') != std::string_view::npos) {
    refuse(ErrorKind::kInvalidModel, "which is not a file name");
  }
  if (relative.is_absolute() || (!normal.empty() && *normal.begin() == "..")) {
    refuse(ErrorKind::kInvalidModel, "which is outside the model's folder: move it there");
  }
  std::error_code error;
  const fs::path folder = fs::canonical(place_->folder, error);
  const fs::path path = error ? fs::path() : fs::canonical(folder / relative, error);
  if (error) refuse(ErrorKind::kIo, "which cannot be found: ", error.message());
  const auto leadsInto = [&](const fs::path& other) {
    std::error_code missing;
    const fs::path real = fs::canonical(other, missing);
    return !missing && isInside(path, real);
  };
  if (!isInside(path, folder) &&
      std::none_of(place_->linked.begin(), place_->linked.end(), leadsInto)) {
    refuse(ErrorKind::kInvalidModel,
           "a link that leads outside the model's folder: copy it there, or name the folder it "
           "leads to in the environment variable CAMSHAFT_DATA_FOLDERS");
  }
  if (!fs::is_regular_file(path, error)) {
    refuse(ErrorKind::kInvalidModel, "which is not a regular file");
  }
  return path;
}

std::shared_ptr<const MappedFile> ModelFiles::open(const fs::path& path) const {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const MappedFile>& file = mapped_[path];
  if (!file) file = std::make_shared<const MappedFile>(MappedFile::open(path.string()));
  return file;
}

OwnedBytes ModelFiles::external(const ExternalData& data, uint64_t size,
                                std::string_view what) const {
  const fs::path path = resolve(data.location, what);
  if (data.length && *data.length != size) {
    fail(ErrorKind::kInvalidModel, what, " needs ", size, " bytes, but its external data in '",
         data.location, "' is ", *data.length, " bytes long");
  }
  const std::shared_ptr<const MappedFile> file = open(path);
  const std::span<const std::byte> bytes = file->bytes();
  if (data.offset > bytes.size() || size > bytes.size() - data.offset) {
    fail(ErrorKind::kInvalidModel, what, " needs ", size, " bytes at offset ", data.offset, " of '",
         data.location, "', which has only ", bytes.size(), " bytes");
  }
  return {bytes.subspan(data.offset, size), file};
}

}  // namespace camshaft::onnx
