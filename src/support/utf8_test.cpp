#include "support/utf8.h"

#include <gtest/gtest.h>

namespace camshaft {
namespace {

TEST(Shown, TextStaysAsItIs) {
  for (const char* text : {"", "layer_1", "Größe", "名前", "\xF0\x9F\x99\x82", "\xED\x9F\xBF"})
    EXPECT_EQ(shown(text), text);
  EXPECT_EQ(shown(std::string_view("a\0b", 3)), std::string_view("a\0b", 3));
}

TEST(Shown, BytesThatAreNoTextAreEscaped) {
  EXPECT_EQ(shown("x\xFFy"), "x\\xffy");
  EXPECT_EQ(shown("\x80"), "\\x80");
  EXPECT_EQ(shown("\xC3"), "\\xc3") << "cut off";
  EXPECT_EQ(shown("\xC3("), "\\xc3(");
  EXPECT_EQ(shown("\xC0\xAF"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(shown("\xE0\x80\xAF"), "\\xe0\\x80\\xaf");
  EXPECT_EQ(shown("\xED\xA0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(shown("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last character";
}

}  // namespace
}  // namespace camshaft
