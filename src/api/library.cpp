// The shared libraries' only own source: what they offer comes from the archives they link.
#include "NvInferRuntime.h"
