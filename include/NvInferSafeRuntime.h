#pragma once

// There is no runtime of its own for certified systems: programs that include this header get the
// one that everybody has.

#include "NvInferRuntime.h"
