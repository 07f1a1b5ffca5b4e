// Where the tensors of a context lie: the caller's buffers, the arenas, and buffers that grow.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "runtime/hazards.h"
#include "runtime/loaded_engine.h"
#include "runtime/overlaps.h"
#include "runtime/recordings.h"
#include "runtime/sizes.h"

namespace camshaft {

// The second thing a run needs: sizes go in, addresses come out, and no operand is larger than the
// memory it is led to. The arenas are allocated here, once; place() allocates only for buffers
// whose size has no bound.
class OperandMemory {
 public:
  // Called when an output's size is known only now; returns where to write it (at least `bytes`).
  using OutputAllocator =
      std::function<void*(int output, void* current, int64_t bytes, std::span<const int64_t> dims)>;
  enum class ArenaOwner {
    kContext,     // as large as any profile needs, once
    kPerProfile,  // the context's too, as large as the profile needs that is chosen
    kCaller,
  };

  OperandMemory(const LoadedEngine& engine, Sizes& sizes, ArenaOwner arenaOwner);

  // Before `sizes` become that profile's. Where memory is short it throws and stays with the
  // profile it has, which then gets its arenas from reserveArenas().
  void setProfile(const ProfilePlan& profile);

  // What the caller brings, which the context only looks at in a run.
  void setInputAddress(int input, const void* data) {
    inputs_[input] = data;
    wereMoved_ = true;
  }
  void setOutputAddress(int output, void* data) {
    outputs_[output] = data;
    wereMoved_ = true;
  }
  const void* inputAddress(int input) const { return inputs_[input]; }
  void* outputAddress(int output) const { return outputs_[output]; }
  void setOutputAllocator(OutputAllocator allocator) {
    allocator_ = std::move(allocator);
    apartAt_ = kNever;
  }
  bool hasOutputAllocator() const { return static_cast<bool>(allocator_); }
  // The addresses are those of a plan around this one, which keeps them apart.
  void trustAddresses() { areTrusted_ = true; }
  void setArena(void* memory, int64_t bytes);
  // Where buffers without a bound come from, and go back to after each run; null: they are the
  // engine's device's, and kept. It must outlive the runs.
  void setTemporaryDevice(Device* device);
  void endRun(void* stream) noexcept;

  // In the order of a run. What is there mostly is made again where a profile that found no room
  // has freed it.
  void reserveArenas() { reserveArenas(sizes_.plan()); }
  void checkAddresses();  // everything there, in the device's reach, aligned and apart
  void beginRun(void* stream);
  // Addresses for a step's operands; `threads` and `stream` of the result are the caller's.
  LaunchArgs place(size_t step);
  void* placeResult(const Step& step, size_t output, int64_t bytes);  // where bodies know its size
  void noteResult(size_t step, size_t output);  // written by a recording, without place()
  void requireOutputsWritten() const;

  TouchedMemory touchedBy(size_t step);        // at the addresses of now
  void addAddresses(RecordingKey& key) const;  // all that place() depends on beside sizes

 private:
  void reserveArenas(const ProfilePlan& profile);
  std::vector<DeviceBuffer> dynamicBuffersOf(const ProfilePlan& profile) const;
  void checkReach();
  void checkApart();
  void findApart();
  void enlarge(DeviceBuffer& buffer, int64_t bytes);
  void makeRoom(const Step& step, const ResolvedStep& resolved);
  void* outputMemory(int output, int64_t bytes, std::span<const int64_t> dims);
  void requireOutputHolds(const Step& step, int output, int64_t bytes) const;
  void requireRoom(const Step& step, const Operand& operand, const TensorArg& arg) const;
  void* addressOf(const Operand& operand) const;
  std::byte* weightsOn(const Operand& operand, int64_t& scratchUsed);

  const LoadedEngine& engine_;
  Sizes& sizes_;
  Device* device_;                     // null: the host is the device
  Device* temporaryDevice_ = nullptr;  // stands before it, for dynamic_
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;  // the caller's
  OutputAllocator allocator_;
  std::vector<const void*> checkedAddresses_;  // of inputs, then outputs, found fit for the device
  bool areTrusted_ = false;
  CallersMemory callersMemory_;  // outputs that only the run places come as it does
  // The sizes and addresses that it was found apart at, and whether addresses were set since.
  static constexpr int64_t kNever = -1;
  int64_t apartAt_ = kNever;
  std::vector<const void*> apartInputs_;
  std::vector<void*> apartOutputs_;
  bool wereMoved_ = true;
  ArenaOwner arenaOwner_;
  DeviceBuffer arena_, hostArena_;
  std::byte* arenaData_ = nullptr;  // arena_'s, or the caller's
  int64_t callersBytes_ = 0;        // there, for whatever profile
  std::vector<DeviceBuffer> dynamic_;
  DeviceBuffer scratch_;              // where the streamed weights of one step are copied to
  void* stream_ = nullptr;            // of the run
  std::vector<void*> placed_;         // where it writes: outputs_, or where the allocator says
  std::vector<int64_t> outputBytes_;  // written there so far
};

}  // namespace camshaft
