#include "report/journey.h"

#include <gtest/gtest.h>

namespace nanscope::report {
namespace {

Link link(const char* op, int line, Role role) {
  Link made;
  made.op = op;
  made.site.file = "train.py";
  made.site.line = line;
  made.role = role;
  return made;
}

// The words that the lines begin with.
std::string roles(const Finding& finding) {
  std::string all;
  for (const std::string& line : journey(finding, false, 100, Paint(false))) {
    const std::size_t begin = line.find_first_not_of(' ');
    all += (all.empty() ? "" : " ") + line.substr(begin, line.find(' ', begin) - begin);
  }
  return all;
}

Finding born_at(int line) {
  Finding finding;
  finding.origin.op = "aten::sub";
  finding.origin.site.file = "train.py";
  finding.origin.site.line = line;
  finding.harm.emplace();
  return finding;
}

TEST(Journey, AMaskBeforeTheBirthIsNoBirth) {
  Finding finding = born_at(12);
  finding.chain = {link("aten::full", 11, Role::kDeclared), link("aten::sub", 12, Role::kBirth),
                   link("aten::exp", 13, Role::kCarrier), link("", 14, Role::kHarm)};
  EXPECT_EQ(roles(finding), "declared birth carrier harm");
}

TEST(Journey, TheOriginIsCalledByItsKind) {
  Finding finding = born_at(12);
  finding.origin.kind = OriginKind::kUninitialised;
  finding.chain = {link("aten::sub", 12, Role::kCarrier), link("", 14, Role::kHarm)};
  EXPECT_EQ(roles(finding), "uninitialised harm");
}

TEST(Journey, AMisuseIsABirthThoughItCarriesANan) {
  Finding finding = born_at(12);
  finding.chain = {link("aten::full", 11, Role::kDeclared), link("aten::sub", 12, Role::kCarrier),
                   link("", 14, Role::kHarm)};
  EXPECT_EQ(roles(finding), "declared birth harm");
}

// A capture whose chain names its origin otherwise.
TEST(Journey, WhereNoLinkIsTheOriginTheFirstIs) {
  Finding finding = born_at(12);
  finding.chain = {link("aten::add", 5, Role::kCarrier), link("", 14, Role::kHarm)};
  EXPECT_EQ(roles(finding), "birth harm");
}

TEST(Journey, ADeepPathHasALineOfItsOwn) {
  Finding finding = born_at(12);
  const std::string file = "src/models/transformers/pretraining/train.py";
  finding.origin.site.file = file;
  finding.chain = {link("aten::sub", 12, Role::kBirth), link("", 14, Role::kHarm)};
  for (Link& link : finding.chain) link.site.file = file;
  EXPECT_EQ(
      journey(finding, false, 60, Paint(false)),
      (std::vector<std::string>{"birth  aten::sub", "       " + file + ":12",
                                "harm   a gradient is not finite", "       " + file + ":14"}));
  EXPECT_EQ(journey(finding, false, 100, Paint(false)).size(), 2u);
}

}  // namespace
}  // namespace nanscope::report
