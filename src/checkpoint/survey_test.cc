#include "checkpoint/survey.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "checkpoint/view_order.h"

namespace nanscope::checkpoint {
namespace {

using Sizes = std::vector<std::int64_t>;

BytesPtr storage_of(const std::vector<float>& numbers) {
  return in_memory({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)});
}

StoredTensor floats(BytesPtr storage, Sizes sizes, Sizes strides, std::uint64_t first = 0) {
  return {.name = "x",
          .type = *type_named("float32"),
          .sizes = std::move(sizes),
          .strides = std::move(strides),
          .storage = std::move(storage),
          .offset = first * sizeof(float)};
}

SurveyedTensor facts_of(const StoredTensor& tensor, unsigned threads = 1) {
  EXPECT_EQ(place_problem(tensor), std::nullopt);
  const StoredTensor* const one = &tensor;
  return survey({&one, 1}, {.threads = threads, .progress = {}}).facts[0];
}

// 0 1 2 3 | 4 nan 6 7 | 8 9 10 -inf
std::vector<float> twelve() {
  std::vector<float> numbers(12);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  numbers[5] = std::numeric_limits<float>::quiet_NaN();
  numbers[11] = -std::numeric_limits<float>::infinity();
  return numbers;
}

TEST(Survey, CountsADenseTensor) {
  const SurveyedTensor facts = facts_of(floats(storage_of(twelve()), {3, 4}, {4, 1}));
  EXPECT_EQ(facts.census.elements, 12);
  EXPECT_EQ(facts.census.nan, 1);
  EXPECT_EQ(facts.census.neg_inf, 1);
  EXPECT_EQ(facts.census.most, 10);
  EXPECT_EQ(facts.bad_index, (Sizes{1, 1}));
}

TEST(Survey, NamesTheIndexOfATransposedElement) {
  EXPECT_EQ(facts_of(floats(storage_of(twelve()), {4, 3}, {1, 4})).bad_index, (Sizes{1, 1}));
  EXPECT_EQ(facts_of(floats(storage_of(twelve()), {4, 2}, {1, 4}, 4)).bad_index, (Sizes{1, 0}));
}

TEST(Survey, SeesOnlyTheElementsOfAView) {
  const BytesPtr storage = storage_of(twelve());
  EXPECT_FALSE(facts_of(floats(storage, {3, 2}, {4, 2})).is_bad());       // columns 0 and 2
  EXPECT_EQ(facts_of(floats(storage, {3}, {4}, 3)).bad_index, Sizes{2});  // column 3
  EXPECT_EQ(facts_of(floats(storage, {3, 2}, {4, 2}, 1)).census.non_finite(), 2);
}

TEST(Survey, CountsAnExpandedElementAsOftenAsItIsThere) {
  const SurveyedTensor facts = facts_of(floats(storage_of(twelve()), {5, 7}, {0, 0}, 5));
  EXPECT_EQ(facts.census.nan, 35);
  EXPECT_EQ(facts.census.elements, 35);
}

TEST(Survey, LeavesOutWhatOverlapsItself) {
  const SurveyedTensor facts = facts_of(floats(storage_of(twelve()), {5, 5}, {1, 1}));
  EXPECT_TRUE(facts.left_out.has_value());
}

TEST(Survey, IsTheSameWithAnyNumberOfThreads) {
  std::vector<float> many(9'000'001, 1.5F);
  many[8'000'000] = std::numeric_limits<float>::infinity();
  many[8'999'999] = std::numeric_limits<float>::quiet_NaN();
  const StoredTensor tensor = floats(storage_of(many), {9'000'001}, {1});
  for (const unsigned threads : {1U, 2U, 7U}) {
    const SurveyedTensor facts = facts_of(tensor, threads);
    EXPECT_EQ(facts.census.elements, 9'000'001);
    EXPECT_EQ(facts.census.non_finite(), 2);
    EXPECT_EQ(facts.bad_index, Sizes{8'000'000});
  }
}

TEST(Survey, ReadsWhatIsTheSameOnce) {
  const BytesPtr storage = storage_of(twelve());
  const StoredTensor a = floats(storage, {12}, {1});
  const StoredTensor b = floats(storage, {12}, {1});
  const StoredTensor* const both[] = {&a, &b};
  const Survey seen = survey(both, {.threads = 1, .progress = {}});
  EXPECT_EQ(seen.bytes, 48U);
  EXPECT_EQ(seen.facts[1].census.nan, 1);
}

// A thousand views of one storage, each from another place: not all of them are looked at.
TEST(Survey, IsNotKeptBusyByOneStorage) {
  const BytesPtr storage = storage_of(std::vector<float>(1 << 20, 1.0F));
  std::vector<StoredTensor> views;
  for (std::uint64_t i = 0; i < 1000; ++i)
    views.push_back(floats(storage, {(1 << 20) - 1000}, {1}, i));
  std::vector<const StoredTensor*> all;
  for (const StoredTensor& view : views) all.push_back(&view);
  const Survey seen = survey(all, {.threads = 1, .progress = {}});
  EXPECT_FALSE(seen.facts[0].left_out.has_value());
  EXPECT_TRUE(seen.facts[999].left_out.has_value());
  EXPECT_LT(seen.bytes, std::uint64_t{100} * 4 << 20);
}

TEST(Survey, SwapsTheOtherByteOrder) {
  StoredTensor tensor = floats(in_memory(std::string("\x7f\xc0\0\0\x3f\x80\0\0", 8)), {2}, {1});
  tensor.type.big_endian = true;
  const SurveyedTensor facts = facts_of(tensor);
  EXPECT_EQ(facts.census.nan, 1);
  EXPECT_EQ(facts.census.most, 1);
}

TEST(PlaceProblem, RefusesWhatLiesOutside) {
  const BytesPtr storage = storage_of(twelve());
  EXPECT_TRUE(place_problem(floats(storage, {13}, {1})).has_value());
  EXPECT_TRUE(place_problem(floats(storage, {12}, {1}, 1)).has_value());
  EXPECT_TRUE(place_problem(floats(storage, {2}, {12})).has_value());
  EXPECT_TRUE(place_problem(floats(storage, {-1}, {1})).has_value());
  EXPECT_TRUE(place_problem(floats(storage, {2}, {-1}, 4)).has_value());
  EXPECT_TRUE(place_problem(floats(storage, {INT64_MAX, INT64_MAX}, {1, 1})).has_value());
  EXPECT_TRUE(place_problem(floats(storage, {INT64_MAX, 2, 2}, {0, 0, 0})).has_value());
  EXPECT_TRUE(place_problem(floats(storage, Sizes(65, 1), Sizes(65, 1))).has_value());
  EXPECT_FALSE(place_problem(floats(storage, {0, 100}, {1, 1})).has_value());
  EXPECT_FALSE(place_problem(floats(storage, {}, {}, 11)).has_value());
}

TEST(Contents, NamesGoByWhatThePickleWeighs) {
  Contents contents;
  contents.keep_names_below(1000);
  EXPECT_TRUE(contents.leave_out(std::string(4 << 20, 'a'), "why"));
  EXPECT_FALSE(contents.leave_out(std::string(1 << 20, 'a'), "why"));
  contents.keep_names_below(UINT64_MAX);
  EXPECT_EQ(contents.longest_names, kLongestNames);
}

}  // namespace
}  // namespace nanscope::checkpoint
