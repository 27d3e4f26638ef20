// half_overflow: the result does not fit float16, though it would fit float32.
// eight_bit_overflow: the same of a float8 kind. Most of them have no Inf and give NaN.
// float_overflow: it exceeds the largest float32 or float64.
//
// Two proofs. By value: the exact result, recorded or computed here from the operands
// at the failing element, is larger than the type holds. By exclusion: sums and products
// have no poles, so from finite inputs they can only leave the range by overflow.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

// The op at the failing element, in float64, for those ops that are one line of arithmetic.
std::optional<double> computed(const Facts& facts) {
  const auto self = facts.operand("self", 0, "");
  const auto a = self ? self->value() : std::nullopt;
  if (!a) return std::nullopt;
  if (facts.op_is(OpFamily::kKeepsSize)) return *a;
  if (facts.op() == "square") return *a * *a;
  if (facts.op() == "exp") return std::exp(*a);
  if (facts.op() == "reciprocal" && *a != 0) return 1 / *a;
  const auto other = facts.operand(facts.op() == "copy"  ? "src"
                                   : facts.op() == "pow" ? "exponent"
                                                         : "other",
                                   1, "");
  const auto b = other ? other->value() : std::nullopt;
  if (!b) return std::nullopt;
  const double alpha = facts.scalar("alpha").value_or(1);
  if (facts.op() == "copy") return *b;
  if (facts.op() == "add") return *a + alpha * *b;
  if (facts.op() == "sub") return *a - alpha * *b;
  if (facts.op() == "mul") return *a * *b;
  if (facts.op_is(OpFamily::kTrueDivision) && *b != 0) return *a / *b;
  if (facts.op() == "pow" && *a > 0) return std::pow(*a, *b);
  return std::nullopt;
}

std::optional<double> exact_result(const Facts& facts) {
  const std::optional<Value>& recorded = facts.finding().exact;
  if (recorded && !recorded->is_complex) return recorded->real;
  return computed(facts);
}

// "`a` + `b` is 40000 + 40000": the operands at the failing element.
std::string operands_here(const Facts& facts) {
  std::vector<std::string> parts;
  for (const Operand& operand : facts.tensors())
    if (!operand.values.empty())
      parts.push_back(fmt::format("{} is {}", operand.name, number(operand.values[0])));
  return parts.empty() ? std::string() : joined(parts, ", ") + facts.at();
}

struct Range {
  DType dtype;
  double largest = largest_of(dtype);
  bool half = dtype == DType::kFloat16 || dtype == DType::kComplex32;
  bool narrow = half || is_float8(dtype);

  [[nodiscard]] const char* cause() const {
    return half ? "half_overflow" : narrow ? "eight_bit_overflow" : "float_overflow";
  }
};

// The cast of an Inf to a type that has none.
std::optional<Operand> lost_infinity(const Facts& facts, const Range& range) {
  if (has_infinity(range.dtype) || !facts.op_is(OpFamily::kCast)) return std::nullopt;
  const bool copies = facts.op() == "copy";
  auto source = facts.operand(copies ? "src" : "self", copies ? 1 : 0, "the value that is cast");
  const auto value = source ? source->value() : std::nullopt;
  return value && std::isinf(*value) ? source : std::nullopt;
}

// addcmul adds value * tensor1 * tensor2 to what it overwrites: the product alone is too large.
std::optional<double> product_too_large(const Facts& facts, const Range& range) {
  const auto a = facts.operand("tensor1", 1, "");
  const auto b = facts.operand("tensor2", 2, "");
  if (facts.op() != "addcmul" || !a || !b || !a->value() || !b->value()) return std::nullopt;
  const double product = facts.scalar("value").value_or(1) * *a->value() * *b->value();
  if (!std::isfinite(product) || std::abs(product) <= range.largest) return std::nullopt;
  return product;
}

// An optimizer that keeps squares of gradients multiplies one by itself.
std::string product_here(const Facts& facts) {
  const auto a = facts.operand("tensor1", 1, "");
  const auto b = facts.operand("tensor2", 2, "");
  const bool squares = facts.origin().phase == Phase::kOptimizer && a->value() == b->value();
  return squares ? fmt::format("the square of a gradient of {}, which is", number(*a->value()))
                 : "a product that is";
}

// What overflowed: the expression, or in backward a gradient of it.
std::string what(const Facts& facts) {
  const bool gradient =
      facts.origin().phase == Phase::kBackward && !facts.origin().in_backward_code;
  return (gradient ? "A gradient of " : "") + facts.expression();
}

std::string by_value(const Facts& facts, const Range& range, double exact) {
  return fmt::format("{} is {}{}, and {} ends at {}.", what(facts), number(exact), facts.at(),
                     name_of(range.dtype), number(range.largest));
}

std::string by_exclusion(const Facts& facts, const Range& range) {
  return fmt::format(
      "{} adds and multiplies finite numbers; {}the result left the range of {}, which ends at {}.",
      what(facts),
      facts.is_nan() && has_infinity(range.dtype) ? "partial sums became inf and -inf, because "
                                                  : "",
      name_of(range.dtype), number(range.largest));
}

// Batch, layer and group norms take the mean of squares: those leave the range long before the
// values do. What they overwrite on the way (running statistics) says nothing about what went in.
bool squares_too_large(const Facts& facts, const Range& range, Opinions& opinions) {
  if (!facts.op_is(OpFamily::kCentred) || facts.op_is(OpFamily::kSpread)) return false;
  const auto x = facts.operand("input", 0, "what it normalises");
  if (!x || !x->tensor) return false;
  const Statistics& s = x->tensor->statistics;
  if (s.nan + s.pos_inf + s.neg_inf > 0 || !s.min || !s.max) return false;
  const double widest = largest_of(range.narrow ? DType::kFloat32 : range.dtype);
  const double size = std::max(std::abs(*s.min), std::abs(*s.max));
  if (size * size <= widest) return false;
  opinions.push_back(
      {Opinion::Stand::kCertain,
       "float_overflow",
       fmt::format("{} goes up to {}, and {} takes the mean of its squares: {} is beyond {}.",
                   x->name, number(size), facts.expression(), number(size * size), number(widest)),
       {finite_range(*x)}});
  return true;
}

// Sums of products of what went in can come so far at all: not the mean of nothing, or of what is
// small. Of prod and its like the number of factors decides.
bool can_leave(const Facts& facts, const Range& range) {
  if (facts.op() == "prod" || facts.op() == "cumprod") return true;
  double largest = 1;
  double elements = 1;
  for (const Operand& operand : facts.tensors()) {
    const Statistics& s = operand.tensor->statistics;
    for (const auto& end : {s.min, s.max})
      if (end) largest = std::max(largest, std::abs(*end));
    elements = std::max(elements, static_cast<double>(s.numel));
  }
  for (const ScalarFact& scalar : facts.finding().scalars)
    largest = std::max(largest, std::abs(facts.scalar(scalar.name).value_or(0)));
  const auto factors = static_cast<double>(facts.tensors().size()) + 1;
  return elements * std::pow(largest, factors) > range.largest;
}

void rule_out(Opinions& opinions, const Range& range, const std::string& why) {
  opinions.push_back({Opinion::Stand::kRuledOut, range.cause(), why, {}});
}

// What goes into the result is beyond the type: an inf that it does not have, a product, a square.
bool part_too_large(const Facts& facts, const Range& range, Opinions& opinions) {
  if (const std::optional<Operand> infinite = lost_infinity(facts, range)) {
    opinions.push_back(
        {Opinion::Stand::kCertain,
         range.cause(),
         fmt::format("{} is {}{}, and {} has no inf: it becomes nan.", infinite->name,
                     number(*infinite->value()), facts.at(), name_of(range.dtype)),
         {values_here(facts, *infinite)}});
    return true;
  }
  if (const std::optional<double> product = product_too_large(facts, range)) {
    opinions.push_back(
        {Opinion::Stand::kCertain,
         range.cause(),
         fmt::format("{} adds {} {}{}, and {} ends at {}.", what(facts), product_here(facts),
                     number(*product), facts.at(), name_of(range.dtype), number(range.largest)),
         {operands_here(facts)}});
    return true;
  }
  return squares_too_large(facts, range, opinions);
}

}  // namespace

void overflow(const Facts& facts, Opinions& opinions) {
  const std::optional<DType> dtype = facts.output_dtype();
  if (!dtype) return;
  const Range range{*dtype};
  if (part_too_large(facts, range, opinions)) return;
  if (!facts.inputs_finite()) {
    if (range.narrow && !facts.finding().inputs.empty())
      rule_out(opinions, range, "an input is not finite itself where the result is bad");
    return;
  }
  std::vector<std::string> evidence{operands_here(facts)};
  for (const Operand& operand : facts.tensors()) evidence.push_back(finite_range(operand));
  if (!has_infinity(range.dtype))
    evidence.push_back(fmt::format("{} has no inf: what is beyond its largest number becomes nan",
                                   name_of(range.dtype)));

  if (const std::optional<double> exact = exact_result(facts)) {
    const bool fits = std::abs(*exact) <= range.largest;
    if (fits || !std::isfinite(*exact)) {
      if (facts.op_is(OpFamily::kHasNoPole) && can_leave(facts, range))  // a sum on the way did
        opinions.push_back(
            {Opinion::Stand::kCertain, range.cause(), by_exclusion(facts, range), evidence});
      else if (range.narrow)
        rule_out(opinions, range,
                 fits ? fmt::format("the exact result, {}, fits", number(*exact))
                      : fmt::format("in float64 it is {} too", number(*exact)));
      return;
    }
    if (range.narrow && facts.finding().recomputed.empty())
      evidence.push_back(
          fmt::format("float32 holds {}, {} does not", number(*exact), name_of(range.dtype)));
    const bool fits_float = std::abs(*exact) <= largest_of(DType::kFloat32);
    opinions.push_back({Opinion::Stand::kCertain, fits_float ? range.cause() : "float_overflow",
                        by_value(facts, range, *exact), evidence});
  } else if (facts.op_is(OpFamily::kHasNoPole) && can_leave(facts, range)) {
    opinions.push_back(
        {Opinion::Stand::kCertain, range.cause(), by_exclusion(facts, range), evidence});
  } else if (range.narrow && facts.is_nan() != has_infinity(range.dtype) &&
             !facts.op_is(OpFamily::kHasPole)) {
    opinions.push_back({Opinion::Stand::kLikely, range.cause(),
                        fmt::format("All inputs are finite and the result is {}, which ends at {}.",
                                    name_of(range.dtype), number(range.largest)),
                        evidence});
  }
}

}  // namespace nanscope::diagnosis
