// IRuntimeConfig and ISerializationConfig: plain settings.
#pragma once

#include "api/implements.h"
#include "api/report.h"

namespace camshaft::api {

class RuntimeConfig final : public Implements<nvinfer1::IRuntimeConfig> {
 public:
  using Strategy = nvinfer1::ExecutionContextAllocationStrategy;
  explicit RuntimeConfig(const Reporter& reporter, Strategy strategy = Strategy::kSTATIC)
      : reporter_(reporter), strategy_(strategy) {}

  nvinfer1::IRuntimeConfig* getPImpl() noexcept override { return this; }
  void setExecutionContextAllocationStrategy(Strategy strategy) noexcept override {
    guarded(reporter_, false, [&] {
      requireKnown(strategy, "allocation strategy");
      strategy_ = strategy;
      return true;
    });
  }
  Strategy getExecutionContextAllocationStrategy() const noexcept override { return strategy_; }

 private:
  Reporter reporter_;
  Strategy strategy_;
};

class SerializationConfig final : public Implements<nvinfer1::ISerializationConfig> {
 public:
  using Flag = nvinfer1::SerializationFlag;
  using Flags = nvinfer1::SerializationFlags;
  explicit SerializationConfig(const Reporter& reporter) : reporter_(reporter) {}

  bool setFlags(Flags flags) noexcept override {
    flags_ = flags;
    return true;
  }
  Flags getFlags() const noexcept override { return flags_; }
  bool clearFlag(Flag flag) noexcept override {
    return guarded(reporter_, false, [&] {
      flags_ &= ~bitOf(flag);
      return true;
    });
  }
  bool setFlag(Flag flag) noexcept override {
    return guarded(reporter_, false, [&] {
      flags_ |= bitOf(flag);
      return true;
    });
  }
  bool getFlag(Flag flag) const noexcept override {
    return guarded(reporter_, false, [&] { return (flags_ & bitOf(flag)) != 0; });
  }

 private:
  static Flags bitOf(Flag flag) {
    requireKnown(flag, "serialisation flag");
    return 1u << static_cast<uint32_t>(flag);
  }

  Reporter reporter_;
  Flags flags_ = 1u << static_cast<uint32_t>(Flag::kEXCLUDE_LEAN_RUNTIME);  // there never is one
};

}  // namespace camshaft::api
