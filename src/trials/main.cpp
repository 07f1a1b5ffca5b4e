// camshaft-trials: runs kernels of a GPU for a build in another process, so that one that faults or
// hangs costs this process and not the build's. The build starts it, with its end of a socket as
// descriptor 3 and the CUDA backend to load as the argument; it is of no use otherwise.
#include <sys/prctl.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "tuner/trial_wire.h"

int main(int count, char** arguments) {
  constexpr int kSocket = 3;
  struct stat status{};
  if (count != 2 || fstat(kSocket, &status) != 0 || !S_ISSOCK(status.st_mode)) {
    std::fputs("camshaft-trials is started by builds for GPUs, to try kernels in.\n", stderr);
    return 64;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setenv("CAMSHAFT_CUDA_LIBRARY", arguments[1], 1);
  return camshaft::serveTrials(kSocket);
}
