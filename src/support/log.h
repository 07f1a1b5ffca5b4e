// Where messages go: a handle that is passed down to whoever has something to say.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "support/text.h"

namespace camshaft {

enum class Severity { kInternalError, kError, kWarning, kInfo, kVerbose };  // most urgent first

std::string_view toString(Severity severity);  // "warning"

// Copies share one sink, which must take calls from any thread. A default Log is silent.
class Log {
 public:
  using Sink = std::function<void(Severity, std::string_view message)>;

  Log() = default;
  explicit Log(Sink sink, Severity leastUrgent = Severity::kInfo)
      : sink_(std::move(sink)), leastUrgent_(leastUrgent) {}

  bool enabled(Severity severity) const { return sink_ && severity <= leastUrgent_; }

  // The arguments are put together by str(), and only when somebody listens.
  template <class... Args>
  void write(Severity severity, const Args&... args) const {
    if (enabled(severity)) sink_(severity, str(args...));
  }
  template <class... Args>
  void error(const Args&... args) const {
    write(Severity::kError, args...);
  }
  template <class... Args>
  void warning(const Args&... args) const {
    write(Severity::kWarning, args...);
  }
  template <class... Args>
  void info(const Args&... args) const {
    write(Severity::kInfo, args...);
  }
  template <class... Args>
  void verbose(const Args&... args) const {
    write(Severity::kVerbose, args...);
  }

 private:
  Sink sink_;
  Severity leastUrgent_ = Severity::kInfo;
};

}  // namespace camshaft
