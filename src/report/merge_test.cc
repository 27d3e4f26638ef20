// Captures of many ranks, told as one.

#include "report/merge.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "capture/sample.h"
#include "report/json.h"
#include "report/ranks_as_one.h"

namespace nanscope {
namespace {

Collective all_reduce(int number) {
  Collective call;
  call.op = "c10d::allreduce_";
  call.group = "0";
  call.sequence = number;
  call.ranks = 3;
  return call;
}

CaptureOfRank on_rank(int rank, std::vector<Finding> findings) {
  CaptureOfRank one{sample::capture(std::move(findings)), std::to_string(rank) + ".nsc"};
  one.capture.program.rank = rank;
  one.capture.program.world_size = 3;
  one.capture.program.pid = 100 + rank;
  for (Finding& finding : one.capture.findings) finding.origin.rank = rank;
  return one;
}

// Made on rank 1, given into the fifth call.
CaptureOfRank giver() {
  Finding finding = sample::log_of_zero();
  finding.given = {all_reduce(5)};
  return on_rank(1, {finding});
}

CaptureOfRank receiver(int rank, const std::string& harmed) {
  Finding finding = sample::log_of_zero();
  finding.origin.kind = OriginKind::kReceived;
  finding.origin.op = "c10d::allreduce_";
  finding.origin.collective = all_reduce(5);
  finding.chain = {{"c10d::allreduce_", finding.origin.site, Phase::kBackward, Role::kReceived},
                   {"aten::div", finding.origin.site, Phase::kBackward, Role::kCarrier}};
  finding.harm->name = harmed;
  return on_rank(rank, {finding});
}

TEST(Merge, TellsTheWayOnEveryRankThatReceivedIt) {
  const Capture all = merge({receiver(2, "two"), giver(), receiver(0, "zero")});
  ASSERT_EQ(all.findings.size(), 1u);
  const Finding& origin = all.findings[0];
  EXPECT_EQ(origin.origin.rank, 1);
  ASSERT_EQ(origin.received_by.size(), 2u);
  EXPECT_EQ(origin.received_by[0].rank, 0);
  EXPECT_EQ(origin.received_by[0].harm->name, "zero");
  EXPECT_EQ(origin.received_by[0].chain.size(), 2u);
  EXPECT_EQ(origin.received_by[1].rank, 2);
  EXPECT_EQ(origin.received_by_more, 0);
  const nlohmann::json json = nlohmann::json::parse(json_report(all))["findings"][0];
  EXPECT_EQ(json["received_by"][1]["call"], "all_reduce number 5 of group 0");
  EXPECT_EQ(json["received_by"][1]["chain"][0]["role"], "received");
}

TEST(Merge, TellsOfTheFirstRanksAndCountsTheOthers) {
  std::vector<CaptureOfRank> captures{giver()};
  for (int rank = 2; rank < 30; ++rank) captures.push_back(receiver(rank, "weight"));
  const Finding origin = merge(std::move(captures)).findings[0];
  EXPECT_EQ(origin.received_by.size(), Finding::kMostReceivers);
  EXPECT_EQ(origin.received_by_more, 28 - static_cast<int>(Finding::kMostReceivers));
}

Diagnosed as_read(CaptureOfRank one) { return diagnosed(std::move(one.capture), one.path); }

TEST(RanksAsOne, StandBeforeTheSingleRanks) {
  const std::vector<Diagnosed> all =
      ranks_as_one({as_read(receiver(0, "zero")), as_read(giver()), as_read(receiver(2, "two"))});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "1.nsc");  // where the origin stands
  EXPECT_EQ(all[0].capture.ranks.size(), 3u);
  EXPECT_EQ(all[0].causes.size(), all[0].capture.findings.size());
  EXPECT_EQ(all[1].name, "0.nsc");
  EXPECT_EQ(all[2].name, "2.nsc");
}

TEST(RanksAsOne, LeavesOtherRunsAlone) {
  const Diagnosed alone = diagnosed(sample::capture({sample::log_of_zero()}), "alone.nsc");
  Diagnosed other = as_read(receiver(0, "zero"));
  other.capture.program.argv = {"another.py"};
  const std::vector<Diagnosed> all = ranks_as_one({alone, as_read(giver()), other, alone});
  ASSERT_EQ(all.size(), 4u);
  for (const Diagnosed& one : all) EXPECT_TRUE(one.capture.ranks.empty());
}

}  // namespace
}  // namespace nanscope
