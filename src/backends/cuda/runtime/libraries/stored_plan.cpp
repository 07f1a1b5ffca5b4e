#include "backends/cuda/runtime/libraries/stored_plan.h"

#include <map>
#include <mutex>
#include <semaphore>

#include "backends/cuda/runtime/libraries/calling_context.h"
#include "backends/cuda/runtime/libraries/cudnn.h"
#include "support/byte_reader.h"
#include "support/error.h"

namespace camshaft::cuda {
namespace {

using Loading = std::shared_future<std::shared_ptr<const CudnnPlan>>;

// Each loader needs a handle of its own, and these are not cheap.
constexpr int kLoaders = 8;

std::shared_ptr<const CudnnPlan> load(CUcontext context, const std::string& json) {
  static std::counting_semaphore<kLoaders>& seats =
      *new std::counting_semaphore<kLoaders>(kLoaders);
  seats.acquire();
  std::shared_ptr<const CudnnPlan> plan;
  try {
    enterContext(context);
    const RelaxedCapture relaxed;
    const CudnnHandleLease lease;
    plan = std::make_shared<const CudnnPlan>(json, lease.get());
  } catch (const Error&) {  // built for another device: planned anew
  }
  seats.release();
  return plan;
}

class LoadedPlans {
 public:
  std::shared_ptr<const Loading> get(const std::string& json) {
    const CUcontext context = currentContext();
    const std::lock_guard lock(mutex_);
    std::weak_ptr<const Loading>& known = plans_[{context, json}];
    std::shared_ptr<const Loading> loading = known.lock();
    if (!loading) {
      loading =
          std::make_shared<const Loading>(std::async(std::launch::async, load, context, json));
      known = loading;
      std::erase_if(plans_, [](const auto& entry) { return entry.second.expired(); });
    }
    return loading;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<CUcontext, std::string>, std::weak_ptr<const Loading>> plans_;
};

// Null without a device, or for another version of the library.
std::shared_ptr<const Loading> startLoading(uint64_t version, const std::string& json) {
  static LoadedPlans& plans = *new LoadedPlans;
  try {
    return version == cudnn().getVersion() ? plans.get(json) : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

void writeStoredPlan(ByteWriter& writer, const CudnnPlan& plan) {
  writer.write<uint64_t>(cudnn().getVersion());
  writer.writeString(plan.json());
}

StoredPlan StoredPlan::read(ByteReader& reader) {
  StoredPlan stored;
  const auto version = reader.read<uint64_t>();
  const std::string json(reader.readString());
  reader.expectEnd();
  stored.loading_ = startLoading(version, json);
  return stored;
}

std::shared_ptr<const CudnnPlan> StoredPlan::get(int64_t workspaceBytes) const {
  if (!loading_) return nullptr;
  std::shared_ptr<const CudnnPlan> plan = loading_->get();
  return plan && plan->workspaceBytes() <= workspaceBytes ? plan : nullptr;
}

}  // namespace camshaft::cuda
