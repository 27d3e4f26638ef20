#include "checkpoint/pickle_machine.h"

#include <gtest/gtest.h>

namespace nanscope::checkpoint {
namespace {

using namespace std::string_literals;

Pickle read(const std::string& bytes) {
  Result<Pickle> pickle = read_pickle(bytes);
  EXPECT_TRUE(pickle.ok()) << (pickle.ok() ? "" : pickle.error().message);
  return std::move(pickle.value());
}

std::string fault_of(const std::string& bytes) {
  const Result<Pickle> pickle = read_pickle(bytes);
  return pickle.ok() ? "" : pickle.error().message;
}

TEST(Pickle, ReadsPlainValues) {
  // {'a': [1, -2, 2.5], 'b': None, 'c': True}, protocol 2
  const std::string bytes =
      "\x80\x02}q\x00(X\x01\x00\x00\x00"
      "a]q\x01(K\x01J\xfe\xff\xff\xffG@\x04\x00\x00\x00\x00\x00\x00"
      "eX\x01\x00\x00\x00"
      "bNX\x01\x00\x00\x00"
      "c\x88u."s;
  const Pickle pickle = read(bytes);
  EXPECT_EQ(pickle.size_in_bytes(), bytes.size());
  const Ref list = pickle.entry(pickle.root(), "a");
  ASSERT_EQ(pickle.items(list).size(), 3U);
  EXPECT_EQ(pickle.integer(pickle.items(list)[0]), 1);
  EXPECT_EQ(pickle.integer(pickle.items(list)[1]), -2);
  EXPECT_EQ(pickle.number(pickle.items(list)[2]), 2.5);
  EXPECT_TRUE(pickle.is(pickle.entry(pickle.root(), "b"), PickleKind::kNone));
  EXPECT_EQ(pickle.integer(pickle.entry(pickle.root(), "c")), 1);
  EXPECT_EQ(pickle.entry(pickle.root(), "d"), 0U);
}

TEST(Pickle, KeepsCallsAsValues) {
  const std::string bytes = "cposix\nsystem\nX\x04\x00\x00\x00true\x85R."s;
  const Pickle pickle = read(bytes);
  EXPECT_EQ(pickle.callee(pickle.root()), "posix.system");
  ASSERT_EQ(pickle.arguments(pickle.root()).size(), 1U);
  EXPECT_EQ(pickle.text(pickle.arguments(pickle.root())[0]), "true");
}

TEST(Pickle, ReadsLongIntegersOfEitherSign) {
  EXPECT_EQ(read("\x8a\x01\xff."s).integer(1 + 2), -1);
  const Pickle large = read("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f."s);
  EXPECT_EQ(large.integer(large.root()), INT64_MAX);
  const Pickle huge = read("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00."s);
  EXPECT_TRUE(huge.is(huge.root(), PickleKind::kOpaque));
}

TEST(Pickle, HoldsCyclesWithoutEnd) {
  const std::string bytes =
      "]q\x00h\x00"
      "a."s;  // a list that holds itself
  const Pickle pickle = read(bytes);
  EXPECT_EQ(pickle.items(pickle.root())[0], pickle.root());
}

TEST(Pickle, RefusesWhatMakesNoSense) {
  EXPECT_EQ(fault_of(""), "its pickle ends too early.");
  EXPECT_EQ(fault_of("."), "its pickle takes more from its stack than there is.");
  EXPECT_EQ(fault_of("h\x05."s), "its pickle recalls what it never remembered.");
  EXPECT_EQ(fault_of("t."), "its pickle looks for a mark that is not there.");
  EXPECT_EQ(fault_of("NNs."), "its pickle takes more from its stack than there is.");
  EXPECT_EQ(fault_of("\xff."), "its pickle has an operation that nanscope does not know.");
  EXPECT_EQ(fault_of("\x8e\xff\xff\xff\xff\xff\xff\xff\x7f."s), "its pickle ends too early.");
  EXPECT_EQ(fault_of("NNa."), "its pickle puts something into what holds nothing.");
  EXPECT_EQ(fault_of("\x97."s), "its pickle keeps its data outside of itself.");
}

TEST(Pickle, SaysWhetherItWasCutOff) {
  bool cut_off = false;
  EXPECT_FALSE(read_pickle("]q", &cut_off).ok());
  EXPECT_TRUE(cut_off);
  EXPECT_FALSE(read_pickle("\xff", &cut_off).ok());
  EXPECT_FALSE(cut_off);
}

TEST(Pickle, SurvivesDeepNestingAndManyCopies) {
  const std::string deep = std::string(1'000'000, ']') + std::string(999'999, 'a') + ".";
  EXPECT_EQ(read(deep).count(), 1'000'003U);
  const std::string copies = "]" + std::string(1'000'000, '2') + ".";
  EXPECT_EQ(read(copies).count(), 4U);
  const std::string many(Pickle::kMostValues + 1, ']');
  EXPECT_EQ(fault_of(many), "its pickle holds too many values.");
}

// Note [A pickle is no bomb]
TEST(Pickle, HoldsNoMoreThanItsPackedSizeAllows) {
  EXPECT_LT(Pickle::most_values_of(15'000), 200'000U);
  EXPECT_EQ(Pickle::most_values_of(UINT64_MAX), Pickle::kMostValues);
  EXPECT_LE(Pickle::most_values_of(Pickle::kMostValues / 4 - 1), Pickle::kMostValues);
  const std::size_t most = Pickle::most_values_of(10);
  std::string few(most - 3, ']');
  few += '.';
  EXPECT_TRUE(read_pickle(few, nullptr, most).ok());
  bool cut_off = true;
  const Result<Pickle> many = read_pickle("]" + few, &cut_off, most);
  ASSERT_FALSE(many.ok());
  EXPECT_EQ(many.error().message, "its pickle holds too many values.");
  EXPECT_FALSE(cut_off);
}

// A memo bomb: each level holds the one before ten times. It stays as small as it is written.
TEST(Pickle, SharesWhatIsRemembered) {
  std::string bytes = "]q\x00"s;
  for (int level = 0; level < 100; ++level)
    bytes +=
        "](h\x00h\x00h\x00h\x00"
        "eq\x00"s;
  const Pickle pickle = read(bytes + ".");
  EXPECT_EQ(pickle.count(), 104U);
}

}  // namespace
}  // namespace nanscope::checkpoint
