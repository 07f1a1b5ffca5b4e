#include "support/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "support/error.h"
#include "support/function_ref.h"

namespace camshaft {
namespace {

using testing::HasSubstr;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              str("camshaft_", test->name(), "_", ::getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const char* name) const { return folder_ / name; }
  size_t fileCount() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_),
                                             std::filesystem::directory_iterator()));
  }

  std::filesystem::path folder_;
};

std::span<const std::byte> bytesOf(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
std::string textOf(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::string ioMessage(FunctionRef<void()> action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    return error.message();
  }
  return "no error";
}

TEST_F(Files, WrittenBytesComeBackMappedAndRead) {
  writeFileAtomically(path("a"), bytesOf("first, and longer"));
  writeFileAtomically(path("a"), bytesOf("second"));
  EXPECT_EQ(textOf(MappedFile::open(path("a")).bytes()), "second");
  EXPECT_EQ(textOf(readFile(path("a"))), "second");
  EXPECT_EQ(fileCount(), 1u) << "the temporary file is gone";
}

TEST_F(Files, AMappingOutlivesTheReplacementOfItsFile) {
  writeFileAtomically(path("a"), bytesOf("old"));
  const MappedFile file = MappedFile::open(path("a"));
  writeFileAtomically(path("a"), bytesOf("new"));
  EXPECT_EQ(textOf(file.bytes()), "old");
}

TEST_F(Files, MovingKeepsTheBytesInPlace) {
  writeFileAtomically(path("a"), bytesOf("moved"));
  MappedFile first = MappedFile::open(path("a"));
  const std::byte* address = first.bytes().data();
  MappedFile second = std::move(first);
  EXPECT_TRUE(first.bytes().empty());
  first = std::move(second);
  EXPECT_EQ(first.bytes().data(), address);
  EXPECT_EQ(textOf(first.bytes()), "moved");
}

TEST_F(Files, AnEmptyFileIsAFile) {
  writeFileAtomically(path("empty"), {});
  EXPECT_TRUE(MappedFile::open(path("empty")).bytes().empty());
  EXPECT_TRUE(readFile(path("empty")).empty());
}

TEST_F(Files, ReadsFilesThatReportNoSize) {
  EXPECT_THAT(textOf(readFile("/proc/self/status")), HasSubstr("Name:"));
}

TEST_F(Files, FailuresNameThePathAndTheReason) {
  const std::string missing = path("missing");
  for (const std::string& message : {ioMessage([&] { MappedFile::open(missing); }),
                                     ioMessage([&] { readFile(missing); })}) {
    EXPECT_THAT(message, HasSubstr("'" + missing + "'"));
    EXPECT_THAT(message, HasSubstr("No such file or directory"));
  }
  EXPECT_THAT(ioMessage([&] { MappedFile::open(folder_); }), HasSubstr("Is a directory"));
  EXPECT_THAT(ioMessage([&] { writeFileAtomically(path("no/where"), bytesOf("x")); }),
              HasSubstr(path("no/where")));
}

TEST_F(Files, AFailedWriteLeavesNothingBehind) {
  std::filesystem::create_directories(folder_ / "taken" / "inside");
  EXPECT_THAT(ioMessage([&] { writeFileAtomically(path("taken"), bytesOf("x")); }),
              HasSubstr("replace"));
  EXPECT_EQ(fileCount(), 1u);
}

}  // namespace
}  // namespace camshaft
