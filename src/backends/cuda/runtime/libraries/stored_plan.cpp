#include "backends/cuda/runtime/libraries/stored_plan.h"

#include <deque>
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
class Seat {
 public:
  Seat() { seats().acquire(); }
  ~Seat() { seats().release(); }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

 private:
  static constexpr int kLoaders = 8;
  static std::counting_semaphore<kLoaders>& seats() {
    static auto& instance = *new std::counting_semaphore<kLoaders>(kLoaders);
    return instance;
  }
};

std::shared_ptr<const CudnnPlan> load(CUcontext context, const std::string& json) {
  const Seat seat;
  try {
    enterContext(context);
    const RelaxedCapture relaxed;
    const CudnnHandleLease lease;
    return std::make_shared<const CudnnPlan>(json, lease.get());
  } catch (const Error&) {
    return nullptr;  // built for another device: planned anew
  }
}

// Plans that are alive, and the latest that were written.
class LoadedPlans {
 public:
  void keep(const std::string& json, std::shared_ptr<const CudnnPlan> plan) {
    constexpr size_t kMostKept = 256;
    std::promise<std::shared_ptr<const CudnnPlan>> ready;
    ready.set_value(std::move(plan));
    const auto loading = std::make_shared<const Loading>(ready.get_future().share());
    const CUcontext context = currentContext();
    const std::lock_guard lock(mutex_);
    if (kept_.size() == kMostKept) kept_.pop_front();
    kept_.push_back(loading);
    plans_[{context, json}] = loading;
  }

  void forgetKept() {
    const std::lock_guard lock(mutex_);
    kept_.clear();
  }

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
  std::deque<std::shared_ptr<const Loading>> kept_;
};

LoadedPlans& loadedPlans() {
  static LoadedPlans& instance = *new LoadedPlans;  // outlives cuDNN's own end of the process
  return instance;
}

// Null without a device, or for another version of the library.
std::shared_ptr<const Loading> startLoading(uint64_t version, const std::string& json) {
  try {
    return version == cudnn().getVersion() ? loadedPlans().get(json) : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

void writeStoredPlan(ByteWriter& writer, std::shared_ptr<const CudnnPlan> plan) {
  const std::string json = plan->json();
  writer.write<uint64_t>(cudnn().getVersion());
  writer.writeString(json);
  loadedPlans().keep(json, std::move(plan));
}

void forgetWrittenPlans() { loadedPlans().forgetKept(); }

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
