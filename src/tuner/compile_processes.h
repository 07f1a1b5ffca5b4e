// Device code that is compiled in processes of its own.
#pragma once

#include "backend/kernel.h"
#include "support/log.h"

namespace camshaft {

// As backend.compile(sources, target). Where threads of one process keep each other waiting
// (RuntimeBackend::compileAlone), as many processes as there are cores share the sources. What
// these cannot do, this process does; a source that ends its process has that for an error.
std::vector<CompiledCode> compileApart(const BuildBackend& backend,
                                       std::span<const std::string> sources,
                                       const BuildTarget& target, const Log& log);

// The side of such a process: compiles what comes over the socket until it is closed; the exit
// status.
int serveCompilations(int socket);

}  // namespace camshaft
