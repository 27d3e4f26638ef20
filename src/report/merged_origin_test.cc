// Which rank was first, from the captures of all.
#include <gtest/gtest.h>

#include "report/merge.h"

namespace nanscope::merged_origin_test {
namespace {

Collective call(std::int64_t sequence, std::vector<Giver> givers = {}) {
  return {.op = "c10d::allreduce_",
          .group = "0",
          .sequence = sequence,
          .ranks = 4,
          .reduces = true,
          .givers = std::move(givers),
          .givers_known = true};
}

Finding born(int rank, std::int64_t step = 3) {
  Finding finding;
  finding.origin.kind = OriginKind::kBirth;
  finding.origin.op = "aten::log";
  finding.origin.site.file = "train.py";
  finding.origin.site.line = 20;
  finding.origin.rank = rank;
  finding.origin.step = step;
  finding.origin.nan = 1;
  return finding;
}

Finding received(int rank, const Collective& by, std::vector<Finding> elsewhere = {}) {
  Finding finding = born(rank);
  finding.origin.kind = OriginKind::kReceived;
  finding.origin.op = by.op;
  finding.origin.site.line = 30;
  finding.origin.collective = by;
  finding.elsewhere = std::move(elsewhere);
  return finding;
}

CaptureOfRank of(int rank, Finding finding) {
  CaptureOfRank one;
  one.capture.program.rank = rank;
  one.capture.findings.push_back(std::move(finding));
  one.path = "r" + std::to_string(rank) + ".nsc";
  return one;
}

std::vector<int> origins(const Capture& merged) {
  std::vector<int> ranks;
  for (const Finding& finding : merged.findings) ranks.push_back(finding.origin.rank.value_or(-1));
  return ranks;
}

TEST(MergedOrigin, WhatARankWasToldLeadsToTheOrigin) {
  const Capture merged = merge({of(0, received(0, call(5, {{1, 4}}), {born(1)})), of(1, born(1))});
  EXPECT_EQ(origins(merged), std::vector<int>{1});
  EXPECT_EQ(merged.ranks[1].sentence, "the origin");
  EXPECT_NE(merged.ranks[0].sentence.find("rank 1 gave 4 nan"), std::string::npos);
}

TEST(MergedOrigin, WithoutAWordTheSameCallOfAnotherCaptureLeadsThere) {
  Finding giver = born(2);
  giver.given = {call(5)};
  const Capture merged = merge({of(0, received(0, call(5))), of(2, giver)});
  EXPECT_EQ(origins(merged), std::vector<int>{2});
}

TEST(MergedOrigin, ALongWayIsWalkedToItsEnd) {
  std::vector<CaptureOfRank> captures;
  for (int rank = 0; rank < 12; ++rank) {
    Finding finding = rank == 0 ? born(0) : received(rank, call(rank - 1));
    finding.given = {call(rank)};
    captures.push_back(of(rank, std::move(finding)));
  }
  EXPECT_EQ(origins(merge(std::move(captures))), std::vector<int>{0});
}

TEST(MergedOrigin, ACircleEnds) {
  Finding one = received(0, call(1));
  one.given = {call(2)};
  Finding other = received(1, call(2));
  other.given = {call(1)};
  EXPECT_FALSE(merge({of(0, one), of(1, other)}).findings.empty());
}

TEST(MergedOrigin, TheEarliestStepComesFirstThenTheLowestRank) {
  const Capture merged = merge({of(0, born(0, 9)), of(3, born(3, 2)), of(1, born(1, 2))});
  EXPECT_EQ(origins(merged), (std::vector<int>{1, 3, 0}));
}

TEST(MergedOrigin, ARankThatOnlyGaveItAwayIsTheOriginAllTheSame) {
  RankLine stopped;
  stopped.rank = 3;
  stopped.sentence = "was stopped";
  const Capture merged = merge({of(0, received(0, call(5, {{3, 4}}), {born(3)}))}, {stopped});
  EXPECT_EQ(merged.ranks[1].sentence, "the origin; was stopped");
}

TEST(MergedOrigin, WhatNobodyWatchedMakesNoRankTheOrigin) {
  Finding unseen = born(0);
  unseen.origin.kind = OriginKind::kUnwatched;
  EXPECT_NE(merge({of(0, unseen)}).ranks[0].sentence, "the origin");
}

TEST(MergedOrigin, ARemarkIsTheEndOfItsRanksSentence) {
  RankLine killed;
  killed.rank = 1;
  killed.sentence = "was killed";
  const Capture merged = merge({of(0, born(0))}, {killed}, {{1, "its weight differs"}});
  EXPECT_EQ(merged.ranks[0].sentence, "the origin");
  EXPECT_EQ(merged.ranks[1].sentence, "was killed; its weight differs");
}

}  // namespace
}  // namespace nanscope::merged_origin_test
