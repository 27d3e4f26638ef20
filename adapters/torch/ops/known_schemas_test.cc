#include "adapters/torch/ops/known_schemas.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>

#include <string>

namespace nanscope::torch_adapter {
namespace {

std::string schema_of(const char* name, const char* overload) {
  const auto handle = c10::Dispatcher::singleton().findSchema({name, overload});
  return c10::toString(handle->schema());
}

TEST(KnownSchemas, AreThoseOfTheInstalledTorch) {
  EXPECT_TRUE(is_known_schema("aten::add.Tensor", schema_of("aten::add", "Tensor")));
  EXPECT_TRUE(is_known_schema("aten::clone", schema_of("aten::clone", "")));
}

TEST(KnownSchemas, AnotherSchemaIsNotBelieved) {
  std::string schema = schema_of("aten::add", "Tensor");
  schema.replace(schema.find("alpha"), 5, "scale");
  EXPECT_FALSE(is_known_schema("aten::add.Tensor", schema));
  EXPECT_FALSE(is_known_schema("aten::add.Scalar", schema_of("aten::add", "Tensor")));
  EXPECT_FALSE(is_known_schema("aten::nobody_wrote_this", "aten::nobody_wrote_this() -> ()"));
}

}  // namespace
}  // namespace nanscope::torch_adapter
