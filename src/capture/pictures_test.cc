#include "capture/pictures.h"

#include <gtest/gtest.h>

#include "capture/decode.h"
#include "capture/encode.h"
#include "capture/sample.h"

namespace nanscope {
namespace {

Finding with_pictures() {
  Finding finding = sample::log_of_zero();
  finding.inputs[0].exponents = ExponentHistogram{-12, 2, {1, 0, 5}, 64};
  finding.outputs[0].bad_map = BadMap{2, 3, {0, 1, 0, 2, 0, 0}};
  finding.origin.site.before = {"def loss_fn(p, y):"};
  finding.origin.site.after = {"", "net = Net()"};
  finding.cleaned = {{"aten::where", finding.origin.site, Phase::kForward, Role::kCleaned}};
  finding.modules = {{"net", "Net", {}, "", {}, {}, ""},
                     {"net.head", "Linear", 2.5, "float16", 1.5, sample::kInf, "float32"}};
  return finding;
}

TEST(CapturedPictures, ComeBackWhole) {
  const Finding original = with_pictures();
  const Result<Finding> decoded = decode_finding(encode(original));
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  const Finding& finding = decoded.value();
  EXPECT_EQ(finding.inputs[0].exponents, original.inputs[0].exponents);
  EXPECT_FALSE(finding.inputs[0].bad_map);
  EXPECT_EQ(finding.outputs[0].bad_map, original.outputs[0].bad_map);
  EXPECT_EQ(finding.origin.site.before, original.origin.site.before);
  EXPECT_EQ(finding.origin.site.after, original.origin.site.after);
  ASSERT_EQ(finding.cleaned.size(), 1u);
  EXPECT_EQ(finding.cleaned[0].op, "aten::where");
  ASSERT_EQ(finding.modules.size(), 2u);
  EXPECT_EQ(finding.modules[1].path, "net.head");
  EXPECT_EQ(finding.modules[1].activation, 2.5);
  EXPECT_EQ(finding.modules[1].activation_dtype, "float16");
  EXPECT_EQ(finding.modules[1].gradient, sample::kInf);
  EXPECT_EQ(finding.modules[0].weight, std::nullopt);
}

TEST(CapturedPictures, OfOneFindingStayWithinTheirBytes) {
  Finding finding = sample::log_of_zero();
  const std::size_t bare = encode(finding).size();
  TensorFacts full = finding.inputs[0];
  full.exponents = ExponentHistogram{0, 1, std::vector<std::int64_t>(64, std::int64_t{1} << 40), 1};
  full.bad_map = BadMap{48, 48, std::vector<std::int64_t>(48 * 48, std::int64_t{1} << 40)};
  finding.inputs.assign(64, full);
  finding.modules.assign(9000, {std::string(200, 'x'), "Linear", 1, "float32", 1, 1, "float32"});
  const std::string encoded = encode(finding);
  Finding without = finding;
  for (TensorFacts& tensor : without.inputs) tensor.exponents.reset(), tensor.bad_map.reset();
  without.modules.clear();
  EXPECT_LE(encoded.size(), encode(without).size() + kMostPictureBytes);
  const Finding read = decode_finding(encoded).value();
  EXPECT_TRUE(read.inputs[0].bad_map);
  EXPECT_FALSE(read.inputs[63].bad_map);
  EXPECT_GT(read.modules.size(), 200u);
  EXPECT_EQ(read.modules.size() + static_cast<std::size_t>(read.modules_left_out), 9000u);
  EXPECT_GT(encode(with_pictures()).size(), bare);
}

TEST(CapturedPictures, ThousandsOfModulesAreKept) {
  Finding finding = sample::log_of_zero();
  for (int i = 0; i < 5000; ++i)
    finding.modules.push_back({"m." + std::to_string(i), "L", {}, "", {}, {}, ""});
  const Finding read = decode_finding(encode(finding)).value();
  EXPECT_EQ(read.modules.size(), ModuleFacts::kMost);
  EXPECT_EQ(read.modules_left_out, 5000 - 4096);
}

TEST(CapturedPictures, ThatBreakTheirBoundsAreRefused) {
  Finding finding = with_pictures();
  EXPECT_EQ(problem_of(*finding.outputs[0].bad_map), nullptr);
  finding.outputs[0].bad_map->cells.pop_back();
  EXPECT_NE(problem_of(*finding.outputs[0].bad_map), nullptr);
  finding.inputs[0].exponents->width = 0;
  EXPECT_NE(problem_of(*finding.inputs[0].exponents), nullptr);
  finding.inputs[0].exponents->width = 1;
  finding.inputs[0].exponents->bins.assign(65, 1);
  EXPECT_NE(problem_of(*finding.inputs[0].exponents), nullptr);
  finding.inputs[0].exponents->bins.assign(1, -1);
  EXPECT_NE(problem_of(*finding.inputs[0].exponents), nullptr);
  finding.modules.resize(ModuleFacts::kMost + 1);
  EXPECT_NE(problem_of(finding), nullptr);
  // What the writer is given in a broken state is not written.
  EXPECT_TRUE(decode_finding(encode(finding)).ok());
}

}  // namespace
}  // namespace nanscope
