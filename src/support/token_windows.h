// Windows of images whose pixels are tokens, line by line: what attention within windows reads.
#pragma once

#include <cstdint>

namespace camshaft {

struct TokenWindows {
  int64_t height = 0, width = 0;  // of an image; 0: tokens are as they come, without windows
  int64_t windowHeight = 1, windowWidth = 1;  // which divide those
  int64_t shiftY = 0, shiftX = 0;             // of the windows, around the image's edges

  bool operator==(const TokenWindows&) const = default;
  bool areThere() const { return height > 0; }
  bool divideImage() const {
    return height > 0 && width > 0 && windowHeight > 0 && windowWidth > 0 && shiftY >= 0 &&
           shiftX >= 0 && shiftY < height && shiftX < width && height % windowHeight == 0 &&
           width % windowWidth == 0;
  }
  int64_t perImage() const { return height / windowHeight * (width / windowWidth); }
  int64_t tokens() const { return windowHeight * windowWidth; }  // of a window

  // Where, among the tokens of all images, a window has one of its own.
  int64_t place(int64_t window, int64_t token) const {
    const int64_t image = window / perImage(), own = window % perImage();
    const int64_t across = width / windowWidth;
    const int64_t y = own / across * windowHeight + token / windowWidth + shiftY;
    const int64_t x = own % across * windowWidth + token % windowWidth + shiftX;
    return (image * height + y % height) * width + x % width;
  }
};

}  // namespace camshaft
