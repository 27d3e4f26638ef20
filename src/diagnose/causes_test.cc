// Page, id and rule belong together: none of the three without the others.

#include "diagnose/causes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

namespace nanscope {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = NANSCOPE_SOURCE_DIR;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The rules: everything in src/diagnose but the tests and the list of causes.
std::string rules() {
  std::string all;
  for (const fs::directory_entry& entry : fs::directory_iterator(kRoot / "src" / "diagnose")) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".cc") && !name.ends_with("_test.cc") && name != "causes.cc")
      all += text_of(entry.path());
  }
  // Warnings before the fact are measured in the adapter.
  return all + text_of(kRoot / "adapters" / "torch" / "program" / "forewarn.cc");
}

TEST(Causes, EveryIdHasARuleAndAPage) {
  const std::string all_rules = rules();
  for (const CauseInfo& cause : all_causes()) {
    const std::string id(cause.id);
    EXPECT_NE(all_rules.find("\"" + id + "\""), std::string::npos) << id << " has no rule";
    EXPECT_TRUE(page_of(id).starts_with("# " + id + "\n")) << id;
    EXPECT_EQ(text_of(kRoot / "docs" / "causes" / (id + ".md")), page_of(id)) << id;
  }
}

TEST(Causes, EveryPageHasAnIdAndItsParts) {
  std::size_t pages = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(kRoot / "docs" / "causes")) {
    const std::string id = entry.path().stem();
    const CauseInfo* cause = find_cause(id);
    ASSERT_NE(cause, nullptr) << id << " is no cause";
    ++pages;
    const std::string text = text_of(entry.path());
    for (const char* part :
         {"## Symptom\n", "## Mechanism\n", "## Proof\n", "## Fixes, best first\n1. ",
          "## Example\n\n    ", "## Innocent look-alikes\n- "})
      EXPECT_NE(text.find(part), std::string::npos) << id << ": " << part;
    EXPECT_NE(text.find(std::string(cause->summary)), std::string::npos) << id;
    EXPECT_NE(text.find("To blame: " + std::string(cause->to_blame)), std::string::npos) << id;
  }
  EXPECT_EQ(pages, all_causes().size());
}

TEST(Causes, NoRuleNamesAnIdThatIsNotListed) {
  const std::string all = rules();
  std::set<std::string> named;
  // A rule's text constants, at the start of a line, are ids.
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("constexpr const char* k") || !line.ends_with("\";")) continue;
    const std::size_t begin = line.find('"') + 1;
    named.insert(line.substr(begin, line.rfind('"') - begin));
  }
  EXPECT_GE(named.size(), 10u);
  for (const std::string& id : named) EXPECT_NE(find_cause(id), nullptr) << id;
}

}  // namespace
}  // namespace nanscope
