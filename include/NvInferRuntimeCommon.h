#pragma once

// Kept for clients that include this name to reach ILogger and the base types.
#include "NvInferRuntime.h"
