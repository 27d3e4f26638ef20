#include "report/patch.h"

#include <gtest/gtest.h>

#include "report/source_paths.h"

namespace nanscope::report {
namespace {

constexpr const char* kHead = "--- a/net.py\n+++ b/net.py\n";

std::vector<Replacement> of(const std::string& hunks) {
  const std::vector<FilePatch> patches = parse_patch(kHead + hunks);
  return patches.empty() ? std::vector<Replacement>{} : patches[0].replacements;
}

TEST(Patch, RunsOfChangedLines) {
  EXPECT_EQ(of("@@ -3,5 +3,6 @@ def f():\n a\n-b\n+B\n c\n-d\n+D\n+DD\n e\n@@ -9 +10,0 @@\n-z\n"),
            (std::vector<Replacement>{{4, 1, "B\n"}, {6, 1, "D\nDD\n"}, {9, 1, ""}}));
}

TEST(Patch, AnInsertionHasItsPlace) {
  EXPECT_EQ(of("@@ -0,0 +1,2 @@\n+import math\n+\n"),
            (std::vector<Replacement>{{1, 0, "import math\n\n"}}));
  EXPECT_EQ(of("@@ -2,2 +2,3 @@\n a\n+new\n b\n"), (std::vector<Replacement>{{3, 0, "new\n"}}));
}

TEST(Patch, AFileWithoutALastLineEnd) {
  EXPECT_EQ(of("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"),
            (std::vector<Replacement>{{1, 1, "b"}}));
}

TEST(Patch, SeveralFiles) {
  const auto patches = parse_patch(std::string(kHead) + "@@ -1 +1 @@\n-a\n+b\n" +
                                   "--- a/two.py\t2026\n+++ b/two.py\n@@ -5 +5 @@\n-c\n+d\n");
  ASSERT_EQ(patches.size(), 2u);
  EXPECT_EQ(patches[1].file, "two.py");
  EXPECT_EQ(patches[1].replacements[0].first, 5);
}

TEST(Patch, APartOfAPatchIsNone) {
  for (const char* broken : {"", "@@ -1 +1 @@\n-a\n", "@@ -1,2 +1 @@\n-a\n+b\n", "text\n",
                             "@@ -99999999999 +1 @@\n-a\n+b\n", "@@ -1 +1 @@\n+b\n-a\n*\n"})
    EXPECT_TRUE(of(broken).empty()) << broken;
  EXPECT_TRUE(parse_patch("@@ -1 +1 @@\n-a\n+b\n").empty());
}

TEST(SourcePaths, FromTheRepositorysRoot) {
  const SourceRoot root{"/r/p", "/r/p/sub"};
  EXPECT_EQ(repository_path("train.py", root), "sub/train.py");
  EXPECT_EQ(repository_path("../lib/a.py", root), "lib/a.py");
  EXPECT_EQ(repository_path("/r/p/b.py", root), "b.py");
  EXPECT_EQ(repository_path("/usr/lib/c.py", root), "/usr/lib/c.py");
  EXPECT_EQ(repository_path("../../x.py", root), "../../x.py");
  EXPECT_EQ(repository_path("<stdin>", root), "<stdin>");
  EXPECT_EQ(repository_path("train.py", {}), "train.py");
}

TEST(SourcePaths, AsUris) {
  EXPECT_EQ(uri_of("a b/100%.py"), "a%20b/100%25.py");
  EXPECT_EQ(uri_of("/x.py"), "file:///x.py");
  EXPECT_EQ(uri_of("m\xc3\xbcll.py"), "m%C3%BCll.py");
  EXPECT_EQ(uri_of("<stdin>"), "%3Cstdin%3E");
}

}  // namespace
}  // namespace nanscope::report
