#include "origin/host_numbers.h"

#include <gtest/gtest.h>

namespace nanscope {
namespace {

constexpr NumberKinds kNanNumber{true, false, false};
constexpr NumberKinds kPosInfNumber{false, true, false};
constexpr NumberKinds kNegInfNumber{false, false, true};
using Ids = std::vector<EventId>;

BadPattern bad_at(std::size_t numel, std::size_t place, std::uint8_t kind) {
  KindMap map{{static_cast<std::int64_t>(numel)}, std::vector<std::uint8_t>(numel)};
  map.kinds[place] = kind;
  return pattern_of(map);
}

TEST(HostNumbers, ANumberIsTakenForTheOneThatWasReadLast) {
  HostNumbers numbers;
  EXPECT_EQ(numbers.given(kNanNumber, false, {}), Ids{});
  numbers.read({kNanNumber, {}}, {1}, 7);
  numbers.read({kNanNumber, {}}, {2}, 8);
  EXPECT_EQ(numbers.given(kNanNumber, false, {}), Ids{2});
  EXPECT_EQ(numbers.given(kNanNumber, true, {}), Ids{});
  EXPECT_EQ(numbers.given(kPosInfNumber, false, {}), Ids{});  // Python makes none of a NaN
}

TEST(HostNumbers, ANumberIsTakenForTheOneThatItsNameWasGiven) {
  HostNumbers numbers;
  numbers.read({kPosInfNumber, {}}, {1}, 6);
  numbers.read({kNanNumber, {}}, {2}, 7);
  numbers.read({kNanNumber, {}}, {3}, 8);
  numbers.read({kNanNumber, {}}, {4}, 8);
  EXPECT_EQ(numbers.given(kNanNumber, false, {5, 7}), Ids{2});
  EXPECT_EQ(numbers.given(kNanNumber, false, {7, 8}), Ids{4});
  EXPECT_EQ(numbers.given(kNanNumber, false, {6}), Ids{1});
  EXPECT_EQ(numbers.given(kNanNumber, false, {9}), Ids{4});
  EXPECT_EQ(numbers.last_read(kNanNumber), Ids{4});
}

TEST(HostNumbers, PythonMakesANanOfAnInfAndTurnsItsSign) {
  HostNumbers numbers;
  numbers.read({kPosInfNumber, {}}, {1}, 0);
  EXPECT_EQ(numbers.given(kNanNumber, false, {}), Ids{1});
  EXPECT_EQ(numbers.given(kNegInfNumber, false, {}), Ids{1});
  numbers.read({kNanNumber, {}}, {2}, 0);
  EXPECT_EQ(numbers.given(kNanNumber, false, {}), Ids{2});
}

TEST(HostNumbers, AnInfinityThatTheProgramUsedBeforeIsItsOwn) {
  HostNumbers numbers;
  EXPECT_EQ(numbers.given(kNegInfNumber, false, {}), Ids{});
  numbers.read({kNegInfNumber, {}}, {1}, 0);
  EXPECT_EQ(numbers.given(kNegInfNumber, false, {}), Ids{});
}

TEST(HostNumbers, MemoryThatComesBackIsKnownByItsBadElements) {
  HostNumbers numbers;
  numbers.read({kNanNumber, bad_at(8, 3, 1)}, {1}, 0);
  EXPECT_EQ(numbers.brought(bad_at(8, 3, 1)), Ids{1});
  EXPECT_EQ(numbers.brought(bad_at(8, 4, 1)), Ids{});
  EXPECT_EQ(numbers.brought(bad_at(9, 3, 1)), Ids{});
  EXPECT_EQ(numbers.brought(bad_at(8, 3, 2)), Ids{});
  EXPECT_EQ(numbers.brought({}), Ids{});
  EXPECT_TRUE(numbers.explains({true, false}));
  EXPECT_FALSE(numbers.explains({false, true}));
}

TEST(HostNumbers, OnlyTheLastThatWereHandedOutAreKept) {
  HostNumbers numbers;
  for (std::size_t i = 0; i < 17; ++i) numbers.read({kNanNumber, bad_at(32, i, 1)}, {i + 1}, 0);
  EXPECT_EQ(numbers.brought(bad_at(32, 0, 1)), Ids{});
  EXPECT_EQ(numbers.brought(bad_at(32, 1, 1)), Ids{2});
  EXPECT_EQ(numbers.brought(bad_at(32, 16, 1)), Ids{17});
}

}  // namespace
}  // namespace nanscope
