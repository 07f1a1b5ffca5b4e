// camshaft-trials: runs kernels of a GPU for a build in another process, so that one that faults or
// hangs costs this process and not the build's; or compiles them, beside others that do, since
// NVRTC has threads of one process wait for each other. The build starts it, with its end of a
// socket as descriptor 3, the CUDA backend to load as the argument, and "compile" behind that for
// the second; it is of no use otherwise.
#include <sys/prctl.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tuner/compile_processes.h"
#include "tuner/trial_wire.h"

int main(int count, char** arguments) {
  constexpr int kSocket = 3;
  struct stat status{};
  const bool compiles = count == 3 && std::strcmp(arguments[2], "compile") == 0;
  if ((count != 2 && !compiles) || fstat(kSocket, &status) != 0 || !S_ISSOCK(status.st_mode)) {
    std::fputs("camshaft-trials is started by builds for GPUs, to try kernels in.\n", stderr);
    return 64;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setenv("CAMSHAFT_CUDA_LIBRARY", arguments[1], 1);
  return compiles ? camshaft::serveCompilations(kSocket) : camshaft::serveTrials(kSocket);
}
