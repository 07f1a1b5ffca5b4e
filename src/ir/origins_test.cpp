#include "ir/origins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace camshaft {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Origins, AreNamedOnceWhereTheyCameFirst) {
  Origins origins{"conv", "relu"};
  const Origins others{"relu", "add"};
  origins.add(others);
  origins.add(origins);
  EXPECT_THAT(origins.list(), ElementsAre("conv", "relu", "add"));
  EXPECT_THAT(origins.parts(), IsEmpty());
}

TEST(Origins, KeepThePartsOfATracedImportThroughJoins) {
  Origins origins;
  origins.add("gelu", {4, 1});
  Origins others{"made by a pass"};
  others.add("gelu", {4, 0});
  others.add("gelu", {4, 1});
  origins.add(others);
  EXPECT_THAT(origins.list(), ElementsAre("gelu", "made by a pass"));
  EXPECT_THAT(origins.parts(), ElementsAre(ImportedPart{4, 1}, ImportedPart{4, 0}));
}

}  // namespace
}  // namespace camshaft
