// Memory that runs out when a test says so, for everything in the process.
#pragma once

#include <cstdint>

namespace camshaft::allocation {

enum class Kind { kHost, kDevice };

// From now on the n-th allocation of a kind fails, counted from 1 and over all threads; 0: none
// does. With `onwards` all after it fail too, as when there is no memory left.
void failAt(int64_t n, bool onwards = false, Kind kind = Kind::kHost);
void failNoMore();           // and count on
int64_t allocationsSince();  // the last failAt(), of its kind
int64_t allocationsAlive();  // not yet freed, of the host's

// Counts an allocation; true when it is to fail.
bool countsAsFailed(Kind kind);

}  // namespace camshaft::allocation
