#include "tuner/trial_wire.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "support/error.h"

namespace camshaft {
namespace {

std::vector<std::byte> someBytes(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7);
  return bytes;
}

TEST(TrialWire, TrialsGoThereAndBack) {
  const std::vector<std::byte> params = someBytes(5), binary = someBytes(9), packed = someBytes(24);
  Trial trial{.kernel = "cuda/x",
              .params = params,
              .binary = binary,
              .dims = {1, -2, 3},
              .workspaceBytes = 77};
  trial.inputs.push_back({2});
  trial.inputs.push_back({-1, {.type = DataType::kF16, .rank = 2, .dims = {3, 4}}, packed});
  const std::vector<std::byte> bytes =
      toBytes(trial, {.minMilliseconds = 1.5, .minRuns = 9, .best = 0.25});
  const auto [read, options] = trialIn(bytes);
  EXPECT_EQ(toBytes(read, options), bytes);
  EXPECT_EQ(read.kernel, "cuda/x");
  EXPECT_EQ(read.inputs[0].nodeInput, 2);
  EXPECT_EQ(read.inputs[1].packed.count(), 12);
  EXPECT_TRUE(std::equal(packed.begin(), packed.end(), read.inputs[1].bytes.begin(),
                         read.inputs[1].bytes.end()));
  EXPECT_EQ(options.minRuns, 9);
}

TEST(TrialWire, OperandsAndResultsGoThereAndBack) {
  const std::vector<std::byte> constant = someBytes(8);
  TrialOperands operands;
  operands.inputs.resize(3);
  operands.inputs[0].tensor = {.type = DataType::kI32, .rank = 1, .dims = {2}};
  operands.inputs[0].bytes = constant;
  operands.inputs[1].isPresent = false;
  operands.inputs[2].low = 0, operands.inputs[2].high = 6;
  operands.outputs.push_back({.type = DataType::kF32, .rank = 1, .dims = {5}});
  const std::vector<std::byte> bytes = toBytes(operands);
  const TrialOperands read = operandsIn(bytes);
  EXPECT_EQ(toBytes(read), bytes);
  EXPECT_EQ(read.inputs[2].high, 6);
  EXPECT_FALSE(read.inputs[1].isPresent);
  EXPECT_EQ(read.outputs[0].dims[0], 5);
  const TrialResults results = {someBytes(3), {}};
  EXPECT_EQ(resultsIn(toBytes(results)), results);
}

TEST(TrialWire, MessagesOfAnySizeArriveInOrderAndTheirEndIsNoticed) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
  const TrialChannel here(sockets[0]);
  const std::vector<std::byte> large = someBytes(3 << 20);
  std::thread other([&] {
    const TrialChannel there(sockets[1]);
    there.send(TrialMessage::kWaiting);
    there.send(TrialMessage::kResults, large);
  });
  EXPECT_EQ(here.receive(std::nullopt)->kind, TrialMessage::kWaiting);
  EXPECT_EQ(here.receive(std::chrono::milliseconds(10'000))->bytes, large);
  other.join();
  EXPECT_THROW(here.receive(std::nullopt), Error);
  EXPECT_THROW(here.send(TrialMessage::kRun, large), Error);
}

TEST(TrialWire, WhatDoesNotComeInTimeIsNothing) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
  const TrialChannel here(sockets[0]), there(sockets[1]);
  EXPECT_FALSE(here.receive(std::chrono::milliseconds(20)).has_value());
}

}  // namespace
}  // namespace camshaft
