// Holds the public headers against the listing of TensorRT's binary interface.
#include "abi_test.h"

TEST(BinaryInterface, MembersAreWhereCompiledProgramsLookForThem) {
  EXPECT_EQ(binary_interface::found().size(), binary_interface::kExpected.size());
  for (const binary_interface::Found& found : binary_interface::found())
    EXPECT_EQ(found.place, binary_interface::kExpected[found.index].place)
        << binary_interface::kExpected[found.index].member;
}

TEST(BinaryInterface, LibraryHasTheFunctionsOfTheListing) {
  EXPECT_FALSE(binary_interface::kFunctions.empty());
  for (const binary_interface::Function function : binary_interface::kFunctions)
    EXPECT_TRUE(function);
}
