// The store of events: parents, what is known, and what is forgotten.
#include "origin/events.h"

#include <gtest/gtest.h>

namespace nanscope {
namespace {

const OpInfo kMul{"mul", {}};
const OpInfo kAbs{"abs", {.looks_through = true}};

EventId add(Events& events, std::vector<EventId> parents, const OpInfo& op = kMul) {
  Event event;
  event.op = &op;
  event.kinds.nan = true;
  event.parents = std::move(parents);
  event.source = std::make_shared<Source>();
  event.nan.push_back({event.source, nullptr});
  return events.add(std::move(event)).id;
}

TEST(Events, CountFromOne) {
  Events events;
  EXPECT_EQ(add(events, {}), 1u);
  EXPECT_EQ(add(events, {1}), 2u);
  EXPECT_EQ(events.find(0), nullptr);
  EXPECT_EQ(events.find(3), nullptr);
  EXPECT_TRUE(events.find(1)->used);
  EXPECT_FALSE(events.find(2)->used);
}

TEST(Events, ATestMakesTheValueAndWhatItWasMadeOfKnown) {
  Events events;
  const EventId a = add(events, {});
  const EventId b = add(events, {a});
  const EventId c = add(events, {b});
  events.test(b);
  EXPECT_FALSE(events.find(a)->tested);
  EXPECT_TRUE(events.find(a)->known);
  EXPECT_TRUE(events.find(b)->tested);
  EXPECT_TRUE(events.find(b)->source->tested);
  EXPECT_FALSE(events.find(c)->known);
}

TEST(Events, ATestLooksThroughAbs) {
  Events events;
  const EventId a = add(events, {});
  const EventId b = add(events, {a}, kAbs);
  events.test(b);
  EXPECT_TRUE(events.find(a)->tested);
}

TEST(Events, ARepairExcusesUpwardsOnly) {
  Events events;
  const EventId a = add(events, {});
  const EventId b = add(events, {a});
  const EventId c = add(events, {b});
  events.replace(b);
  EXPECT_TRUE(events.find(a)->repaired);
  EXPECT_FALSE(events.find(a)->replaced);
  EXPECT_TRUE(events.find(b)->replaced);
  EXPECT_FALSE(events.find(c)->repaired);
}

TEST(Events, SixtyFourLevels) {
  Events events;
  EventId last = add(events, {});
  for (int i = 0; i < 100; ++i) last = add(events, {last});
  events.test(last);
  EXPECT_TRUE(events.find(last - 63)->known);
  EXPECT_FALSE(events.find(last - 64)->known);
}

TEST(Events, AtMostEightParents) {
  Events events;
  std::vector<EventId> parents;
  for (int i = 0; i < 20; ++i) parents.push_back(add(events, {}));
  const EventId child = add(events, parents);
  EXPECT_EQ(events.find(child)->parents.size(), Events::kMostParents);
}

TEST(Events, RequiresGradThroughAbs) {
  Events events;
  const EventId a = add(events, {});
  const EventId b = add(events, {a}, kAbs);
  const EventId c = add(events, {b});
  EXPECT_FALSE(events.requires_grad(b));
  events.find(a)->grad = true;
  EXPECT_TRUE(events.requires_grad(b));
  EXPECT_FALSE(events.requires_grad(c));
}

TEST(Events, TheOldestAreForgottenUnlessReferredTo) {
  Events events;
  for (std::size_t i = 0; i < 2 * Events::kMost; ++i) {
    if (events.wants_collection()) events.collect({1, 7});
    add(events, i == 0 ? std::vector<EventId>{} : std::vector<EventId>{i});
  }
  EXPECT_LE(events.size(), Events::kMost + 2);
  ASSERT_NE(events.find(1), nullptr);
  EXPECT_FALSE(events.find(1)->nan.empty());
  EXPECT_NE(events.find(7), nullptr);
  EXPECT_EQ(events.find(8), nullptr);
  // A parent that was lost ends the walk, and is counted.
  events.test(7);
  EXPECT_TRUE(events.find(7)->known);
  EXPECT_FALSE(events.find(1)->known);
  EXPECT_EQ(events.lost_parents(), 1u);
  events.collect({7});
  EXPECT_EQ(events.find(1), nullptr);
}

TEST(Events, OriginsOfWhatNothingRefersToAreReleased) {
  Events events;
  for (std::size_t i = 0; i < Events::kCollectEvery; ++i) add(events, {});
  events.collect({3});
  EXPECT_TRUE(events.find(2)->released);
  EXPECT_EQ(events.find(2)->source, nullptr);
  EXPECT_FALSE(events.find(3)->released);
  EXPECT_FALSE(events.find(Events::kCollectEvery)->released);
}

}  // namespace
}  // namespace nanscope
