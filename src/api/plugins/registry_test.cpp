// Registries: creators, parents, libraries and shared resources.
#include <gmock/gmock.h>

#include "api/plugins/test_plugins.h"
#include "api/test_client.h"

namespace camshaft::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

TEST(PluginRegistry, KeepsCreators) {
  Client client;
  IPluginRegistry& registry = client.builder->getPluginRegistry();
  EXPECT_NE(&registry, getPluginRegistry());
  EXPECT_EQ(getPluginRegistry(), getBuilderPluginRegistry(EngineCapability::kSTANDARD));
  CreatorOf<ScalePlugin> creator, another;
  EXPECT_TRUE(registry.registerCreator(creator, "here"));
  EXPECT_FALSE(registry.registerCreator(another, "here"));
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("'TestScale'"));
  EXPECT_EQ(registry.getCreator("TestScale", "1", "here"), &creator);
  EXPECT_EQ(registry.getCreator("TestScale", "1"), nullptr);
  int32_t count = -1;
  EXPECT_EQ(registry.getAllCreators(&count)[0], &creator);
  EXPECT_EQ(count, 1);
  EXPECT_TRUE(registry.deregisterCreator(creator));
  EXPECT_FALSE(registry.deregisterCreator(creator));
  registry.getAllCreators(&count);
  EXPECT_EQ(count, 0);
}

TEST(PluginRegistry, LooksIntoItsParent) {
  Client client;
  IPluginRegistry &own = client.runtime->getPluginRegistry(), &global = *getPluginRegistry();
  CreatorOf<ScalePlugin> shared;
  CreatorOf<ReversePlugin> local;
  ASSERT_TRUE(global.registerCreator(shared, ""));
  ASSERT_TRUE(own.registerCreator(local, ""));
  EXPECT_EQ(own.getCreator("TestScale", "1"), &shared);
  EXPECT_EQ(global.getCreator("TestReverse", "1"), nullptr);
  int32_t count = 0;
  IPluginCreatorInterface* const* all = own.getAllCreatorsRecursive(&count);
  // The process may have others.
  EXPECT_THAT(std::vector<IPluginCreatorInterface*>(all, all + count),
              IsSupersetOf(std::vector<IPluginCreatorInterface*>{&local, &shared}));
  own.setParentSearchEnabled(false);
  EXPECT_EQ(own.getCreator("TestScale", "1"), nullptr);
  global.deregisterCreator(shared);
}

TEST(PluginRegistry, LoadsLibraries) {
  Client client;
  IPluginRegistry& registry = client.runtime->getPluginRegistry();
  EXPECT_EQ(registry.loadLibrary("/no/such/library.so"), nullptr);
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("/no/such/library.so"));
  EXPECT_EQ(registry.loadLibrary("libm.so.6"), nullptr);
  EXPECT_EQ(client.logger.errors.back(),
            "library 'libm.so.6' exports neither getCreators() nor getPluginCreators()");
  const IPluginRegistry::PluginLibraryHandle library = registry.loadLibrary(CAMSHAFT_TEST_PLUGINS);
  ASSERT_TRUE(library) << client.logger.errors.back();
  EXPECT_EQ(client.logger.errors.back(), "the library has a logger");
  EXPECT_TRUE(registry.getCreator("TestScale", "1"));
  EXPECT_TRUE(registry.getPluginCreator("TestTwice", "2"));
  EXPECT_FALSE(registry.getPluginCreator("TestScale", "1")) << "it is of another class";
  registry.deregisterLibrary(library);
  EXPECT_FALSE(registry.getCreator("TestScale", "1"));
  registry.deregisterLibrary(library);
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("no library of this registry"));
}

// Code of an engine's plugins stays as long as the engine does.
TEST(PluginRegistry, OutlivesTheRuntimeAsLongAsEnginesNeedIt) {
  Client client;
  ScalePlugin plugin({2, 0});
  ITensor* x = client.input("x", Dims2(1, 2));
  client.output(client.network->addPluginV3(&x, 1, nullptr, 0, plugin)->getOutput(0), "y");
  ASSERT_TRUE(client.runtime->getPluginRegistry().loadLibrary(CAMSHAFT_TEST_PLUGINS));
  auto engine = client.build();
  ASSERT_TRUE(engine) << client.logger.errors.back();
  client.runtime.reset();
  const std::vector<float> data{1, 2};
  EXPECT_THAT(client.runEngine(*engine, {{"x", Dims2(1, 2), data.data()}}), ElementsAre(2, 4));
}

struct SharedNumber final : IPluginResource {
  explicit SharedNumber(int* released) : released(released) {}
  int32_t release() noexcept override {
    ++*released;
    return 0;
  }
  IPluginResource* clone() noexcept override { return new SharedNumber(*this); }
  int* released;
};

TEST(PluginRegistry, SharesResources) {
  Client client;
  IPluginRegistry& registry = *getPluginRegistry();
  int released = 0;
  SharedNumber offered(&released);
  EXPECT_EQ(registry.acquirePluginResource("number", nullptr), nullptr);
  EXPECT_THAT(client.logger.errors.back(), HasSubstr("resource 'number'"));
  IPluginResource* first = registry.acquirePluginResource("number", &offered);
  ASSERT_TRUE(first);
  EXPECT_NE(first, &offered);
  EXPECT_EQ(registry.acquirePluginResource("number", &offered), first);
  EXPECT_EQ(registry.releasePluginResource("number"), 0);
  EXPECT_EQ(released, 0);
  EXPECT_EQ(registry.releasePluginResource("number"), 0);
  EXPECT_EQ(released, 1);
  EXPECT_EQ(registry.releasePluginResource("number"), -1);
}

}  // namespace
}  // namespace camshaft::api
