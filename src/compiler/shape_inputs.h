// Inputs whose values decide sizes.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "plan/profile.h"

namespace camshaft {

// Gives the values of such inputs names before anything is computed: a BindDims in front of all
// other nodes, whose symbols are the input's contents. So shape arithmetic on them is followed like
// that on sizes, and all that follows from them is known once they are. It is done for inputs that
// nodes bind already, and for those that every profile bounds from 0 on: symbols are not negative.
void bindShapeInputs(Graph& graph, const std::vector<ShapeProfile>& profiles);

}  // namespace camshaft
