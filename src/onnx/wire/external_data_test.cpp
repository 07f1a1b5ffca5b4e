#include "onnx/wire/external_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "onnx/wire/read_model.h"
#include "onnx/wire/tensor.h"
#include "support/error.h"
#include "testing/onnx_message.h"

namespace camshaft::onnx {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

void write(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

Message entry(std::string_view key, std::string_view value) {
  return Message().bytes(1, key).bytes(2, value);
}

// UINT8 [4] in an external file.
Message externalTensor(std::string_view location) {
  return tensorMessage("w", 2, {4}).message(13, entry("location", location)).varint(14, 1);
}

class ExternalDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(::testing::TempDir()) / str("camshaft_external_", ::getpid());
    fs::create_directories(root_ / "model" / "weights");
    write(root_ / "secret", "secret");
    write(root_ / "model" / "data", "0123456789");
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path folder() const { return root_ / "model"; }

  LoadedModel load(const Message& tensor) const {
    const fs::path path = folder() / "m.onnx";
    write(path, modelWith(Message().message(5, tensor)).encoded());
    return readModelFile(path);
  }
  std::string read(const Message& tensor) const {
    const LoadedModel loaded = load(tensor);
    const TensorBytes data = tensorData(loaded.model.graph.initializers.at(0), *loaded.files);
    return {reinterpret_cast<const char*>(data.bytes.data()), data.bytes.size()};
  }
  std::string failure(const Message& tensor, ErrorKind kind = ErrorKind::kInvalidModel) const {
    try {
      return str("read ", read(tensor));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.message();
      return error.message();
    }
  }

  fs::path root_;
};

TEST_F(ExternalDataTest, ReadsPartsOfAFile) {
  EXPECT_EQ(read(externalTensor("data")), "0123");
  EXPECT_EQ(read(externalTensor("data").message(13, entry("offset", "6"))), "6789");
  EXPECT_EQ(read(externalTensor("data")
                     .message(13, entry("offset", "2"))
                     .message(13, entry("length", "4"))
                     .message(13, entry("checksum", "ignored"))),
            "2345");
  write(folder() / "weights" / "w.bin", "abcd");
  EXPECT_EQ(read(externalTensor("weights/w.bin")), "abcd");
  EXPECT_EQ(read(externalTensor("weights/../data")), "0123");
}

TEST_F(ExternalDataTest, MapsAFileOnceAndKeepsItAlive) {
  TensorBytes first, second;
  {
    const LoadedModel loaded = load(externalTensor("data"));
    const Tensor& tensor = loaded.model.graph.initializers[0];
    first = tensorData(tensor, *loaded.files);
    second = tensorData(tensor, *loaded.files);
  }
  EXPECT_EQ(first.bytes.data(), second.bytes.data());
  EXPECT_EQ(first.bytes[3], std::byte{'3'});
}

TEST_F(ExternalDataTest, RefusesRangesPastTheEnd) {
  EXPECT_THAT(failure(externalTensor("data").message(13, entry("offset", "7"))),
              HasSubstr("tensor 'w' needs 4 bytes at offset 7 of 'data', which has only 10"));
  EXPECT_THAT(failure(externalTensor("data").message(13, entry("offset", "18446744073709551615"))),
              HasSubstr("has only 10 bytes"));
  EXPECT_THAT(failure(externalTensor("data").message(13, entry("length", "5"))),
              HasSubstr("is 5 bytes long"));
  for (const char* bad : {"-1", "", "1x", "99999999999999999999"}) {
    EXPECT_THAT(failure(externalTensor("data").message(13, entry("offset", bad))),
                HasSubstr("is not a byte count"));
  }
}

TEST_F(ExternalDataTest, RefusesToLeaveTheFolder) {
  fs::create_symlink(root_ / "secret", folder() / "link");
  fs::create_directory_symlink(root_, folder() / "up");
  EXPECT_THAT(failure(externalTensor((root_ / "secret").string())), HasSubstr("outside"));
  EXPECT_THAT(failure(externalTensor("../secret")), HasSubstr("outside"));
  EXPECT_THAT(failure(externalTensor("../nonexistent")), HasSubstr("outside"));
  EXPECT_THAT(failure(externalTensor("weights/../../secret")), HasSubstr("outside"));
  EXPECT_THAT(failure(externalTensor("link")), HasSubstr("leads outside"));
  EXPECT_THAT(failure(externalTensor("up/secret")), HasSubstr("leads outside"));
  // A sibling folder whose name merely starts like the model's.
  fs::create_directory(root_ / "model2");
  write(root_ / "model2" / "data", "0123");
  fs::create_symlink(root_ / "model2" / "data", folder() / "sibling");
  EXPECT_THAT(failure(externalTensor("sibling")), HasSubstr("leads outside"));
}

TEST_F(ExternalDataTest, FollowsLinksThatStayInside) {
  fs::create_symlink("data", folder() / "alias");
  EXPECT_EQ(read(externalTensor("alias")), "0123");
}

// snapshots/x/m.onnx and its data are links to blobs/....
class DownloadCacheTest : public ExternalDataTest {
 protected:
  void SetUp() override {
    ExternalDataTest::SetUp();
    fs::create_directories(root_ / "blobs");
    fs::create_directories(root_ / "elsewhere");
    fs::create_directories(snapshot());
    write(root_ / "blobs" / "d4", "abcd");
    write(root_ / "elsewhere" / "d4", "efgh");
    fs::create_symlink("../../blobs/d4", snapshot() / "data");
    fs::create_symlink("../../elsewhere/d4", snapshot() / "moved");
    fs::create_symlink("../../secret", snapshot() / "link");
  }
  void TearDown() override {
    ::unsetenv("CAMSHAFT_DATA_FOLDERS");
    ExternalDataTest::TearDown();
  }

  fs::path snapshot() const { return root_ / "snapshots" / "x"; }

  std::string read(std::string_view location, bool isLink = true) const {
    const std::string bytes = modelWith(Message().message(5, externalTensor(location))).encoded();
    fs::remove(snapshot() / "m.onnx");
    write(isLink ? root_ / "blobs" / "m4" : snapshot() / "m.onnx", bytes);
    if (isLink) fs::create_symlink("../../blobs/m4", snapshot() / "m.onnx");
    const LoadedModel loaded = readModelFile(snapshot() / "m.onnx");
    try {
      const TensorBytes data = tensorData(loaded.model.graph.initializers.at(0), *loaded.files);
      return {reinterpret_cast<const char*>(data.bytes.data()), data.bytes.size()};
    } catch (const Error& error) {
      return error.message();
    }
  }
};

TEST_F(DownloadCacheTest, DataIsReadWhereTheModelIs) {
  EXPECT_EQ(read("data"), "abcd");
  EXPECT_THAT(read("moved"), HasSubstr("leads outside"));
  EXPECT_THAT(read("link"), HasSubstr("leads outside"));
  EXPECT_THAT(read("../../blobs/d4"), HasSubstr("outside the model's folder"));
  EXPECT_THAT(read("d4"), HasSubstr("cannot be found"));
  EXPECT_THAT(read("data", false), HasSubstr("in the environment variable CAMSHAFT_DATA_FOLDERS"));
}

TEST_F(DownloadCacheTest, OtherFoldersAreNamedByTheEnvironment) {
  const std::string folders =
      str((root_ / "missing").string(), "::", (root_ / "elsewhere").string());
  ::setenv("CAMSHAFT_DATA_FOLDERS", folders.c_str(), 1);
  EXPECT_EQ(read("moved"), "efgh");
  EXPECT_EQ(read("moved", false), "efgh");
  EXPECT_THAT(read("link"), HasSubstr("leads outside"));
  EXPECT_THAT(read("../../elsewhere/d4"), HasSubstr("outside the model's folder"));
}

TEST_F(ExternalDataTest, RefusesWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo((folder() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(failure(externalTensor("pipe")), HasSubstr("not a regular file"));
  EXPECT_THAT(failure(externalTensor("weights")), HasSubstr("not a regular file"));
  EXPECT_THAT(failure(externalTensor("missing"), ErrorKind::kIo), HasSubstr("cannot be found"));
  EXPECT_THAT(failure(externalTensor("")), HasSubstr("not a file name"));
  EXPECT_THAT(failure(externalTensor(std::string("data\0x", 6))), HasSubstr("not a file name"));
}

TEST_F(ExternalDataTest, BytesNeedAFolder) {
  const Message message = modelWith(Message().message(5, externalTensor("data")));
  const LoadedModel alone = readModelBytes(message.asBytes());
  EXPECT_THROW(tensorData(alone.model.graph.initializers[0], *alone.files), Error);
  const LoadedModel placed = readModelBytes(message.asBytes(), folder() / "m.onnx");
  EXPECT_EQ(tensorData(placed.model.graph.initializers[0], *placed.files).bytes.size(), 4u);
}

}  // namespace
}  // namespace camshaft::onnx
