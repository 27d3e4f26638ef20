// What collectives bring from other ranks.
#include <gtest/gtest.h>

#include "origin/scenario.h"

namespace nanscope::test {
namespace {

class JudgeReceived : public ::testing::Test {
 protected:
  // A collective, called at line 20, wrote this memory.
  void receive(Tensor& tensor, Kinds kinds, bool declared = false) {
    tensor.state.kinds = kinds;
    p.world.receipts[tensor.state.storage.value] = {1, p.info("allreduce_"), Program::at(20),
                                                    declared};
  }
  // It becomes a parameter's gradient, and a step is about to use it.
  void harm(const Tensor& gradient) {
    const Leaf w = p.parameter();
    p.backward(p.tensor(), w, p.op("div", {gradient}, gradient.state.kinds, {.line = 30}));
    p.step();
  }

  Program p;
};

TEST_F(JudgeReceived, WhatNobodyHereMadeCameThroughTheCollective) {
  Tensor bucket = p.tensor();
  receive(bucket, kNan);
  harm(bucket);
  EXPECT_EQ(p.verdict(), "allreduce_:20 by gradient");
  EXPECT_EQ(p.reported[0].origin.origin_kind, OriginKind::kReceived);
}

TEST_F(JudgeReceived, WhatThisRankGaveStaysItsOwn) {
  Tensor bucket = p.op("log", {p.data()}, kNan, {.line = 10});
  receive(bucket, kNan);
  harm(bucket);
  EXPECT_EQ(p.verdict(), "log:10 by gradient");
}

TEST_F(JudgeReceived, AnInfinityThatWasGivenIsNotBlamedForTheNanThatCameBack) {
  Tensor bucket = p.mask(10);
  receive(bucket, kNan);
  harm(bucket);
  EXPECT_EQ(p.verdict(), "allreduce_:20 by gradient");
}

TEST_F(JudgeReceived, WhatWasGivenOnPurposeIsDeclaredHereToo) {
  Tensor mask = p.tensor();
  receive(mask, kInf, /*declared=*/true);
  p.op("softmax", {mask}, kFinite, {.line = 30});
  p.end();
  EXPECT_TRUE(p.clean());
}

TEST_F(JudgeReceived, WhatIsWrittenOverIsForgotten) {
  Tensor buffer = p.op("full", {}, kNan, {.line = 10, .constant = true});
  ASSERT_TRUE(p.judge.ledger().knows(buffer.state.storage));
  TensorState written = buffer.state;
  written.kinds = kFinite;
  p.judge.overwritten(written);
  receive(buffer, kNan);
  harm(buffer);
  EXPECT_EQ(p.verdict(), "allreduce_:20 by gradient");
}

}  // namespace
}  // namespace nanscope::test
