#include "support/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>
#include <utility>

#include "support/error.h"
#include "support/function_ref.h"
#include "support/mapped_pages.h"
#include "support/new_file.h"

namespace camshaft {
namespace {

using testing::HasSubstr;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        std::filesystem::path(testing::TempDir()) / str("camshaft_", test->name(), "_", ::getpid());
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

TEST(ScratchFiles, HoldBytesThatAreMapped) {
  const std::string text(100'000, 'x');
  std::optional<MappedFile> file = MappedFile::inScratchFile(bytesOf(text));
  ASSERT_TRUE(file);
  const MappedFile moved = std::move(*file);
  EXPECT_EQ(textOf(moved.bytes()), text);
  letGoOfMapped(moved.bytes());
  EXPECT_EQ(textOf(moved.bytes()), text);
  EXPECT_FALSE(MappedFile::inScratchFile({}));
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
  EXPECT_TRUE(first.bytes().empty());  // NOLINT(bugprone-use-after-move)
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
  for (const std::string& message :
       {ioMessage([&] { MappedFile::open(missing); }), ioMessage([&] { readFile(missing); })}) {
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

TEST_F(Files, AFileThatFindsNoRoomLeavesTheOldOne) {
  writeFileAtomically(path("a"), bytesOf("old"));
  struct rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);  // a full disk, as far as write() is told
  const struct rlimit small{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message =
      ioMessage([&] { writeFileAtomically(path("a"), bytesOf(std::string(5000, 'x'))); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(message, HasSubstr("could not write '" + path("a") + "': File too large"));
  EXPECT_EQ(textOf(readFile(path("a"))), "old");
  EXPECT_EQ(fileCount(), 1u);
}

TEST_F(Files, AFileThatIsNotFinishedIsNotSeen) {
  writeFileAtomically(path("a"), bytesOf("old"));
  {
    NewFile file(path("a"));
    file.write(bytesOf("new"));
    EXPECT_EQ(textOf(readFile(path("a"))), "old");
  }
  EXPECT_EQ(textOf(readFile(path("a"))), "old");
  EXPECT_EQ(fileCount(), 1u);
}

TEST_F(Files, LinksAndPermissionsStay) {
  writeFileAtomically(path("real"), bytesOf("old"));
  std::filesystem::permissions(path("real"), std::filesystem::perms(0640));
  std::filesystem::create_symlink("real", path("link"));
  writeFileAtomically(path("link"), bytesOf("new"));
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(textOf(readFile(path("real"))), "new");
  EXPECT_EQ(std::filesystem::status(path("real")).permissions(), std::filesystem::perms(0640));
}

TEST_F(Files, LongNamesHaveRoomForANeighbour) {
  const std::string name(255, 'n');
  writeFileAtomically(path(name.c_str()), bytesOf("x"));
  EXPECT_EQ(textOf(readFile(path(name.c_str()))), "x");
}

TEST_F(Files, PipesAndDevicesAreWrittenAndReadAsTheyAre) {
  writeFileAtomically("/dev/null", bytesOf("gone"));
  struct stat status;
  ASSERT_EQ(::stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));

  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const std::string longText(300000, 'l');  // several times what a pipe holds
  const auto expectArrives = [&](FunctionRef<std::string()> read) {
    std::thread writer([&] { writeFileAtomically(path("pipe"), bytesOf(longText)); });
    EXPECT_EQ(read(), longText);
    writer.join();
  };
  expectArrives([&] { return textOf(MappedFile::open(path("pipe")).bytes()); });
  expectArrives([&] { return textOf(readFile(path("pipe"))); });
}

TEST_F(Files, ALockIsHeldByOneAtATime) {
  std::atomic<int> inside = 0, most = 0, rounds = 0;  // a sanitizer knows no locks that are files
  const auto work = [&] {
    for (int i = 0; i < 200; ++i) {
      const FileLock lock(path("a"));
      most = std::max<int>(most, ++inside);
      ++rounds;
      --inside;
    }
  };
  std::thread first(work), second(work), third(work);
  for (std::thread* thread : {&first, &second, &third}) thread->join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(rounds, 600);
  EXPECT_EQ(fileCount(), 0u) << "the lock is gone with its last holder";
}

TEST_F(Files, PagesThatAreLetGoAreReadAgain) {
  std::string text(300'000, 'x');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i / 4096 % 26);
  writeFileAtomically(path("a"), bytesOf(text));
  const MappedFile file = MappedFile::open(path("a"));
  EXPECT_EQ(textOf(file.bytes()), text);
  letGoOfMapped(file.bytes());
  letGoOfMapped(file.bytes().subspan(5000, 100'000));
  EXPECT_EQ(textOf(file.bytes()), text);
}

TEST_F(Files, OtherMemoryIsNotLetGo) {
  std::vector<std::byte> own(1 << 20, std::byte{7});
  letGoOfMapped(own);
  EXPECT_EQ(std::ranges::count(own, std::byte{7}), 1 << 20);
  writeFileAtomically(path("a"), bytesOf("text"));
  const MappedFile file = MappedFile::open(path("a"));
  letGoOfMapped({file.bytes().data(), size_t{1} << 20});  // longer than the file
  EXPECT_EQ(textOf(file.bytes()), "text");
}

}  // namespace
}  // namespace camshaft
