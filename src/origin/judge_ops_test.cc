// Rules at an op: kinds of origins, parameters and buffers, exceptions, tests and repairs.
#include <gtest/gtest.h>

#include "origin/scenario.h"
#include "origin/verdicts.h"

namespace nanscope::test {
namespace {

constexpr Correspondence::Feed kNanToNan{true, false, false};
constexpr Correspondence::Feed kInfToInf{false, true, false};
constexpr Correspondence::Feed kInfToNan{false, false, true};
constexpr Correspondence::Feed kMetNothing{};

TEST(JudgeOps, CausalMaskAndSoftmaxAreClean) {
  Program p;
  Tensor mask = p.mask();
  Tensor scores =
      p.op("masked_fill", {p.data()}, kInf, {.line = 2, .grad = true, .constant = true});
  Tensor sum = p.op("add", {scores, mask}, kInf, {.line = 3, .grad = true});
  Tensor weights = p.op("_softmax", {sum}, kFinite, {.line = 4, .grad = true});
  Leaf w = p.parameter();
  p.backward(weights, w, p.tensor());
  p.step();
  p.end();
  EXPECT_EQ(p.verdict(), "clean");
  EXPECT_EQ(p.notes(), "");
}

TEST(JudgeOps, AllMaskedRowBlamesTheSoftmaxWithTheMaskAsEvidence) {
  Program p;
  Tensor scores =
      p.op("masked_fill", {p.data()}, kInf, {.line = 2, .grad = true, .constant = true});
  Tensor weights = p.op("_softmax", {scores}, kNan,
                        {.line = 3, .grad = true, .elementwise = true, .feeds = {kInfToNan}});
  Leaf w = p.parameter();
  p.backward(weights, w, p.op("mul", {weights}, kNan, {.line = 3, .phase = Phase::kBackward}));
  p.step();
  ASSERT_EQ(p.verdict(), "_softmax:3 by gradient");
  ASSERT_EQ(p.reported[0].evidence.size(), 1u);
  EXPECT_EQ(Program::short_name(p.reported[0].evidence[0]), "masked_fill:2");
  EXPECT_NE(p.reported[0].origin.facts, nullptr);
  EXPECT_FALSE(p.reported[0].misuse);
}

TEST(JudgeOps, NanFromBornInfBlamesTheInf) {
  Program p;
  Tensor big = p.op("exp", {p.data()}, kInf, {.line = 5});
  Tensor nan = p.op("sub", {big, big}, kNan, {.line = 6});
  Leaf w = p.parameter();
  p.inplace("add_", w.data, {nan}, kNan, {.line = 7}, Target::kParameter, "w");
  EXPECT_EQ(p.verdict(), "exp:5 by parameter");
  EXPECT_EQ(p.reported[0].name.text, "w");
  ASSERT_EQ(p.reported[0].chain.size(), 3u);
  EXPECT_EQ(Program::short_name(p.reported[0].chain[0]), "exp:5");
  EXPECT_EQ(Program::short_name(p.reported[0].chain[1]), "sub:6");
  EXPECT_EQ(Program::short_name(p.reported[0].chain[2]), "add_:7");
  EXPECT_FALSE(p.reported[0].chain_truncated);
}

// A compiled region comes to Inf where its replay comes to NaN.
TEST(JudgeOps, InfThatWasNanBlamesTheNan) {
  Program p;
  Tensor nan = p.op("sqrt", {p.data()}, kNan, {.line = 5});
  Tensor inf = p.op("torch.compile", {nan}, kInf, {.line = 6, .inf_was_nan = true});
  Leaf w = p.parameter();
  p.inplace("add_", w.data, {inf}, kInf, {.line = 7}, Target::kParameter, "w");
  EXPECT_EQ(p.verdict(), "sqrt:5 by parameter");
}

TEST(JudgeOps, NanFollowsNanNotInf) {
  Program p;
  Tensor inf = p.op("exp", {p.data()}, kInf, {.line = 1});
  Tensor nan = p.op("sqrt", {p.data()}, kNan, {.line = 2});
  Tensor sum = p.op("add", {inf, nan}, kNan, {.line = 3});
  Leaf w = p.parameter();
  p.inplace("copy_", w.data, {sum}, kNan, {.line = 4}, Target::kParameter);
  EXPECT_EQ(p.verdict(), "sqrt:2 by parameter");
}

TEST(JudgeOps, EarliestBirthWinsAndTheOtherIsNoNote) {
  Program p;
  Tensor a = p.op("sqrt", {p.data()}, kNan, {.line = 1});
  Tensor b = p.op("log", {p.data()}, kNan, {.line = 2});
  Tensor sum = p.op("add", {b, a}, kNan, {.line = 3});
  Leaf w = p.parameter();
  p.inplace("copy_", w.data, {sum}, kNan, {.line = 4}, Target::kParameter);
  ASSERT_EQ(p.verdict(), "sqrt:1 by parameter");
  EXPECT_EQ(p.reported.size(), 1u);
  EXPECT_EQ(p.notes(), "");
}

TEST(JudgeOps, BirthIsJudgedPerElement) {
  // exp([-inf, 100]) = [0, inf]: the declared -inf explains nothing.
  Program p;
  Tensor mask = p.mask();
  Tensor out = p.op("exp", {mask}, kInf,
                    {.line = 2, .elementwise = true, .fresh_inf = true, .feeds = {kMetNothing}});
  Leaf w = p.parameter();
  p.inplace("add_", w.data, {out}, kInf, {.line = 3}, Target::kParameter);
  EXPECT_EQ(p.verdict(), "exp:2 by parameter");
  EXPECT_EQ(p.reported[0].origin.origin_kind, OriginKind::kBirth);
}

TEST(JudgeOps, ElementsTellWhichInputFed) {
  Program p;
  Tensor padding = p.op("sqrt", {p.data()}, kNan, {.line = 1});
  Tensor born = p.op("log", {p.data()}, kInf, {.line = 2});
  Tensor out = p.op("add", {padding, born}, kBoth,
                    {.line = 3, .elementwise = true, .feeds = {kNanToNan, kInfToInf}});
  // Only the Inf elements are used.
  Tensor used = p.op("mul", {out}, kInf, {.line = 4, .elementwise = true, .feeds = {kInfToInf}});
  Leaf w = p.parameter();
  p.inplace("add_", w.data, {used}, kInf, {.line = 5}, Target::kParameter);
  EXPECT_EQ(p.verdict(), "log:2 by parameter");
}

TEST(JudgeOps, ParameterOverwrittenWithDeclaredValuesIsNoHarm) {
  Program p;
  Leaf w = p.parameter();
  p.inplace("fill_", w.data, {}, kInf, {.line = 1, .constant = true}, Target::kParameter);
  EXPECT_TRUE(p.clean());
}

TEST(JudgeOps, GarbageIsHarmlessUntilItReachesALoss) {
  Program p;
  Leaf w = p.parameter();
  p.inplace("resize_", w.data, {}, kNan, {.line = 1}, Target::kParameter);
  Tensor garbage = p.op("empty", {}, kNan, {.line = 2});
  p.end();
  EXPECT_TRUE(p.clean());
  Tensor loss = p.op("add", {garbage}, kNan, {.line = 3, .grad = true});
  p.backward(loss, w, p.tensor());
  p.step();
  ASSERT_EQ(p.verdict(), "empty:2 by loss");
  EXPECT_EQ(p.reported[0].origin.origin_kind, OriginKind::kUninitialised);
  EXPECT_EQ(Program::short_name(p.reported[0].chain[1]), "add:3");
}

TEST(JudgeOps, GarbageNobodySawIsBlamedOnItsAllocation) {
  // The allocation itself was not reported; the op that reads the memory knows of it.
  Program p;
  Leaf w = p.parameter();
  Tensor loss = p.tensor(kNan, true);
  OpRecord record;
  record.op = p.info("sum");
  record.place = Program::at(3);
  record.reads.emplace_back().state = p.tensor(kNan).state;
  record.reads[0].allocation = {p.info("empty"), Program::at(2)};
  record.writes.emplace_back().state = loss.state;
  p.judge.op_returned(record, p);
  p.backward(loss, w, p.tensor());
  p.step();
  ASSERT_EQ(p.verdict(), "empty:2 by loss");
  EXPECT_EQ(p.reported[0].origin.origin_kind, OriginKind::kUninitialised);
}

TEST(JudgeOps, BatchNormBufferByAHiddenWrite) {
  Program p;
  Tensor big = p.op("mul", {p.data()}, kInf, {.line = 1});
  Tensor running = p.tensor();
  p.inplace("native_batch_norm", running, {big}, kNan, {.line = 2}, Target::kBuffer,
            "bn.running_mean");
  EXPECT_EQ(p.verdict(), "mul:1 by buffer");
}

TEST(JudgeOps, CausalMaskInABufferIsNoHarm) {
  Program p;
  Tensor mask = p.mask();
  Tensor buffer = p.tensor();
  p.inplace("copy_", buffer, {mask}, kInf, {.line = 2}, Target::kBuffer, "mask");
  EXPECT_TRUE(p.clean());
}

TEST(JudgeOps, AMaskOfACheckpointInABufferIsNoHarm) {
  Program p;
  Tensor loaded = p.tensor();
  loaded.state.kinds = kInf;
  Tensor buffer = p.tensor();
  p.inplace("copy_", buffer, {loaded}, kInf, {.line = 2}, Target::kBuffer, "mask");
  EXPECT_TRUE(p.clean());
}

TEST(JudgeOps, ANanOfACheckpointInABufferIsHarm) {
  Program p;
  Tensor loaded = p.tensor();
  loaded.state.kinds = kNan;
  Tensor buffer = p.tensor();
  p.inplace("copy_", buffer, {loaded}, kNan, {.line = 2}, Target::kBuffer, "mean");
  EXPECT_FALSE(p.clean());
}

TEST(JudgeOps, AnInfOfACheckpointInAParameterIsHarm) {
  Program p;
  Tensor loaded = p.tensor();
  loaded.state.kinds = kInf;
  Leaf w = p.parameter();
  p.inplace("copy_", w.data, {loaded}, kInf, {.line = 2}, Target::kParameter, "w");
  EXPECT_FALSE(p.clean());
}

TEST(JudgeOps, AParameterThatWasBadBeforeIsNotGained) {
  Program p;
  Leaf w = p.parameter();
  w.data.state.kinds = kNan;
  p.inplace("mul_", w.data, {}, kNan, {.line = 1}, Target::kParameter);
  EXPECT_TRUE(p.clean());
}

TEST(JudgeOps, ExceptionNamesTheOriginOfItsInput) {
  Program p;
  Tensor nan = p.op("div", {p.data()}, kNan, {.line = 1});
  p.raises("linalg_svd", {nan}, "the algorithm did not converge", {.line = 2});
  ASSERT_EQ(p.verdict(), "div:1 by exception");
  EXPECT_EQ(p.reported[0].text, "the algorithm did not converge");
  EXPECT_EQ(p.reported[0].place.line, 2u);
}

TEST(JudgeOps, ExceptionOnAMaskIsNotItsDoing) {
  Program p;
  p.raises("index_select", {p.mask()}, "index out of range");
  EXPECT_TRUE(p.clean());
}

TEST(JudgeOps, ImportedIsNamedByTheOpThatReadItFirst) {
  Program p;
  Tensor x = p.brought(kNan);
  Tensor y = p.op("mul", {x, x}, kNan, {.line = 8});
  Leaf w = p.parameter();
  p.inplace("sub_", w.data, {y}, kNan, {.line = 9}, Target::kParameter);
  ASSERT_EQ(p.verdict(), "mul:8 by parameter");
  EXPECT_EQ(p.reported[0].origin.origin_kind, OriginKind::kImported);
  EXPECT_EQ(p.reported.size(), 1u);
  EXPECT_EQ(p.notes(), "");
  EXPECT_EQ(p.reported[0].origin.facts->finding.origin.output, 0);
}

TEST(JudgeOps, WrittenBySomebodyUnwatchedIsNoImport) {
  Program p;
  Tensor x = p.brought(kNan);
  x.was_finite = true;
  Tensor y = p.op("mul", {x, x}, kNan, {.line = 8});
  Leaf w = p.parameter();
  p.inplace("sub_", w.data, {y}, kNan, {.line = 9}, Target::kParameter);
  ASSERT_EQ(p.verdict(), "mul:8 by parameter");
  EXPECT_EQ(p.reported[0].origin.origin_kind, OriginKind::kUnwatched);
}

TEST(JudgeOps, LiftedTensorIsDeclaredOnce) {
  Program p;
  Tensor x = p.brought(kNan);
  p.inplace("lift_fresh", x, {}, kNan, {.line = 1});
  p.inplace("lift_fresh", x, {}, kNan, {.line = 2});
  Leaf w = p.parameter();
  Tensor y = p.op("mul", {x}, kNan, {.line = 3});
  p.inplace("sub_", w.data, {y}, kNan, {.line = 4}, Target::kParameter);
  // All origins are declared: a write of the program's own.
  EXPECT_TRUE(p.clean());
  p.backward(y, w, y);
  p.step();
  EXPECT_EQ(p.verdict(), "lift_fresh:1 by gradient");
}

TEST(JudgeOps, AParameterThatIsUpdatedByANanNumber) {
  for (const char* op : {"add_", "addcdiv_", "mul_"}) {
    Program p;
    Leaf w = p.parameter();
    p.inplace(op, w.data, {}, kNan, {.line = 4, .constant = true}, Target::kParameter);
    EXPECT_EQ(p.verdict(), std::string(op) + ":4 by parameter");
  }
  Program p;  // put there, not computed
  Leaf w = p.parameter();
  p.inplace("fill_", w.data, {}, kNan, {.line = 4, .constant = true}, Target::kParameter);
  EXPECT_TRUE(p.clean());
}

TEST(JudgeOps, DeclaredNanThatIsTestedMakesTheFirstCarrierTheOrigin) {
  Program p;
  Tensor missing = p.op("full", {}, kNan, {.line = 1, .constant = true});
  Tensor carried = p.op("mean", {missing}, kNan, {.line = 2, .grad = true});
  Tensor loss = p.op("add", {carried}, kNan, {.line = 3, .grad = true});
  p.test(missing);  // later than everything computed from it
  Leaf w = p.parameter();
  p.backward(loss, w, p.op("mul", {loss}, kNan, {.line = 3, .phase = Phase::kBackward}));
  p.step();
  ASSERT_EQ(p.verdict(), "mean:2 by gradient");
  EXPECT_TRUE(p.reported[0].misuse);
  EXPECT_EQ(Program::short_name(p.reported[0].evidence.at(0)), "full:1");
  EXPECT_EQ(Program::short_name(p.reported[0].chain.front()), "mean:2");
}

TEST(JudgeOps, DeclaredNanThatIsNotTestedIsTheOrigin) {
  Program p;
  Tensor missing = p.op("full", {}, kNan, {.line = 1, .constant = true});
  Tensor loss = p.op("mean", {missing}, kNan, {.line = 2, .grad = true});
  Leaf w = p.parameter();
  p.backward(loss, w, loss);
  p.step();
  EXPECT_EQ(p.verdict(), "full:1 by gradient");
  EXPECT_EQ(p.reported[0].origin.origin_kind, OriginKind::kDeclared);
}

TEST(JudgeOps, BirthsAreNamedBeforeMisuseAndGivenInf) {
  Program p;
  Tensor missing = p.op("full", {}, kNan, {.line = 1, .constant = true});
  p.test(missing);
  Tensor carried = p.op("mean", {missing}, kNan, {.line = 2});
  Tensor born = p.op("log", {p.data()}, kNan, {.line = 3});
  Tensor sum = p.op("add", {carried, born}, kNan, {.line = 4});
  Leaf w = p.parameter();
  p.inplace("sub_", w.data, {sum}, kNan, {.line = 5}, Target::kParameter);
  ASSERT_EQ(p.verdict(), "log:3 by parameter");
  EXPECT_EQ(p.reported.size(), 1u);
  EXPECT_EQ(p.notes(), "");
}

TEST(JudgeOps, FillBesideANanKeepsTheNansOrigin) {
  Program p;
  Tensor scores = p.op("div", {p.data()}, kNan, {.line = 1});
  Tensor masked = p.op("masked_fill", {scores}, kBoth, {.line = 2, .constant = true});
  Leaf w = p.parameter();
  p.inplace("sub_", w.data, {masked}, kBoth, {.line = 3}, Target::kParameter);
  EXPECT_EQ(p.verdict(), "div:1 by parameter");
}

TEST(JudgeOps, CleanedBirthIsANote) {
  Program p;
  Tensor log = p.op("log", {p.data()}, kInf, {.line = 41, .grad = true});
  Tensor scaled = p.op("mul", {log}, kInf, {.line = 42, .grad = true});
  Tensor safe = p.op("where", {scaled}, kFinite, {.line = 43, .grad = true});
  Leaf w = p.parameter();
  p.backward(safe, w, p.tensor());
  p.step();
  p.end();
  EXPECT_TRUE(p.clean());
  EXPECT_EQ(p.notes(), "log:41 cleaned");
}

TEST(JudgeOps, NotesAreCountedPerOpAndLine) {
  Program p;
  for (int i = 0; i < 3; ++i) p.op("log", {p.data()}, kInf, {.line = 1});
  p.op("log", {p.data()}, kInf, {.line = 2});
  p.op("sqrt", {p.data()}, kNan, {.line = 2});
  EXPECT_EQ(p.notes(), "log:1 not used x3; log:2 not used; sqrt:2 not used");
}

TEST(JudgeOps, ABirthThatDidHarmIsNoNote) {
  Program p;
  Tensor nan = p.op("sqrt", {p.data()}, kNan, {.line = 1});
  Leaf w = p.parameter();
  p.inplace("sub_", w.data, {nan}, kNan, {.line = 2}, Target::kParameter);
  EXPECT_EQ(p.notes(), "");
}

TEST(JudgeOps, AConstantThatDoesNoHarmIsIntended) {
  Program p;
  for (int i = 0; i < 3; ++i) {
    Tensor mask = p.op("masked_fill", {p.data()}, kInf, {.line = 1, .constant = true});
    p.op("softmax", {mask}, kFinite, {.line = 2});
  }
  p.op("full", {}, kInf, {.line = 3, .constant = true});
  EXPECT_EQ(p.intended(), "masked_fill:1 cleaned x3; full:3 not used");
  EXPECT_EQ(p.notes(), "");
}

TEST(JudgeOps, AConstantThatDidHarmIsNotIntended) {
  Program p;
  Tensor mask = p.op("masked_fill", {p.data()}, kInf, {.line = 1, .constant = true});
  Tensor born = p.op("softmax", {mask}, kNan, {.line = 2});
  p.op("softmax", {p.op("masked_fill", {p.data()}, kInf, {.line = 3, .constant = true})}, kFinite);
  Leaf w = p.parameter();
  p.inplace("sub_", w.data, {born}, kNan, {.line = 4}, Target::kParameter);
  EXPECT_EQ(p.intended(), "masked_fill:3 cleaned");
}

TEST(JudgeOps, SitesOfConstantsAreBounded) {
  Program p;
  const auto most = static_cast<std::uint32_t>(Notes::kMostIntended);
  for (std::uint32_t line = 1; line <= most + 2; ++line)
    p.op("full", {}, kInf, {.line = line, .constant = true});
  EXPECT_EQ(p.judge.intended().size(), most);
  EXPECT_EQ(p.judge.intended_more(), 2);
}

// Each branch knows where it left the way, also if an op lies between.
TEST(JudgeOps, ABranchThatWasCleanedHangsOnWhatItComesFrom) {
  Program p;
  Leaf w = p.parameter();
  Tensor y = p.op("log", {p.data()}, kInf, {.line = 1});
  Tensor z = p.op("mul", {y}, kInf, {.line = 2});
  p.op("exp", {y}, kFinite, {.line = 3});
  p.op("tanh", {z}, kFinite, {.line = 4});
  p.op("atan", {p.op("add", {z}, kInf, {.line = 5})}, kFinite, {.line = 6});
  for (std::uint32_t line = 10; line < 17; ++line) p.op("relu", {y}, kFinite, {.line = line});
  p.inplace("sub_", w.data, {z}, kInf, {.line = 7}, Target::kParameter);
  ASSERT_EQ(p.reported.size(), 1u);
  const Verdict& verdict = p.reported[0];
  ASSERT_EQ(verdict.cleaned.size(), Source::kMostCleaned);
  EXPECT_EQ(verdict.cleaned_more, 2u);
  const auto parent = [&](std::size_t i) {
    return Program::short_name(verdict.chain[verdict.cleaned[i].from.value()]);
  };
  EXPECT_EQ(parent(0), "log:1");
  EXPECT_EQ(parent(1), "mul:2");
  EXPECT_EQ(parent(2), "mul:2");
  EXPECT_EQ(parent(3), "log:1");
}

TEST(JudgeOps, OneErrorPerOriginOthersToo) {
  Program p;
  Leaf a = p.parameter("a");
  Leaf b = p.parameter("b");
  Leaf c = p.parameter("c");
  Tensor first = p.op("sqrt", {p.data()}, kNan, {.line = 1});
  Tensor second = p.op("log", {p.data()}, kNan, {.line = 1});
  p.inplace("sub_", a.data, {first}, kNan, {.line = 2}, Target::kParameter);
  p.inplace("sub_", b.data, {first}, kNan, {.line = 3}, Target::kParameter);
  p.inplace("sub_", c.data, {second}, kNan, {.line = 4}, Target::kParameter);
  ASSERT_EQ(p.reported.size(), 2u);
  EXPECT_EQ(p.verdict(1), "log:1 by parameter");
}

TEST(JudgeOps, AtMostSoManyErrors) {
  Program p;
  for (std::uint32_t line = 1; line <= Verdicts::kMost + 30; ++line) {
    Leaf w = p.parameter();
    Tensor nan = p.op("sqrt", {p.data()}, kNan, {.line = line});
    p.inplace("sub_", w.data, {nan}, kNan, {.line = line}, Target::kParameter);
  }
  EXPECT_EQ(p.reported.size(), Verdicts::kMost);
}

TEST(JudgeOps, ViewsMakeNoEvent) {
  Program p;
  Tensor x = p.op("sqrt", {p.data()}, kNan, {.line = 1});
  p.inplace("view", x, {}, kNan, {.line = 2});
  Leaf w = p.parameter();
  p.inplace("sub_", w.data, {x}, kNan, {.line = 3}, Target::kParameter);
  EXPECT_EQ(p.reported.at(0).chain.size(), 2u);
}

TEST(JudgeOps, FiniteWriteMakesAStorageHealthyAgain) {
  Program p;
  Tensor x = p.op("sqrt", {p.data()}, kNan, {.line = 1});
  p.inplace("nan_to_num_", x, {}, kFinite, {.line = 2});
  EXPECT_FALSE(p.judge.ledger().knows(x.state.storage));
  EXPECT_EQ(p.notes(), "sqrt:1 cleaned");
}

TEST(JudgeOps, FactsAreTakenOnlyOfWhatCanBeAnOrigin) {
  Program p;
  Tensor x = p.op("sqrt", {p.data()}, kNan, {.line = 1});
  for (int i = 0; i < 5; ++i) x = p.op("mul", {x}, kNan, {.line = 2});
  EXPECT_EQ(p.facts_made, 1);
}

}  // namespace
}  // namespace nanscope::test
