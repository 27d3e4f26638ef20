#include "report/unicode.h"

#include <gtest/gtest.h>

#include "report/excerpt.h"

namespace nanscope::report {
namespace {

TEST(Unicode, ControlCharactersAreShownNotSent) {
  EXPECT_EQ(safe("a\x1b[31mb"), "a\u241b[31mb");
  EXPECT_EQ(safe("a\tb\nc\r"), "a b c ");
  EXPECT_EQ(safe(std::string_view("\0\x7f", 2)), "\u2400\u2421");
  EXPECT_EQ(safe("\u009b31m"), "\ufffd31m");  // an escape of one character
  EXPECT_EQ(safe("x\u202ey"), "x\ufffdy");    // turns the text that follows
  EXPECT_EQ(safe("caf\xe9"), "caf\ufffd");
}

TEST(Unicode, Columns) {
  EXPECT_EQ(columns_of("abc"), 3u);
  EXPECT_EQ(columns_of("gr\u00fc\u00df"), 4u);
  EXPECT_EQ(columns_of("\u640d\u5931"), 4u);  // wide
  EXPECT_EQ(columns_of("e\u0301"), 1u);       // combining
  EXPECT_EQ(columns_of("\U0001F525"), 2u);    // a picture
}

TEST(Unicode, CutAndPad) {
  EXPECT_EQ(cut("abcdef", 6), "abcdef");
  EXPECT_EQ(cut("abcdefg", 6), "abc...");
  EXPECT_EQ(cut_front("src/deep/train.py", 11), "...train.py");
  EXPECT_EQ(cut("\u640d\u5931\u640d\u5931", 6), "\u640d...");
  EXPECT_EQ(padded("\u640d", 4), "\u640d  ");
  EXPECT_EQ(padded("7", 3, Align::kRight), "  7");
}

TEST(Unicode, Wraps) {
  EXPECT_EQ(wrapped("one two three", 8), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("abcdefghijkl", 8), (std::vector<std::string>{"abcdefgh", "ijkl"}));
  EXPECT_EQ(wrapped("", 8), std::vector<std::string>{""});
}

TEST(Unicode, APlaceIsNeverBroken) {
  EXPECT_EQ(wrapped("in src/deep/train.py:9, a", 8),
            (std::vector<std::string>{"in", "src/deep/train.py:9,", "a"}));
  EXPECT_EQ(wrapped("src/deep/train.py:9:12", 8),
            std::vector<std::string>{"src/deep/train.py:9:12"});
  // Nothing in a text says where a path with blanks begins: who knows it, lists it.
  EXPECT_EQ(wrapped("in my code/train.py:9 in f", 10, {"my code/train.py:9"}),
            (std::vector<std::string>{"in", "my code/train.py:9", "in f"}));
  EXPECT_EQ(wrapped("abcdefghij:kl", 8), (std::vector<std::string>{"abcdefgh", "ij:kl"}));
}

Site at(std::vector<std::string> source, int col, int end_col) {
  Site site;
  site.line = 9;
  site.end_line = 8 + static_cast<int>(source.size());
  site.col = col;
  site.end_col = end_col;
  site.source = std::move(source);
  return site;
}

using Lines = std::vector<std::string>;

Lines plain(const Site& site, std::size_t columns = 60) {
  return excerpt(site, columns, Paint(false));
}

TEST(Excerpt, UnderlinesTheExpression) {
  EXPECT_EQ(plain(at({"x = log(p)"}, 4, 10)), (Lines{" 9 | x = log(p)", "   |     ^^^^^^"}));
}

TEST(Excerpt, TabsAndWideCharactersKeepTheCaretsInPlace) {
  EXPECT_EQ(plain(at({"\tx = log(p)"}, 5, 11)),
            (Lines{" 9 |     x = log(p)", "   |         ^^^^^^"}));
  EXPECT_EQ(plain(at({"\u640d\u5931 = log(p)"}, 5, 11)),
            (Lines{" 9 | \u640d\u5931 = log(p)", "   |        ^^^^^^"}));
  EXPECT_EQ(plain(at({"x = f(\u640d)"}, 4, 8)), (Lines{" 9 | x = f(\u640d)", "   |     ^^^^^"}));
}

TEST(Excerpt, SeveralLines) {
  EXPECT_EQ(plain(at({"y = f(", "    a,", ")  # done"}, 4, 1)),
            (Lines{" 9 | y = f(", "   |     ^^", "10 |     a,", "   |     ^^", "11 | )  # done",
                   "   | ^"}));
  const Lines many = plain(at(Lines(20, "a +"), 0, 3));
  EXPECT_EQ(many.size(), 5u * 2 + 1 + 2 * 2);
  EXPECT_EQ(many[10], "   | ...");
}

TEST(Excerpt, LongLinesAreCutAroundTheExpression) {
  const std::string line = std::string(200, 'a') + " log(p) " + std::string(200, 'b');
  const Lines lines = plain(at({line}, 201, 207), 60);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_LE(columns_of(lines[0]), 60u);
  EXPECT_NE(lines[0].find("log(p)"), std::string::npos);
  EXPECT_EQ(lines[0].find("log(p)"), lines[1].find("^^^^^^"));
  EXPECT_TRUE(lines[0].ends_with("..."));
  // An expression longer than the line.
  const Lines wide = plain(at({"x = " + std::string(300, 'f')}, 4, 304), 60);
  EXPECT_LE(columns_of(wide[0]), 60u);
  EXPECT_LE(columns_of(wide[1]), 60u);
}

TEST(Excerpt, WithoutColumnsOrSource) {
  EXPECT_EQ(plain(at({"x = log(p)"}, 0, 0)), Lines{" 9 | x = log(p)"});
  Site site = at({}, 0, 0);
  EXPECT_TRUE(plain(site).empty());
  site.code = "log(p)";
  EXPECT_EQ(plain(site), Lines{" 9 | log(p)"});
}

TEST(Excerpt, NonsenseColumnsDoNoHarm) {
  EXPECT_EQ(plain(at({"x"}, 5000, 6000)), Lines{" 9 | x"});
  EXPECT_EQ(plain(at({"x"}, -5, 1)), Lines{" 9 | x"});
  EXPECT_EQ(plain(at({"x", "y"}, 0, -7)), (Lines{" 9 | x", "   | ^", "10 | y"}));
  Site site = at({"x", "y"}, 0, 1);
  site.line = 1 << 30;
  site.end_line = -1;
  EXPECT_EQ(plain(site).size(), 2u);
}

}  // namespace
}  // namespace nanscope::report
