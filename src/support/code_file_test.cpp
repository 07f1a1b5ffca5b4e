#include "support/code_file.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace camshaft {
namespace {

TEST(CodeFile, TellsWhereCodeIsFrom) {
  const std::string own = fileOf(&folderOf);
  EXPECT_TRUE(own.ends_with("support_test")) << own;
  EXPECT_NE(fileOf(&std::getenv).find("libc"), std::string::npos);
  int onTheStack = 0;
  EXPECT_EQ(fileOf(static_cast<const void*>(&onTheStack)), "");
}

TEST(CodeFile, FindsWhatIsLoaded) {
  const char* const names[] = {"libnowhere.so.1", "libc.so.6"};
  EXPECT_EQ(fileOfLoaded(names), fileOf(&std::getenv));
  EXPECT_EQ(fileOfLoaded(std::span(names, 1)), "");
}

TEST(CodeFile, AFolderEndsWithItsSlash) {
  EXPECT_EQ(folderOf("/usr/lib/libx.so"), "/usr/lib/");
  EXPECT_EQ(folderOf("libx.so"), "");
}

}  // namespace
}  // namespace camshaft
