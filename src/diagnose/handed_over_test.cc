#include "diagnose/handed_over.h"

#include <gtest/gtest.h>

#include "diagnose/catalogue.h"

namespace nanscope::diagnosis {
namespace {

TEST(HandedOver, ItIsToldWhoHadItAndHowSureThatIs) {
  EXPECT_EQ(handed_text({41, std::nullopt, true}),
            "process 41 handed it over: the tensor read here is bad at the same elements");
  EXPECT_EQ(handed_text({41, 3, false}),
            "worker 3 of a data loader (pid 41) handed over such a value before; which tensor it "
            "was is not known");
}

TEST(HandedOver, ItIsTheLastOfTheEvidence) {
  Finding finding;
  finding.origin.kind = OriginKind::kImported;
  finding.origin.op = "aten::mul";
  finding.arrival = {"it was read from a file"};
  finding.handed_by = HandedOver{41, std::nullopt, true};
  const std::vector<std::string> evidence = diagnose(finding).evidence;
  ASSERT_GE(evidence.size(), 2U);
  EXPECT_EQ(evidence[evidence.size() - 2], finding.arrival[0]);
  EXPECT_EQ(evidence.back(), handed_text(*finding.handed_by));
}

}  // namespace
}  // namespace nanscope::diagnosis
