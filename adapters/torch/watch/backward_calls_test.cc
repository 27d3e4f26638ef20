#include "adapters/torch/watch/backward_calls.h"

#include <gtest/gtest.h>

namespace nanscope::torch_adapter {
namespace {

TEST(BackwardCalls, OneThatRunsAloneIsKnown) {
  BackwardCalls calls;
  EXPECT_EQ(calls.only(), 0u);
  {
    const BackwardCalls::Running running(calls, 7);
    EXPECT_EQ(calls.only(), 7u);
    EXPECT_EQ(calls.allowed_by(), 0u);
  }
  EXPECT_EQ(calls.only(), 0u);
}

TEST(BackwardCalls, OfSeveralAtOnceNoneIsTaken) {
  BackwardCalls calls;
  calls.begin(7);
  calls.begin(8);
  EXPECT_EQ(calls.only(), 0u);
  calls.end();
  EXPECT_EQ(calls.only(), 0u) << "which of them is left is not known";
  calls.end();
  calls.begin(9);
  EXPECT_EQ(calls.only(), 9u);
  calls.end();
}

TEST(BackwardCalls, WhatItsBlockAllowsIsAllowedInTheThreadsOfTheEngine) {
  BackwardCalls calls;
  {
    const BackwardCalls::Running running(calls, 7, 3);
    EXPECT_EQ(calls.only(), 7u);
    EXPECT_EQ(calls.allowed_by(), 3u);
    calls.begin(8, 4);
    EXPECT_EQ(calls.allowed_by(), 0u) << "whose op it is is not known";
    calls.end();
    EXPECT_EQ(calls.allowed_by(), 0u);
  }
  const BackwardCalls::Running running(calls, 0xffffffff, 0x10000);
  EXPECT_EQ(calls.only(), 0xffffffff);
  EXPECT_EQ(calls.allowed_by(), 0u);
}

}  // namespace
}  // namespace nanscope::torch_adapter
