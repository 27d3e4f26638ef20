#include "cli/option_list.h"

#include <gtest/gtest.h>

#include <tuple>

namespace nanscope::cli {
namespace {

using Words = std::vector<std::string>;

class OptionListTest : public ::testing::Test {
 protected:
  OptionListTest() {
    list.add_flag("-q,--quiet", quiet, "say less");
    list.add_flag("-f,--force", force);
    output = list.add_option("-o,--output", file, "where to")->type_name("FILE");
    list.add_option("--allow", allowed)->type_name("PATH");
  }

  OptionList list;
  bool quiet = false;
  bool force = false;
  std::string file;
  Words allowed;
  Option* output = nullptr;
};

TEST_F(OptionListTest, TakesAValueInEveryWayItIsWritten) {
  for (const Words& words : {Words{"--output", "a"}, Words{"--output=a"}, Words{"-o", "a"},
                             Words{"-oa"}, Words{"-qo", "a"}, Words{"-qoa"}}) {
    file = "before";
    EXPECT_EQ(list.parse(words), "") << words[0];
    EXPECT_EQ(file, "a") << words[0];
  }
}

TEST_F(OptionListTest, TakesFlagsAloneAndTogether) {
  EXPECT_EQ(list.parse({"-qf"}), "");
  EXPECT_TRUE(quiet && force);
}

TEST_F(OptionListTest, TakesWhatLooksLikeAnOptionAsAValue) {
  EXPECT_EQ(list.parse({"--output", "-f"}), "");
  EXPECT_EQ(file, "-f");
  EXPECT_FALSE(force);
}

TEST_F(OptionListTest, TakesAnEmptyValue) {
  file = "before";
  EXPECT_EQ(list.parse({"--output="}), "");
  EXPECT_EQ(file, "");
  EXPECT_EQ(output->count(), 1U);
}

TEST_F(OptionListTest, TakesTheLastValueOrAllOfThem) {
  EXPECT_EQ(list.parse({"-o", "a", "--allow", "b", "--output=c", "--allow=d"}), "");
  EXPECT_EQ(file, "c");
  EXPECT_EQ(output->count(), 2U);
  EXPECT_EQ(allowed, (Words{"b", "d"}));
}

TEST_F(OptionListTest, SaysWhatIsWrong) {
  using Wrong = std::tuple<Words, std::string>;
  for (const auto& [words, sentence] :
       {Wrong{{"--bogus"}, "there is no option --bogus."},
        Wrong{{"--bogus=3"}, "there is no option --bogus=3."},
        Wrong{{"-qx"}, "there is no option -x."}, Wrong{{"-o"}, "--output needs a FILE."},
        Wrong{{"--quiet=yes"}, "--quiet takes no value."},
        Wrong{{"a"}, "a is one argument too many."},
        Wrong{{"--bogus", "-o"}, "there is no option --bogus."}})
    EXPECT_EQ(list.parse(words), sentence);
}

TEST_F(OptionListTest, FillsPositionalArgumentsInOrder) {
  std::string first;
  Words others;
  list.add_option("FIRST", first)->required();
  list.add_option("OTHERS", others);
  EXPECT_EQ(list.parse({}), "FIRST is required.");
  EXPECT_EQ(list.parse({"a", "-q", "b", "--", "-f", "-"}), "");
  EXPECT_EQ(first, "a");
  EXPECT_EQ(others, (Words{"b", "-f", "-"}));
  EXPECT_FALSE(force);
}

TEST_F(OptionListTest, KnowsAnOptionByAnyOfItsNames) {
  EXPECT_EQ(list.find("-o"), output);
  EXPECT_EQ(list.find("--output"), output);
  EXPECT_EQ(list.find("output"), nullptr);
  EXPECT_EQ(output->name(), "--output");
  EXPECT_EQ(output->names(), (Words{"-o", "--output"}));
}

}  // namespace
}  // namespace nanscope::cli
