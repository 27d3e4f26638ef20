// all_masked_softmax: softmax over a row of only -inf. The row's maximum is -inf, and
// -inf - (-inf) is nan.
//
// The proof needs no look at the row: a row whose maximum is finite gives finite
// weights, so a nan without nan or +inf in the input means that all of it was -inf. A row with
// +inf is inf_minus_inf.

#include <fmt/format.h>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

constexpr const char* kAllMaskedSoftmax = "all_masked_softmax";

void attention(const Facts& facts, Opinions& opinions) {
  const auto mask = facts.operand("attn_mask", 3, "the attention mask");
  if (!facts.is_nan() || !mask || !mask->tensor || mask->tensor->statistics.neg_inf == 0) return;
  opinions.push_back({Opinion::Stand::kLikely,
                      kAllMaskedSoftmax,
                      fmt::format("{} holds {} -inf; a query that may look nowhere gives nan.",
                                  mask->name, grouped(mask->tensor->statistics.neg_inf)),
                      {}});
}

}  // namespace

void softmax(const Facts& facts, Opinions& opinions) {
  if (facts.op_is(OpFamily::kAttention)) return attention(facts, opinions);
  const auto x = facts.operand("self", 0, "the input");
  if (!facts.op_is(OpFamily::kSoftmax) || !x || !x->tensor) return;

  const Statistics& all = x->tensor->statistics;
  const Statistics row = x->tensor->feeding.value_or(all);
  const bool row_known = x->tensor->feeding.has_value();
  const bool masked_row = row_known && row.numel > 0 && row.neg_inf == row.numel;
  const bool by_exclusion = facts.is_nan() && row.neg_inf > 0 && row.pos_inf == 0 && row.nan == 0;
  if (facts.is_nan() && row.pos_inf > 0 && row.nan == 0) {
    opinions.push_back(
        {row_known ? Opinion::Stand::kCertain : Opinion::Stand::kLikely,
         "inf_minus_inf",
         fmt::format("{} holds inf: softmax takes the largest of a row from all of it, and "
                     "inf - inf is nan. What is to be left out is -inf.",
                     x->name),
         {fmt::format("{} of the {} of {} are inf", grouped(all.pos_inf),
                      plural(all.numel, "element"), x->name)}});
  }
  if (!masked_row && !by_exclusion) {
    opinions.push_back({Opinion::Stand::kRuledOut,
                        kAllMaskedSoftmax,
                        row.pos_inf > 0 ? fmt::format("{} holds inf, and inf - inf is nan", x->name)
                        : row.nan > 0   ? fmt::format("{} holds nan itself", x->name)
                        : row.neg_inf > 0
                            ? fmt::format("only {} of the row's {} are -inf", grouped(row.neg_inf),
                                          plural(row.numel, "element"))
                            : fmt::format("{} holds no -inf", x->name),
                        {}});
    return;
  }
  std::vector<std::string> evidence{fmt::format("{} of the {} of {} are -inf", grouped(all.neg_inf),
                                                plural(all.numel, "element"), x->name)};
  if (row_known)
    evidence.push_back(
        fmt::format("all {} of the failing row are -inf", plural(row.numel, "element")));
  else
    evidence.push_back(fmt::format(
        "{} holds neither nan nor inf, so a nan can only come from a row of -inf", x->name));
  if (facts.origin().nan > 0)
    evidence.push_back(fmt::format("the result holds {} nan", grouped(facts.origin().nan)));
  opinions.push_back(
      {Opinion::Stand::kCertain,
       kAllMaskedSoftmax,
       fmt::format(
           "The row of {}{} is -inf in every place: softmax has nothing to choose from, and "
           "-inf - (-inf) is nan.",
           x->name, facts.at()),
       evidence,
       {"where_gradient_leak"},
       x->argument});
}

}  // namespace nanscope::diagnosis
