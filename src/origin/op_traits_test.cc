#include "origin/op_traits.h"

#include <gtest/gtest.h>

namespace nanscope {
namespace {

TEST(OpTraits, FamiliesAreMarked) {
  EXPECT_TRUE(traits_of("empty_strided").allocates);
  EXPECT_TRUE(traits_of("log_normal_").overwrites);
  EXPECT_TRUE(traits_of("lift_fresh").lifts);
  EXPECT_TRUE(traits_of("masked_fill_").fills);
  EXPECT_TRUE(traits_of("isneginf").tests);
  EXPECT_TRUE(traits_of("ne").compares);
  EXPECT_TRUE(traits_of("lt").orders);
  EXPECT_TRUE(traits_of("_index_put_impl_").deliberate);
  EXPECT_TRUE(traits_of("div_").absorbs);
  EXPECT_TRUE(traits_of("special_xlog1py").is_log);
  EXPECT_TRUE(traits_of("_to_copy").looks_through);
  EXPECT_TRUE(traits_of("_local_scalar_dense").reads_host);
  EXPECT_TRUE(traits_of("zero_").zeroes);
  EXPECT_TRUE(traits_of("_amp_foreach_non_finite_check_and_unscale_").amp_check);
  EXPECT_TRUE(traits_of("slice").views);
}

TEST(OpTraits, AnOpMayBeSeveralThings) {
  const OpTraits copy = traits_of("copy_");
  EXPECT_TRUE(copy.overwrites && copy.deliberate && copy.looks_through);
  EXPECT_FALSE(copy.views);
  const OpTraits where = traits_of("where");
  EXPECT_TRUE(where.fills && where.deliberate);
}

TEST(OpTraits, EverythingElseIsPlainArithmetic) {
  for (const char* name :
       {"", "add", "softmax", "logsumexp", "mask", "isnan_", "div div_", "exp"}) {
    const OpTraits traits = traits_of(name);
    EXPECT_FALSE(traits.allocates || traits.overwrites || traits.lifts || traits.fills ||
                 traits.tests || traits.compares || traits.orders || traits.deliberate ||
                 traits.absorbs || traits.is_log || traits.looks_through || traits.reads_host ||
                 traits.zeroes || traits.amp_check || traits.views)
        << name;
  }
}

}  // namespace
}  // namespace nanscope
