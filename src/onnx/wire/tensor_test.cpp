#include "onnx/wire/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "onnx/wire/element_type.h"
#include "onnx/wire/read_model.h"
#include "support/error.h"
#include "testing/onnx_message.h"

namespace camshaft::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The tensor, read as the only initializer of a model, with the bytes it views.
struct Read {
  explicit Read(const Message& tensor)
      : encoded(modelWith(Message().message(5, tensor)).encoded()),
        loaded(readModelBytes(asBytes(encoded))) {}
  const Tensor& tensor() const { return loaded.model.graph.initializers.at(0); }
  TensorBytes data() const { return tensorData(tensor(), *loaded.files); }

  std::string encoded;
  LoadedModel loaded;
};

template <class T>
std::vector<T> valuesOf(const Message& tensor) {
  const Read read(tensor);
  const TensorBytes data = read.data();
  std::vector<T> values(data.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), data.bytes.data(), data.bytes.size());
  return values;
}

std::string failureOf(const Message& tensor, ErrorKind kind = ErrorKind::kInvalidModel) {
  try {
    Read(tensor).data();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.message();
  }
  return "no failure";
}

TEST(Tensor, RawDataIsNotCopied) {
  const Read read(tensorMessage("w", 1, {2}).bytes(9, "abcdefgh"));
  const TensorBytes data = read.data();
  EXPECT_EQ(data.type, DataType::kF32);
  EXPECT_EQ(data.bytes.size(), 8u);
  EXPECT_EQ(static_cast<const void*>(data.bytes.data()),
            read.encoded.data() + read.encoded.find("abcdefgh"));
}

TEST(Tensor, DecodesTypedFieldsPackedAndNot) {
  EXPECT_THAT(
      valuesOf<float>(tensorMessage("w", 1, {3}).fixed(4, 1.f).packed(4, std::vector{2.f, 3.f})),
      ElementsAre(1.f, 2.f, 3.f));
  EXPECT_THAT(
      valuesOf<double>(tensorMessage("w", 11, {3}).fixed(10, 1.).packed(10, std::vector{2., 3.})),
      ElementsAre(1., 2., 3.));
  EXPECT_THAT(
      valuesOf<int64_t>(
          tensorMessage("w", 7, {3}).varint(7, -1).packed(7, std::vector<int64_t>{2, 1LL << 40})),
      ElementsAre(-1, 2, 1LL << 40));
  EXPECT_THAT(valuesOf<int32_t>(tensorMessage("w", 6, {1, 2}).varints(5, {-7, 7})),
              ElementsAre(-7, 7));
  EXPECT_THAT(valuesOf<uint64_t>(tensorMessage("w", 13, {1}).varint(11, -1)), ElementsAre(~0ULL));
  EXPECT_THAT(valuesOf<uint32_t>(tensorMessage("w", 12, {1}).varint(11, 4000000000)),
              ElementsAre(4000000000u));
}

TEST(Tensor, NarrowTypesComeFromInt32Data) {
  const std::vector<int64_t> values = {-1, 5};
  EXPECT_THAT(valuesOf<int8_t>(tensorMessage("w", 3, {2}).packed(5, values)), ElementsAre(-1, 5));
  EXPECT_THAT(valuesOf<int16_t>(tensorMessage("w", 5, {2}).packed(5, values)), ElementsAre(-1, 5));
  EXPECT_THAT(valuesOf<uint8_t>(tensorMessage("w", 2, {1}).varint(5, 200)), ElementsAre(200));
  EXPECT_THAT(valuesOf<uint16_t>(tensorMessage("w", 4, {1}).varint(5, 65535)), ElementsAre(65535));
  EXPECT_THAT(valuesOf<uint16_t>(tensorMessage("w", 10, {1}).varint(5, 0x3C00)),
              ElementsAre(0x3C00));
  EXPECT_THAT(valuesOf<uint16_t>(tensorMessage("w", 16, {1}).varint(5, 0x3F80)),
              ElementsAre(0x3F80));
  EXPECT_THAT(valuesOf<uint8_t>(tensorMessage("w", 17, {1}).varint(5, 0x38)), ElementsAre(0x38));
  EXPECT_THAT(valuesOf<uint8_t>(tensorMessage("w", 19, {1}).varint(5, 0x3C)), ElementsAre(0x3C));
  EXPECT_THAT(valuesOf<uint8_t>(tensorMessage("w", 22, {3}).varints(5, {0xF1, 0x02})),
              ElementsAre(0xF1, 0x02));
  EXPECT_THAT(valuesOf<uint8_t>(tensorMessage("w", 9, {3}).varints(5, {1, 0, 256})),
              ElementsAre(1, 0, 1));
}

TEST(Tensor, BoolsAreZeroOrOne) {
  EXPECT_THAT(
      valuesOf<uint8_t>(tensorMessage("w", 9, {3}).bytes(9, std::string("\x00\x01\xff", 3))),
      ElementsAre(0, 1, 1));
}

TEST(Tensor, ScalarsAndEmptyTensors) {
  EXPECT_THAT(valuesOf<float>(tensorMessage("w", 1, {}).fixed(4, 2.f)), ElementsAre(2.f));
  EXPECT_TRUE(valuesOf<float>(tensorMessage("w", 1, {0, 5})).empty());
  EXPECT_TRUE(valuesOf<float>(tensorMessage("w", 1, {0, INT64_MAX, INT64_MAX})).empty());
}

TEST(Tensor, SizesMustMatchExactly) {
  EXPECT_EQ(failureOf(tensorMessage("w", 1, {2, 3}).bytes(9, "1234")),
            "tensor 'w' of FLOAT [2, 3] needs 24 bytes of data, but has 4");
  EXPECT_THAT(failureOf(tensorMessage("w", 1, {2}).fixed(4, 1.f)), HasSubstr("tensor 'w'"));
  EXPECT_THAT(failureOf(tensorMessage("w", 7, {1}).varints(7, {1, 2})), HasSubstr("but has 16"));
  EXPECT_THAT(failureOf(tensorMessage("w", 1, {-1})), HasSubstr("negative dimension -1"));
  EXPECT_THAT(failureOf(tensorMessage("w", 1, {1LL << 32, 1LL << 32})), HasSubstr("impossibly"));
  EXPECT_THAT(failureOf(tensorMessage("w", 1, {1LL << 50})), HasSubstr("needs"));
  EXPECT_THAT(failureOf(tensorMessage("w", 1, {1}).bytes(4, "abc")),
              HasSubstr("ends in the middle of a number"));
}

TEST(Tensor, RefusesTypesItDoesNotHave) {
  for (const int code : {8, 14, 15, 27, 28}) {
    EXPECT_THAT(failureOf(tensorMessage("w", code, {1}), ErrorKind::kUnsupported),
                HasSubstr(str("tensor 'w' has element type ", onnxTypeName(code))));
  }
  EXPECT_THAT(failureOf(tensorMessage("w", 0, {1})), HasSubstr("code 0"));
  EXPECT_THAT(failureOf(tensorMessage("w", 99, {1})), HasSubstr("code 99"));
  EXPECT_THAT(failureOf(tensorMessage("w", 1, {1}).message(3, Message()), ErrorKind::kUnsupported),
              HasSubstr("segments"));
}

TEST(Tensor, StringsAreAListOfTheirOwn) {
  const Read read(tensorMessage("labels", 8, {2}).bytes(6, "cat").bytes(6, "dog"));
  EXPECT_THAT(tensorStrings(read.tensor()), ElementsAre("cat", "dog"));
  const Read tooFew(tensorMessage("labels", 8, {2}).bytes(6, "cat"));
  EXPECT_THROW(tensorStrings(tooFew.tensor()), Error);
  const Read numbers(tensorMessage("labels", 1, {0}));
  EXPECT_THROW(tensorStrings(numbers.tensor()), Error);
}

struct ReadSparse {
  ReadSparse(const std::vector<int64_t>& indexDims, const std::vector<int64_t>& indices)
      : encoded(
            modelWith(
                Message().message(
                    15, Message()
                            .message(1, tensorMessage("s", 1, {2}).packed(4, std::vector{5.f, 6.f}))
                            .message(2, tensorMessage("", 7, indexDims).packed(7, indices))
                            .varints(3, {2, 3})))
                .encoded()),
        loaded(readModelBytes(asBytes(encoded))) {}
  std::vector<float> values() const {
    const TensorBytes data = tensorData(loaded.model.graph.sparseInitializers.at(0), *loaded.files);
    std::vector<float> values(data.bytes.size() / sizeof(float));
    std::memcpy(values.data(), data.bytes.data(), data.bytes.size());
    return values;
  }
  std::string encoded;
  LoadedModel loaded;
};

TEST(Tensor, SparseTensorsAreWrittenOut) {
  EXPECT_THAT(ReadSparse({2}, {1, 5}).values(), ElementsAre(0, 5, 0, 0, 0, 6));
  EXPECT_THAT(ReadSparse({2, 2}, {0, 1, 1, 2}).values(), ElementsAre(0, 5, 0, 0, 0, 6));
  EXPECT_THROW(ReadSparse({2}, {1, 6}).values(), Error);
  EXPECT_THROW(ReadSparse({2}, {-1, 5}).values(), Error);
  EXPECT_THROW(ReadSparse({2, 2}, {0, 3, 1, 2}).values(), Error);
  EXPECT_THROW(ReadSparse({1}, {1}).values(), Error);
}

TEST(ElementType, EveryDataTypeHasACodeAndBack) {
  for (int i = 0; i < kDataTypeCount; ++i) {
    const auto type = static_cast<DataType>(i);
    EXPECT_EQ(findDataType(onnxCodeOf(type)), type) << toString(type);
  }
  EXPECT_FALSE(findDataType(-1));
  EXPECT_EQ(onnxTypeName(10), "FLOAT16");
}

}  // namespace
}  // namespace camshaft::onnx
