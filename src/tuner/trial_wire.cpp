#include "tuner/trial_wire.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "support/byte_reader.h"
#include "support/error.h"

namespace camshaft {
namespace {

struct Header {
  TrialMessage kind;
  uint64_t size;
};

[[noreturn]] void failSocket(const char* what) {
  fail(ErrorKind::kIo, "the process that tries kernels ", what);
}

void sendAll(int socket, const void* data, size_t size) {
  const auto* at = static_cast<const std::byte*>(data);
  while (size > 0) {
    const ssize_t sent = ::send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) failSocket("reads no more");
    at += sent, size -= static_cast<size_t>(sent);
  }
}

void receiveAll(int socket, void* data, size_t size) {
  auto* at = static_cast<std::byte*>(data);
  while (size > 0) {
    const ssize_t got = ::recv(socket, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) failSocket("has ended");
    at += got, size -= static_cast<size_t>(got);
  }
}

bool waitFor(int socket, std::optional<std::chrono::milliseconds> limit) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + limit.value_or(std::chrono::milliseconds(0));
  for (;;) {
    pollfd entry{.fd = socket, .events = POLLIN, .revents = 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    const int count = poll(&entry, 1, limit ? static_cast<int>(std::max<int64_t>(left, 0)) : -1);
    if (count > 0) return true;
    if (count == 0) return false;
    if (errno != EINTR) failSocket("cannot be waited for");
  }
}

void writeTensor(ByteWriter& writer, TensorArg tensor) {
  tensor.data = nullptr;
  writer.write(tensor.type);
  writer.write(tensor.rank);
  for (const int64_t dim : tensor.dims) writer.write(dim);
}

TensorArg readTensor(ByteReader& reader) {
  TensorArg tensor;
  tensor.type = reader.read<DataType>();
  tensor.rank = reader.read<int32_t>();
  for (int64_t& dim : tensor.dims) dim = reader.read<int64_t>();
  return tensor;
}

void writeBlock(ByteWriter& writer, std::span<const std::byte> bytes) {
  writer.write<uint64_t>(bytes.size());
  writer.writeBytes(bytes);
}

std::span<const std::byte> readBlock(ByteReader& reader) {
  const auto size = reader.read<uint64_t>();
  return reader.readBytes(size);
}

}  // namespace

TrialChannel::~TrialChannel() { close(socket_); }

void TrialChannel::send(TrialMessage kind, std::span<const std::byte> bytes) const {
  Header header{};
  header.kind = kind;
  header.size = bytes.size();
  sendAll(socket_, &header, sizeof header);
  sendAll(socket_, bytes.data(), bytes.size());
}

std::optional<Message> TrialChannel::receive(std::optional<std::chrono::milliseconds> limit) const {
  if (!waitFor(socket_, limit)) return std::nullopt;
  Header header{};
  receiveAll(socket_, &header, sizeof header);
  Message message{header.kind, std::vector<std::byte>(header.size)};
  receiveAll(socket_, message.bytes.data(), message.bytes.size());
  return message;
}

std::vector<std::byte> toBytes(const TrialOperands& operands) {
  ByteWriter writer;
  writer.write<uint64_t>(operands.inputs.size());
  for (const TrialInput& input : operands.inputs) {
    writeTensor(writer, input.tensor);
    writer.write(input.isPresent);
    writer.write(input.low);
    writer.write(input.high);
    writeBlock(writer, input.bytes);
  }
  writer.write<uint64_t>(operands.outputs.size());
  for (const TensorArg& output : operands.outputs) writeTensor(writer, output);
  return writer.take();
}

TrialOperands operandsIn(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "the operands of a trial");
  TrialOperands operands;
  for (auto left = reader.read<uint64_t>(); left > 0; --left) {
    TrialInput& input = operands.inputs.emplace_back();
    input.tensor = readTensor(reader);
    input.isPresent = reader.read<bool>();
    input.low = reader.read<double>();
    input.high = reader.read<double>();
    input.bytes = readBlock(reader);
  }
  for (auto left = reader.read<uint64_t>(); left > 0; --left)
    operands.outputs.push_back(readTensor(reader));
  reader.expectEnd();
  return operands;
}

std::vector<std::byte> toBytes(const Trial& trial, const MeasureOptions& options) {
  ByteWriter writer;
  writer.write(options.minMilliseconds);
  writer.write<int32_t>(options.minRuns);
  writer.write(options.best);
  writer.writeString(trial.kernel);
  writeBlock(writer, trial.params);
  writeBlock(writer, trial.binary);
  writer.write<uint64_t>(trial.inputs.size());
  for (const TrialStepInput& input : trial.inputs) {
    writer.write<int32_t>(input.nodeInput);
    writeTensor(writer, input.packed);
    writeBlock(writer, input.bytes);
  }
  writer.writeVector(trial.dims);
  writer.write(trial.workspaceBytes);
  return writer.take();
}

std::pair<Trial, MeasureOptions> trialIn(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "a trial");
  std::pair<Trial, MeasureOptions> both;
  auto& [trial, options] = both;
  options.minMilliseconds = reader.read<double>();
  options.minRuns = reader.read<int32_t>();
  options.best = reader.read<double>();
  trial.kernel = reader.readString();
  trial.params = readBlock(reader);
  trial.binary = readBlock(reader);
  for (auto left = reader.read<uint64_t>(); left > 0; --left) {
    TrialStepInput& input = trial.inputs.emplace_back();
    input.nodeInput = reader.read<int32_t>();
    input.packed = readTensor(reader);
    input.bytes = readBlock(reader);
  }
  trial.dims = reader.readVector<int64_t>();
  trial.workspaceBytes = reader.read<int64_t>();
  reader.expectEnd();
  return both;
}

std::vector<std::byte> toBytes(const TrialResults& results) {
  ByteWriter writer;
  writer.write<uint64_t>(results.size());
  for (const std::vector<std::byte>& result : results) writeBlock(writer, result);
  return writer.take();
}

TrialResults resultsIn(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "the results of a trial");
  TrialResults results;
  for (auto left = reader.read<uint64_t>(); left > 0; --left) {
    const std::span<const std::byte> block = readBlock(reader);
    results.emplace_back(block.begin(), block.end());
  }
  reader.expectEnd();
  return results;
}

}  // namespace camshaft
