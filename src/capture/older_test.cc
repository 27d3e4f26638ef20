#include "capture/older.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace nanscope {
namespace {

std::optional<Message> message_in(const char* json) {
  Collective call;
  read_older(nlohmann::json::parse(json), call);
  return call.message;
}

TEST(Older, TheWayOfAMessageWasAText) {
  EXPECT_EQ(message_in(R"({"way": "1>0 tag 3"})"), (Message{1, 0, 3}));
  EXPECT_EQ(message_in(R"({"way": "any>12 tag 0"})"), (Message{std::nullopt, 12, 0}));
}

TEST(Older, WhatIsNoWayIsNoMessage) {
  for (const char* json :
       {R"({})", R"({"way": ""})", R"({"way": 7})", R"({"way": "1>0"})",
        R"({"way": "one>0 tag 3"})", R"({"way": "1>0 tag 3x"})", R"({"way": "1> tag 3"})",
        R"({"way": " tag 3>0"})", R"({"way": "1>99999999999999 tag 3"})"})
    EXPECT_EQ(message_in(json), std::nullopt) << json;
}

TEST(Older, TheNewKeyIsBelieved) {
  EXPECT_EQ(message_in(R"({"way": "1>0 tag 3", "message": null})"), std::nullopt);
}

TensorFacts tensor_of(const char* argument, const char* remark, const char* json = "{}") {
  TensorFacts tensor;
  tensor.argument = argument;
  tensor.remark = remark;
  read_older(nlohmann::json::parse(json), tensor);
  return tensor;
}

TEST(Older, ThatATensorWasSavedStoodInItsArgument) {
  const TensorFacts saved = tensor_of("saved self", "saved by the forward");
  EXPECT_TRUE(saved.saved);
  EXPECT_EQ(saved.argument, "self");
  EXPECT_EQ(argument_text(saved), "saved self");
  EXPECT_TRUE(tensor_of("", "saved by the forward").saved);
  EXPECT_FALSE(tensor_of("self", "").saved);
  EXPECT_FALSE(tensor_of("saved self", "", R"({"saved": false})").saved);
}

TEST(Older, WhatWasNotChosenIsKnownByItsWords) {
  NotWatched gap{"errors outside net.head", "--layer", 1};
  read_older(nlohmann::json::parse("{}"), gap);
  EXPECT_EQ(gap.kind, GapKind::kNotChosen);
  gap = {"compiled region", "torch.compile", 3};
  read_older(nlohmann::json::parse("{}"), gap);
  EXPECT_EQ(gap.kind, GapKind::kUnwatched);
}

}  // namespace
}  // namespace nanscope
