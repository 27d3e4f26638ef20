// What came from outside, from a literal or from memory; and reductions without elements.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnose/test_finding.h"

namespace nanscope {
namespace {

using namespace test_finding;

TEST(EmptyReduction, MeanOfNothing) {
  TensorFacts nothing = sample::tensor("losses", {0}, 0, 0, 0);
  nothing.statistics = {};
  const Finding finding = made(kNan, "aten::mean", {nothing});
  EXPECT_EQ(verdict(finding), "empty_reduction certain");
  EXPECT_EQ(diagnose(finding).sentence,
            "`losses` has no elements, and the mean of nothing is 0 / 0 = nan.");
  EXPECT_EQ(why_not(made(kNan, "aten::mean", {blind(with("x", "", kNan))}), "empty_reduction"),
            "`x` has 4 elements");
}

TEST(EmptyReduction, MeanOfNothingButNan) {
  Finding finding = made(kNan, "aten::div", {with("", "self", 0), with("", "other", 0)});
  finding.inputs[1].dtype = "int64";
  EXPECT_EQ(verdict(finding), "division_by_zero certain");
  finding.origin.site.code = "torch.nanmean(x, 0)";
  EXPECT_EQ(verdict(finding), "empty_reduction certain");
  EXPECT_EQ(diagnose(finding).sentence,
            "All that `torch.nanmean(x, 0)` takes the mean of at [3] is nan: no element is left, "
            "and the mean of nothing is 0 / 0 = nan.");
  // A quotient of the program's own in the same expression.
  finding.inputs[1].dtype = "float32";
  EXPECT_EQ(verdict(finding), "division_by_zero certain");
}

TEST(EmptyReduction, VarianceOfOne) {
  Finding finding = made(kNan, "aten::var.correction", {blind(with("x", "self", 1))});
  EXPECT_EQ(verdict(finding), "empty_reduction certain");
  EXPECT_EQ(diagnose(finding).sentence,
            "The var of `x` is taken over 1 element, and it divides by 1 - 1 = 0.");
  finding.scalars = {{"correction", "0"}};
  EXPECT_NE(diagnose(finding).id, "empty_reduction");
}

TEST(EmptyReduction, EveryTargetIgnored) {
  TensorFacts target = blind(with("labels", "target", 0));
  target.statistics.min = target.statistics.max = -100;
  Finding finding = made(kNan, "aten::nll_loss_forward", {blind(with("logp", "self", -1)), target});
  EXPECT_EQ(verdict(finding), "empty_reduction certain");
  finding.inputs[1].statistics.max = 3;
  EXPECT_EQ(verdict(finding), "empty_reduction likely");
  TensorFacts weight = sample::tensor("", {1}, 0, 0, 0);
  weight.statistics.zeros = 1;
  finding.outputs.push_back(weight);
  EXPECT_EQ(verdict(finding), "empty_reduction certain");
  // No target is ignored: something else.
  finding.outputs.pop_back();
  finding.inputs[1].statistics.min = 0;
  EXPECT_EQ(verdict(finding), "unknown likely");
}

TEST(Softmax, FullyMasked) {
  TensorFacts scores = with("scores", "self", -kInf);
  scores.statistics.neg_inf = 4;
  const Finding finding = made(kNan, "aten::_softmax", {scores});
  EXPECT_EQ(verdict(finding), "all_masked_softmax certain");
  // Look-alike: +inf in the row.
  scores.statistics.pos_inf = 1;
  EXPECT_EQ(why_not(made(kNan, "aten::_softmax", {scores}), "all_masked_softmax"),
            "`scores` holds inf, and inf - inf is nan");
  EXPECT_EQ(verdict(made(kNan, "aten::_softmax", {scores})), "inf_minus_inf certain");
  // The failing row is known, and fully masked, though another row holds inf.
  scores.feeding = Statistics{2, 0, 0, 2, 0, 2, 0, {}, {}, {}};
  EXPECT_EQ(verdict(made(kNan, "aten::_log_softmax", {scores})), "all_masked_softmax certain");
}

TEST(WhereItCameFrom, DecidesBeforeArithmetic) {
  EXPECT_EQ(verdict(sample::imported()), "bad_input_data certain");
  EXPECT_EQ(diagnose(sample::imported()).sentence,
            "`x` came in with 1 nan in 96 elements: no operation of this run computed it, it is in "
            "the data.");
  Finding shared = sample::imported();
  shared.origin.written_since = true;
  EXPECT_EQ(verdict(shared), "bad_input_data likely");
  EXPECT_EQ(diagnose(shared).sentence,
            "`x` came in with 1 nan in 96 elements: others share its memory (NumPy, DLPack, who "
            "has its address) and wrote that there after the last operation that wrote it.");
  Finding finding = made(kNan, "aten::div", {with("a", "", 0), with("b", "", 0)});
  finding.origin.kind = OriginKind::kDeclared;
  EXPECT_EQ(verdict(finding), "nan_constant certain");
  finding.origin.kind = OriginKind::kUninitialised;
  EXPECT_EQ(verdict(finding), "uninitialised_memory certain");
  finding.origin.kind = OriginKind::kUnwatched;
  EXPECT_EQ(verdict(finding), "unwatched_kernel likely");
  finding.origin.reinterpreted = true;
  EXPECT_EQ(verdict(finding), "unwatched_kernel likely");
  EXPECT_EQ(diagnose(finding).sentence,
            "No operation computed the nan in `a`: its memory was written as numbers of another "
            "type, whose bits read so.");
  finding.origin.reinterpreted = false;
  // A look at its bits, a hash, is no write.
  finding.origin.viewed_as = "int32";
  EXPECT_EQ(verdict(finding), "unwatched_kernel likely");
  EXPECT_EQ(diagnose(finding).sentence,
            "No watched operation wrote the nan in `a`: its memory is also viewed as int32, and "
            "who wrote it is not known.");
  finding.origin.viewed_as.clear();
  // What has no name in the source is told by its expression.
  finding.inputs = {with("", "", 0)};
  const std::string sentence = diagnose(finding).sentence;
  EXPECT_EQ(sentence.find("``"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find(finding.origin.site.code), std::string::npos) << sentence;
}

TEST(InputData, LiteralsInDataAreNoConstants) {
  Finding finding = made(kNan, "aten::fill_", {});
  finding.origin.kind = OriginKind::kDeclared;
  finding.origin.site.source = {"    data[3, 2] = float('nan')"};
  EXPECT_EQ(verdict(finding), "bad_input_data likely");
  finding.origin.site.source = {"    ok = data[3, 2] == data.fill_(float('nan'))"};
  EXPECT_EQ(verdict(finding), "nan_constant certain");
  finding.origin.op = "aten::lift_fresh";  // 1 of 4 elements
  EXPECT_EQ(verdict(finding), "bad_input_data likely");
  finding.origin.nan = 4;
  EXPECT_EQ(verdict(finding), "nan_constant certain");
}

TEST(InputData, ATargetWithoutAlignment) {
  const Finding finding =
      made(kInf, "aten::_ctc_loss",
           {blind(with("logp", "log_probs", -1)), blind(with("y", "targets", 2))});
  EXPECT_EQ(verdict(finding), "bad_input_data certain");
  EXPECT_EQ(verdict(made(kInf, "aten::_ctc_loss", {blind(with("logp", "log_probs", -kInf))})),
            "unknown likely");
}

TEST(InputData, ANanThatWasThereBefore) {
  EXPECT_EQ(verdict(made(kNan, "aten::mul", {with("x", "self", kNan), with("w", "other", 2)})),
            "bad_input_data likely");
  // Elsewhere in the tensor it explains nothing.
  TensorFacts x = with("x", "self", 0);
  x.statistics.nan = 1;
  EXPECT_EQ(verdict(made(kNan, "aten::div", {x, with("d", "other", 0)})),
            "division_by_zero certain");
}

}  // namespace
}  // namespace nanscope
