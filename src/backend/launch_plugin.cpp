#include <cstring>

#include "backend/device.h"
#include "support/error.h"

namespace camshaft {
namespace {

[[noreturn]] void refuse(size_t input, size_t output) {
  fail(ErrorKind::kInvalidEngine, "the engine is damaged: a plugin changes its input ", input,
       " as its output ", output, ", which are not alike; build it again");
}

}  // namespace

void launchPlugin(AttachedPlugin& plugin, const LaunchArgs& args, Device* device) {
  const std::span<const int32_t> aliases = plugin.aliases();
  for (size_t i = 0; i < aliases.size(); ++i) {
    if (aliases[i] < 0) continue;
    const auto input = static_cast<size_t>(aliases[i]);
    if (i >= args.outputs.size() || input >= args.inputs.size()) refuse(input, i);
    const TensorArg &from = args.inputs[input], &to = args.outputs[i];
    const size_t bytes = bytesOf(to.type, to.count());
    if (bytesOf(from.type, from.count()) != bytes) refuse(input, i);
    if (bytes == 0) continue;
    if (device)
      device->copy(to.data, from.data, static_cast<int64_t>(bytes), args.stream);
    else
      std::memcpy(to.data, from.data, bytes);
  }
  plugin.launch(args);
}

}  // namespace camshaft
