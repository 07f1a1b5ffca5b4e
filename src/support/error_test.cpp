#include "support/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace camshaft {
namespace {

TEST(Error, FailThrowsTheKindAndTheSentence) {
  try {
    fail(ErrorKind::kInvalidModel, "node '", "add_1", "' has ", 1, " input");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidModel);
    EXPECT_EQ(error.message(), "node 'add_1' has 1 input");
    EXPECT_STREQ(error.what(), "node 'add_1' has 1 input");
  }
}

TEST(Error, ABrokenCheckSaysWhereAndWhy) {
  const int rank = 3;
  CAMSHAFT_CHECK(rank == 3);
  try {
    CAMSHAFT_CHECK(rank == 4, "rank is ", rank);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInternal);
    EXPECT_THAT(error.message(), testing::HasSubstr("rank == 4 does not hold at error_test.cpp:"));
    EXPECT_THAT(error.message(), testing::HasSubstr(": rank is 3"));
  }
}

}  // namespace
}  // namespace camshaft
