// Triton's configuration of a model beside what the model itself says.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "settings.h"
#include "signature.h"

namespace triton_backend {

// Fills in what the configuration leaves out: inputs, outputs, and where the first dimension of all
// of them is free, max_batch_size and dynamic batching. `profiles` bound the batch where there are
// any, else `defaultBatch` does.
void completeConfig(nlohmann::json& config, const Signature& signature,
                    const std::vector<Profile>& profiles, int64_t defaultBatch);

// Throws a Failure where the configuration asks for what the model is not.
void checkConfig(const nlohmann::json& config, const Signature& signature,
                 const std::vector<Profile>& profiles);

// Bounds for what is dynamic in a model that nobody gave profiles for: batches up to
// max_batch_size, other sizes as the configuration fixes them or guessed as the builder does, with
// a warning. Empty where nothing is dynamic.
std::vector<Profile> defaultProfiles(const nlohmann::json& config, const Signature& signature);

int64_t maxBatchSize(const nlohmann::json& config);

}  // namespace triton_backend
