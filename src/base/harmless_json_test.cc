#include "base/harmless_json.h"

#include <gtest/gtest.h>

namespace nanscope {
namespace {

TEST(HarmlessJson, SpellsOutWhatATerminalWouldObey) {
  EXPECT_EQ(harmless_json("[\"a\u009b2J\u202e\x7f\u2066\"]"), R"(["a\u009b2J\u202e\u007f\u2066"])");
}

TEST(HarmlessJson, LeavesEveryOtherTextAlone) {
  const std::string text = "[\"\u00e9\u00a0\u4e2d\u2028\U0001f600\\u001b\"]\n";
  EXPECT_EQ(harmless_json(text), text);
  EXPECT_EQ(harmless_json(""), "");
  EXPECT_EQ(harmless_json("\xe2\x80"), "\xe2\x80");
}

}  // namespace
}  // namespace nanscope
