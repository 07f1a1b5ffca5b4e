// What operands hold while kernels are tried.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <random>

#include "ir/tensor.h"
#include "tuner/trial.h"

namespace camshaft {
namespace {

// Large tensors repeat a block. Its length is prime, so that rows and tiles of a kernel that reads
// the wrong ones are not the right ones by chance.
constexpr int64_t kBlock = 262139;

std::vector<std::byte> randomBlock(DataType type, int64_t count, double low, double high) {
  std::minstd_rand random;
  std::vector<std::byte> bytes(bytesOf(type, count));
  if (isPacked(type)) {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() >> 8);
    return bytes;
  }
  std::uniform_real_distribution<double> real(low, high);
  std::uniform_int_distribution<int64_t> integer(static_cast<int64_t>(low),
                                                 static_cast<int64_t>(high));
  for (int64_t i = 0; i < count; ++i)
    writeElement(type, bytes.data(), i,
                 isFloat(type) ? real(random) : static_cast<double>(integer(random)));
  return bytes;
}

// The block of the usual range, made once.
const std::vector<std::byte>& usualBlock(DataType type, const TrialInput& usual) {
  static std::mutex mutex;
  static std::map<DataType, std::vector<std::byte>> blocks;
  const std::lock_guard lock(mutex);
  std::vector<std::byte>& block = blocks[type];
  if (block.empty()) block = randomBlock(type, kBlock, usual.low, usual.high);
  return block;
}

}  // namespace

std::vector<std::byte> Filling::whole() const {
  std::vector<std::byte> all(static_cast<size_t>(bytes));
  for (size_t at = 0; at < all.size(); at += block.size())
    std::memcpy(all.data() + at, block.data(), std::min(block.size(), all.size() - at));
  return all;
}

Filling fillingOf(const TrialInput& input) {
  static const TrialInput kUsual;
  const DataType type = input.tensor.type;
  const int64_t count = input.tensor.count();
  const bool isUsual = isFloat(type) && !isPacked(type) && count >= kBlock / 16 &&
                       input.low == kUsual.low && input.high == kUsual.high;
  return {.block = isUsual ? usualBlock(type, kUsual)
                           : randomBlock(type, std::clamp<int64_t>(count, 1, kBlock - 1), input.low,
                                         input.high),
          .bytes = static_cast<int64_t>(bytesOf(type, count))};
}

Filling anyBytes(const TensorArg& packed) {
  static const std::vector<std::byte> kBytes = randomBlock(DataType::kU8, kBlock, 0, 255);
  return {.block = kBytes, .bytes = static_cast<int64_t>(bytesOf(packed.type, packed.count()))};
}

}  // namespace camshaft
