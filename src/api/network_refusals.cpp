// Marks that networks cannot have yet.
#include "api/network.h"

namespace camshaft::api {

using namespace nvinfer1;

namespace {}  // namespace
}  // namespace camshaft::api
