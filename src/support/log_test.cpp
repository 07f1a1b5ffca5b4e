#include "support/log.h"

#include <gtest/gtest.h>

#include <vector>

namespace camshaft {
namespace {

struct CountsPrinting {
  int* printed;
};
std::string toString(const CountsPrinting& value) { return str("printed ", ++*value.printed); }

TEST(Log, WritesWhatIsUrgentEnough) {
  std::vector<std::string> lines;
  const Log log([&](Severity severity, std::string_view message) {
    lines.push_back(str(severity, ": ", message));
  });
  int printed = 0;
  log.error("node '", "conv1", "' has ", 3, " inputs");
  log.warning("slow");
  log.info(CountsPrinting{&printed});
  log.verbose(CountsPrinting{&printed});
  log.write(Severity::kInternalError, "a bug");
  EXPECT_EQ(lines, (std::vector<std::string>{"error: node 'conv1' has 3 inputs", "warning: slow",
                                             "info: printed 1", "internal error: a bug"}));
  EXPECT_EQ(printed, 1) << "a message nobody reads is not formatted";
}

TEST(Log, TheThresholdIsInclusive) {
  int calls = 0;
  const Log log([&](Severity, std::string_view) { ++calls; }, Severity::kVerbose);
  log.verbose("x");
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(log.enabled(Severity::kVerbose));
}

TEST(Log, TheDefaultIsSilent) {
  const Log log;
  EXPECT_FALSE(log.enabled(Severity::kInternalError));
  log.error("nobody hears this");
}

}  // namespace
}  // namespace camshaft
