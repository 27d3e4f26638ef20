#include "diagnose/received.h"

#include <gtest/gtest.h>

namespace nanscope {
namespace {

TEST(Received, ACallIsCalledAsInPython) {
  Collective call;
  call.op = "c10d::allreduce_";
  call.group = "0";
  call.sequence = 4;
  EXPECT_EQ(call_text(call), "all_reduce number 4 of group 0");
  call.bucket = 2;
  EXPECT_EQ(call_text(call), "all_reduce number 4 of group 0 (DDP bucket 2)");
}

TEST(Received, AMessageIsToldByItsWay) {
  Collective call;
  call.op = "c10d::recv_";
  call.group = "0";
  call.message = Message{1, 0, 3};
  EXPECT_EQ(call_text(call), "message number 0 from rank 1 to rank 0 (tag 3) of group 0");
  call.message->sender.reset();
  EXPECT_EQ(call_text(call), "message number 0 from any rank to rank 0 (tag 3) of group 0");
}

}  // namespace
}  // namespace nanscope
