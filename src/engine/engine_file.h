// Plans to bytes and back.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "support/function_ref.h"

namespace camshaft {

// What of a plan that can be refitted goes into its file.
struct EngineParts {
  bool weights = true;  // else the weights that a refit sets are left out
  bool refit = true;    // else it cannot be refitted any more
};

// What it gives can be read: a plan beyond the format's limits is Error(kUnsupported), which names
// the layer. Weights are left out only of plans that can be refitted.
std::vector<std::byte> writeEngine(const Plan& plan, const EngineParts& parts = {});
// The same piece by piece, from first to last: of the weights there is no copy then.
using EngineSink = FunctionRef<void(std::span<const std::byte> piece)>;
void writeEngine(const Plan& plan, const EngineParts& parts, EngineSink sink);

// What would be read of the plan's file, with the weights where they are.
Plan asRead(Plan plan, const EngineParts& parts = {});

// Every index, offset and size is checked before it is believed: a damaged, foreign or hostile
// file is Error(kInvalidEngine) in one sentence. When `owner` is given the weights stay where they
// are and share it; without one they are copied, and the bytes may go.
Plan readEngine(std::span<const std::byte> bytes, std::shared_ptr<const void> owner = nullptr);

Plan readEngineFile(const std::string& path);  // maps the file

}  // namespace camshaft
