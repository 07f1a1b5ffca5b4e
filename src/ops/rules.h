// The checks inference functions share. Each throws an Error that names the node; what sizes of
// run time decide becomes a condition that runs check (sizeConditionsOf).
#pragma once

#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace camshaft {

// False only when the sizes differ whatever their symbols turn out to be.
bool mayBeEqual(const Dim& a, const Dim& b);
// Of two sizes taken to be equal, the one that says more: a number rather than an expression.
const Dim& moreKnown(const Dim& a, const Dim& b);

// Whether a <= b whatever their symbols turn out to be; false where that is not seen.
bool isAtMost(const Dim& a, const Dim& b);

// What a node's inference asks of sizes and cannot decide while building. Every run checks it as
// soon as the sizes are known, so that no kernel works on sizes that nobody has looked at.
std::vector<SizeCondition> sizeConditionsOf(const Node& node);

// Throws the condition's sentence where it never holds, and leaves it to the run where it may not.
void requireSizes(SizeCondition condition);
// a == b for what has no sentence of its own: the error, or the run's, is `sentence` and the sizes.
void requireSame(const Dim& a, const Dim& b, std::string_view sentence);
// "node 'c' (Conv) has 0 rows where it needs at least 1"
void requireAtLeast(const Node& node, const Dim& have, std::string_view haveWhat, const Dim& least);
// "node 'c' (Conv) has 7 channels where it needs a multiple of 4"
void requireMultiple(const Node& node, const Dim& have, std::string_view haveWhat,
                     const Dim& factor);

// The size that both broadcast to, either of which may be 1 at run time; `who` has them.
Dim broadcastSize(const Dim& a, const Dim& b, std::string_view who);

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
// may then differ in sign), f32 when they are f8e4m3 or f8e5m2 (in any combination).
DataType productType(const Node& node);

}  // namespace camshaft
