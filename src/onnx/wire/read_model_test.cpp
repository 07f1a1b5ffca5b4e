#include "onnx/wire/read_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "support/error.h"
#include "testing/onnx_message.h"

namespace camshaft::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string failureOf(const Message& model) {
  try {
    readModelBytes(model.asBytes());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidModel);
    return error.message();
  }
  return "no failure";
}

Message nodeWith(const Message& attribute) { return Message().message(5, attribute); }

// The attribute, read as the only one of the only node of a model.
Attribute readAttribute(const Message& message) {
  const Message model = modelWith(Message().message(1, nodeWith(message)));
  static std::deque<std::string> kept;  // the attribute's views point into it
  kept.push_back(model.encoded());
  return readModelBytes(asBytes(kept.back())).model.graph.nodes.at(0).attributes.at(0);
}

TEST(ReadModel, ReadsTheModelsOwnFields) {
  const Message message = Message()
                              .varint(1, 10)
                              .bytes(2, "exporter")
                              .bytes(3, "2.1")
                              .bytes(4, "org.example")
                              .varint(5, 7)
                              .bytes(6, "doc")
                              .message(7, Message().bytes(2, "main"))
                              .message(8, Message().varint(2, 20))
                              .message(8, Message().bytes(1, "com.vendor").varint(2, 1))
                              .message(14, Message().bytes(1, "author").bytes(2, "me"))
                              .varint(900, 1);
  const Model model = readModelBytes(message.asBytes()).model;
  EXPECT_EQ(model.irVersion, 10);
  EXPECT_EQ(model.producerName, "exporter");
  EXPECT_EQ(model.producerVersion, "2.1");
  EXPECT_EQ(model.domain, "org.example");
  EXPECT_EQ(model.modelVersion, 7);
  EXPECT_EQ(model.graph.name, "main");
  ASSERT_EQ(model.opsetImports.size(), 2u);
  EXPECT_EQ(model.opsetImports[0].domain, "");
  EXPECT_EQ(model.opsetImports[0].version, 20);
  EXPECT_EQ(model.opsetImports[1].domain, "com.vendor");
  ASSERT_EQ(model.metadata.size(), 1u);
  EXPECT_EQ(model.metadata[0].key, "author");
  EXPECT_EQ(model.metadata[0].value, "me");
}

TEST(ReadModel, ReadsNodesWithoutCopyingNames) {
  const Message node = Message()
                           .bytes(1, "x")
                           .bytes(1, "")
                           .bytes(2, "y")
                           .bytes(3, "conv1")
                           .bytes(4, "Conv")
                           .bytes(7, "org.example")
                           .bytes(8, "fast");
  const Message message = modelWith(Message().message(1, node));
  const Model model = readModelBytes(message.asBytes()).model;
  ASSERT_EQ(model.graph.nodes.size(), 1u);
  const Node& read = model.graph.nodes[0];
  EXPECT_THAT(read.inputs, ElementsAre("x", ""));
  EXPECT_THAT(read.outputs, ElementsAre("y"));
  EXPECT_EQ(read.name, "conv1");
  EXPECT_EQ(read.opType, "Conv");
  EXPECT_EQ(read.domain, "org.example");
  EXPECT_EQ(read.overload, "fast");
  EXPECT_EQ(read.name.data(), message.encoded().data() + message.encoded().find("conv1"));
}

TEST(ReadModel, ReadsScalarAndListAttributes) {
  EXPECT_EQ(readAttribute(Message().bytes(1, "a").fixed(2, 0.5f).varint(20, 1)).f, 0.5f);
  EXPECT_EQ(readAttribute(Message().varint(3, -3).varint(20, 2)).i, -3);
  EXPECT_EQ(readAttribute(Message().bytes(4, "SAME").varint(20, 3)).s, "SAME");
  EXPECT_THAT(readAttribute(Message().fixed(7, 1.f).packed(7, std::vector{2.f, 3.f})).floats,
              ElementsAre(1.f, 2.f, 3.f));
  EXPECT_THAT(readAttribute(Message().varints(8, {1, -2}).packed(8, std::vector<int64_t>{3})).ints,
              ElementsAre(1, -2, 3));
  EXPECT_THAT(readAttribute(Message().bytes(9, "a").bytes(9, "b")).strings, ElementsAre("a", "b"));
}

TEST(ReadModel, ReadsMessageAttributes) {
  const Message tensor = tensorMessage("t", 1, {2});
  const Message graph = Message().bytes(2, "body");
  const Message type = Message().message(4, Message());
  const Attribute one = readAttribute(Message().message(5, tensor).varint(20, 4));
  ASSERT_EQ(one.tensors.size(), 1u);
  EXPECT_EQ(one.tensors[0].name, "t");
  EXPECT_EQ(readAttribute(Message().message(6, graph).varint(20, 5)).graphs.at(0).name, "body");
  EXPECT_EQ(readAttribute(Message().message(10, tensor).message(10, tensor)).tensors.size(), 2u);
  EXPECT_EQ(readAttribute(Message().message(11, graph).message(11, graph)).graphs.size(), 2u);
  EXPECT_EQ(readAttribute(Message().message(14, type)).types.at(0).kind, TypeKind::kSequence);
  EXPECT_EQ(readAttribute(Message().message(15, type).message(15, type)).types.size(), 2u);
  const Message sparse = Message().message(1, tensor).varint(3, 9);
  EXPECT_THAT(readAttribute(Message().message(22, sparse)).sparseTensors.at(0).dims,
              ElementsAre(9));
  EXPECT_EQ(readAttribute(Message().message(23, sparse)).sparseTensors.at(0).values.name, "t");
}

TEST(ReadModel, AttributeTypeIsDeclaredOrFoundAndSelectsTheValue) {
  EXPECT_EQ(readAttribute(Message().varint(3, 1)).type, AttributeType::kInt);
  EXPECT_EQ(readAttribute(Message().varint(20, 7)).type, AttributeType::kInts);
  const Attribute both = readAttribute(Message()
                                           .message(10, tensorMessage("listed", 1, {}))
                                           .message(5, tensorMessage("single", 1, {}))
                                           .varint(20, 4));
  ASSERT_EQ(both.tensors.size(), 1u);
  EXPECT_EQ(both.tensors[0].name, "single");
  const Attribute reference = readAttribute(Message().bytes(21, "value").varint(20, 4));
  EXPECT_EQ(reference.refAttrName, "value");
  EXPECT_TRUE(reference.tensors.empty());
}

TEST(ReadModel, ReadsValueTypes) {
  const Message shape = Message()
                            .message(1, Message().varint(1, 3))
                            .message(1, Message().bytes(2, "batch"))
                            .message(1, Message());
  const Message tensor = Message().message(1, Message().varint(1, 10).message(2, shape));
  const Message unranked = Message().message(1, Message().varint(1, 7));
  const Message optional = Message().message(9, Message().message(1, unranked));
  const Message map = Message().message(5, Message().varint(1, 7).message(2, tensor));
  const Message graph =
      Message()
          .message(11, Message().bytes(1, "x").message(2, tensor))
          .message(12, Message().bytes(1, "y").message(2, unranked))
          .message(13, Message().bytes(1, "o").message(2, optional))
          .message(13, Message().bytes(1, "m").message(2, map))
          .message(13, Message().bytes(1, "q").message(2, Message().message(7, Message())))
          .message(13, Message().bytes(1, "n"));
  const Message message = modelWith(graph);
  const Graph read = readModelBytes(message.asBytes()).model.graph;
  const Type& x = read.inputs.at(0).type;
  EXPECT_EQ(read.inputs[0].name, "x");
  EXPECT_EQ(x.kind, TypeKind::kTensor);
  EXPECT_EQ(x.elementType, 10);
  ASSERT_TRUE(x.shape);
  ASSERT_EQ(x.shape->size(), 3u);
  EXPECT_EQ((*x.shape)[0].value, 3);
  EXPECT_EQ((*x.shape)[1].param, "batch");
  EXPECT_FALSE((*x.shape)[2].value);
  EXPECT_FALSE(read.outputs.at(0).type.shape);
  EXPECT_EQ(read.valueInfos.at(0).type.kind, TypeKind::kOptional);
  EXPECT_EQ(read.valueInfos[0].type.element.at(0).elementType, 7);
  EXPECT_EQ(read.valueInfos.at(1).type.kind, TypeKind::kMap);
  EXPECT_EQ(read.valueInfos[1].type.element.at(0).elementType, 10);
  EXPECT_EQ(read.valueInfos.at(2).type.kind, TypeKind::kOpaque);
  EXPECT_EQ(read.valueInfos.at(3).type.kind, TypeKind::kNone);
}

TEST(ReadModel, ReadsFunctions) {
  const Message function = Message()
                               .bytes(1, "Gelu")
                               .bytes(4, "x")
                               .bytes(5, "y")
                               .bytes(6, "alpha")
                               .message(7, Message().bytes(4, "Erf"))
                               .message(9, Message().varint(2, 18))
                               .bytes(10, "local")
                               .message(11, Message().bytes(1, "beta").varint(3, 2))
                               .message(12, Message().bytes(1, "t"))
                               .bytes(13, "v2");
  const Message message = modelWith(Message()).message(25, function);
  const Model model = readModelBytes(message.asBytes()).model;
  const Function& read = model.functions.at(0);
  EXPECT_EQ(read.name, "Gelu");
  EXPECT_EQ(read.domain, "local");
  EXPECT_EQ(read.overload, "v2");
  EXPECT_THAT(read.inputs, ElementsAre("x"));
  EXPECT_THAT(read.outputs, ElementsAre("y"));
  EXPECT_THAT(read.attributes, ElementsAre("alpha"));
  EXPECT_EQ(read.attributesWithDefault.at(0).name, "beta");
  EXPECT_EQ(read.nodes.at(0).opType, "Erf");
  EXPECT_EQ(read.opsetImports.at(0).version, 18);
  EXPECT_EQ(read.valueInfos.at(0).name, "t");
}

TEST(ReadModel, FieldsThatComeTwiceFollowProtobuf) {
  const Message message = Message()
                              .varint(1, 3)
                              .varint(1, 10)
                              .message(7, Message().bytes(2, "first").message(1, Message()))
                              .message(7, Message().bytes(2, "second").message(1, Message()));
  const Model model = readModelBytes(message.asBytes()).model;
  EXPECT_EQ(model.irVersion, 10);
  EXPECT_EQ(model.graph.name, "second");
  EXPECT_EQ(model.graph.nodes.size(), 2u);
}

TEST(ReadModel, SaysWhereTheModelIsWrong) {
  const Message broken = Message().bytes(1, "pads").varint(7, 1);  // floats as a varint
  const Message graph = Message()
                            .message(1, Message())
                            .message(1, nodeWith(broken).bytes(3, "conv1"))
                            .bytes(2, "main");
  EXPECT_EQ(failureOf(modelWith(graph)),
            "the model in memory is not a valid ONNX model: in model, graph 'main', "
            "node 1 'conv1', attribute 0 'pads', field 7 has the wrong wire type");
  EXPECT_THAT(failureOf(Message()), HasSubstr("is empty"));
  EXPECT_THAT(failureOf(Message().varint(1, 10)), HasSubstr("there is no graph"));
  EXPECT_THAT(failureOf(modelWith(Message().message(1, nodeWith(Message().varint(20, 4))))),
              HasSubstr("type is tensor but its value is missing"));
  EXPECT_THAT(failureOf(modelWith(Message().message(1, nodeWith(Message().varint(20, 99))))),
              HasSubstr("type code 99"));
}

TEST(ReadModel, LimitsNesting) {
  const auto nested = [](int levels) {
    Message graph;
    for (int i = 0; i < levels; ++i) {
      graph = Message().message(1, nodeWith(Message().message(6, graph)));
    }
    return modelWith(graph);
  };
  const Message allowed = nested(60);
  EXPECT_NO_THROW(readModelBytes(allowed.asBytes()));
  EXPECT_THAT(failureOf(nested(2000)), HasSubstr("nested too deeply"));
  Message type;
  for (int i = 0; i < 2000; ++i) type = Message().message(4, Message().message(1, type));
  EXPECT_THAT(failureOf(modelWith(Message().message(11, Message().message(2, type)))),
              HasSubstr("nested too deeply"));
}

TEST(ReadModel, NamesTheFileItCannotRead) {
  try {
    readModelFile("/nonexistent/model.onnx");
    FAIL() << "a missing file was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_THAT(error.message(), HasSubstr("/nonexistent/model.onnx"));
  }
}

}  // namespace
}  // namespace camshaft::onnx
