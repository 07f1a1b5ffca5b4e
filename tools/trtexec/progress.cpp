#include "progress.h"

#include <algorithm>
#include <cstdio>

namespace trtexec {

void ProgressBar::phaseStart(const char* phase, const char*, int32_t steps) noexcept {
  phases_.push_back({phase, std::max(1, steps), 0});
  draw();
}

bool ProgressBar::stepComplete(const char* phase, int32_t step) noexcept {
  for (Phase& running : phases_)
    if (running.name == phase) running.done = step + 1;
  draw();
  return true;
}

void ProgressBar::phaseFinish(const char* phase) noexcept {
  std::erase_if(phases_, [&](const Phase& running) { return running.name == phase; });
  draw();
}

void ProgressBar::draw() {
  constexpr int kWidth = 24;
  std::fputs("\r\033[K", stderr);
  if (!phases_.empty()) {
    const Phase& inner = phases_.back();
    const int filled = std::min(kWidth, kWidth * inner.done / inner.steps);
    std::fprintf(stderr, "[%s%s] %3d%% %s", std::string(static_cast<size_t>(filled), '#').c_str(),
                 std::string(static_cast<size_t>(kWidth - filled), '.').c_str(),
                 std::min(100, 100 * inner.done / inner.steps), inner.name.c_str());
  }
  std::fflush(stderr);
}

}  // namespace trtexec
