// The checks inference functions share. Each throws an Error that names the node.
#pragma once

#include <initializer_list>
#include <string_view>

#include "ir/graph.h"

namespace camshaft {

// False only when the sizes differ whatever their symbols turn out to be.
bool mayBeEqual(const Dim& a, const Dim& b);
// Of two sizes taken to be equal, the one that says more: a number rather than an expression.
const Dim& moreKnown(const Dim& a, const Dim& b);

// Whether a <= b whatever their symbols turn out to be; false where that is not seen.
bool isAtMost(const Dim& a, const Dim& b);

// "node 'c' (Conv) has 3 input channels where its weights have 4"
void requireEqual(const Node& node, const Dim& have, std::string_view haveWhat, const Dim& want,
                  std::string_view wantWhat);
void requireRank(const Node& node, int input, std::string_view what, int64_t rank);
void requireShape(const Node& node, int input, std::string_view what, const Shape& shape);
void requireBroadcastsTo(const Node& node, int input, std::string_view what, const Shape& shape);
// 0 <= axis < rank of input 0.
void requireAxis(const Node& node, int64_t axis);
void requireFloat(const Node& node, int input);
void requireSameType(const Node& node, int input, int other);
// Type of a sum of products of inputs 0 and 1: theirs, or i32 when they are 8-bit integers (which
// may then differ in sign).
DataType productType(const Node& node);

}  // namespace camshaft
