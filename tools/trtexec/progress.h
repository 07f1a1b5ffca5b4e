// A progress bar for builds on a terminal.
#pragma once

#include <string>
#include <vector>

#include "NvInfer.h"

namespace trtexec {

// One line on stderr, redrawn in place: the phases that are running and how far each is.
class ProgressBar : public nvinfer1::IProgressMonitor {
 public:
  void phaseStart(const char* phase, const char* parent, int32_t steps) noexcept override;
  bool stepComplete(const char* phase, int32_t step) noexcept override;
  void phaseFinish(const char* phase) noexcept override;

 private:
  struct Phase {
    std::string name;
    int32_t steps;
    int32_t done;
  };
  void draw();
  std::vector<Phase> phases_;
};

}  // namespace trtexec
