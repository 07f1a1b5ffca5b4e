// Damaged models: every one is read or refused with Error, and nothing else happens.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>

#include "onnx/wire/read_model.h"
#include "onnx/wire/tensor.h"
#include "support/error.h"
#include "testing/onnx_message.h"

namespace camshaft::onnx {
namespace {

Message tensorOfEachEncoding(int which) {
  switch (which) {
    case 0:
      return tensorMessage("raw", 1, {2}).bytes(9, "12345678");
    case 1:
      return tensorMessage("floats", 1, {2}).packed(4, std::vector{1.f, 2.f});
    case 2:
      return tensorMessage("ints", 7, {2}).varints(7, {1, -1});
    case 3:
      return tensorMessage("halves", 10, {2}).packed(5, std::vector<int64_t>{1, 2});
    case 4:
      return tensorMessage("doubles", 11, {1}).fixed(10, 1.0);
    default:
      return tensorMessage("external", 1, {1})
          .message(13, Message().bytes(1, "location").bytes(2, "nowhere"))
          .varint(14, 1);
  }
}

// A model with every kind of field in it.
std::string richModel() {
  const Message shape =
      Message().message(1, Message().varint(1, 3)).message(1, Message().bytes(2, "n"));
  const Message type = Message().message(1, Message().varint(1, 1).message(2, shape));
  const Message value = Message().bytes(1, "x").message(2, type);
  const Message sequence =
      Message().bytes(1, "q").message(2, Message().message(4, Message().message(1, type)));
  Message node = Message().bytes(1, "x").bytes(2, "y").bytes(3, "node").bytes(4, "If");
  Message body = Message().bytes(2, "body").message(1, Message().bytes(4, "Relu"));
  node.message(5, Message().bytes(1, "f").fixed(2, 1.f).varint(20, 1))
      .message(5, Message().bytes(1, "ints").varints(8, {1, 2}).varint(20, 7))
      .message(5, Message().bytes(1, "floats").packed(7, std::vector{1.f}).varint(20, 6))
      .message(5, Message().bytes(1, "t").message(5, tensorOfEachEncoding(0)).varint(20, 4))
      .message(5, Message().bytes(1, "g").message(6, body).varint(20, 5));
  const Message sparse = Message()
                             .message(1, tensorMessage("s", 1, {1}).fixed(4, 1.f))
                             .message(2, tensorMessage("", 7, {1}).varint(7, 2))
                             .varint(3, 4);
  Message graph =
      Message().message(1, node).bytes(2, "main").message(11, value).message(12, sequence);
  for (int i = 0; i < 6; ++i) graph.message(5, tensorOfEachEncoding(i));
  graph.message(15, sparse);
  return Message()
      .varint(1, 10)
      .message(7, graph)
      .message(8, Message().varint(2, 20))
      .message(25, Message().bytes(1, "F").message(7, node))
      .encoded();
}

// Reads all there is to read. The copy is exactly as large as its contents, so that a sanitizer
// sees the first byte read past it.
bool readsWhole(std::string_view bytes) {
  const auto exact = std::make_unique<std::byte[]>(bytes.size());
  std::memcpy(exact.get(), bytes.data(), bytes.size());
  try {
    const LoadedModel loaded = readModelBytes({exact.get(), bytes.size()});
    const auto tryRead = [&](const auto& tensor) {
      try {
        tensorData(tensor, *loaded.files);
      } catch (const Error& error) {
        EXPECT_FALSE(error.message().empty());
      }
    };
    for (const Tensor& tensor : loaded.model.graph.initializers) tryRead(tensor);
    for (const SparseTensor& tensor : loaded.model.graph.sparseInitializers) tryRead(tensor);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidModel) << error.message();
    return false;
  }
}

TEST(HostileModel, TheSoundModelReads) { EXPECT_TRUE(readsWhole(richModel())); }

TEST(HostileModel, EveryPrefixIsReadOrRefused) {
  const std::string model = richModel();
  size_t refused = 0;
  for (size_t size = 0; size < model.size(); ++size) {
    refused += !readsWhole(std::string_view(model).substr(0, size));
  }
  EXPECT_GT(refused, model.size() / 2);
}

TEST(HostileModel, EveryByteCanBeWrong) {
  const std::string model = richModel();
  std::mt19937 random(1);
  for (size_t position = 0; position < model.size(); ++position) {
    for (const int value : {0x00, 0x7f, 0x80, 0xff, static_cast<int>(random() & 0xff)}) {
      std::string damaged = model;
      damaged[position] = static_cast<char>(value);
      readsWhole(damaged);
    }
  }
}

TEST(HostileModel, SeveralBytesCanBeWrong) {
  const std::string model = richModel();
  std::mt19937 random(2);
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = model;
    for (int flips = 1 + random() % 8; flips > 0; --flips) {
      damaged[random() % damaged.size()] ^= static_cast<char>(1u << (random() % 8));
    }
    readsWhole(damaged);
  }
}

TEST(HostileModel, DeclaredSizesAllocateNothing) {
  const Message huge = tensorMessage("huge", 1, {int64_t{1} << 40}).packed(4, std::vector{1.f});
  EXPECT_TRUE(readsWhole(modelWith(Message().message(5, huge)).encoded()));
  // A graph that claims to be 2^62 bytes long.
  EXPECT_FALSE(readsWhole("\x08\x0a\x3a\x80\x80\x80\x80\x80\x80\x80\x80\x40"));
}

}  // namespace
}  // namespace camshaft::onnx
