// Windows of images whose pixels are tokens, line by line: what attention within windows reads.
#pragma once

#include <algorithm>
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

  // Runs of `count` tokens of a window, from its `first` one on, that follow one another among the
  // tokens of all images: visit(where a run begins there, how many tokens it has).
  template <class Visit>
  void forEachRun(int64_t window, int64_t first, int64_t count, const Visit& visit) const {
    const int64_t image = window / perImage(), own = window % perImage();
    const int64_t across = width / windowWidth;
    const int64_t top = own / across * windowHeight + shiftY;
    const int64_t left = own % across * windowWidth + shiftX;
    int64_t line = first / windowWidth, column = first % windowWidth;
    while (count > 0) {
      const int64_t y = within(top + line, height), x = within(left + column, width);
      const int64_t run = std::min({count, windowWidth - column, width - x});
      visit((image * height + y) * width + x, run);
      count -= run;
      column += run;
      if (column < windowWidth) continue;
      column = 0;
      ++line;
    }
  }
  int64_t place(int64_t window, int64_t token) const {
    int64_t found = 0;
    forEachRun(window, token, 1, [&](int64_t place, int64_t) { found = place; });
    return found;
  }

 private:
  // Around the edge, which less than one size lies beyond.
  static int64_t within(int64_t at, int64_t size) { return at < size ? at : at - size; }
};

}  // namespace camshaft
