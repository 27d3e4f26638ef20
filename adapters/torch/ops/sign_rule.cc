#include "adapters/torch/ops/sign_rule.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "adapters/torch/ops/operands.h"

namespace nanscope::torch_adapter {
namespace {

Sign never_negative(const Operands&) { return Sign::kNotNegative; }
Sign never_positive(const Operands&) { return Sign::kNotPositive; }
Sign sign_of_first(const Operands& x) { return x.sign(0); }
Sign sign_of_second(const Operands& x) { return x.sign(1); }
bool not_negative(const Operands& x, std::size_t argument) {
  const double number = x.wrapped_number(argument);
  return std::isnan(number) ? x.sign(argument) == Sign::kNotNegative : number >= 0;
}
Sign if_not_negative(bool condition) { return condition ? Sign::kNotNegative : Sign::kAny; }
Sign sign_of_sum(const Operands& x) {
  return if_not_negative(not_negative(x, 0) && not_negative(x, 1) && x.number(2) >= 0);
}
Sign sign_of_product(const Operands& x) {
  return if_not_negative(x.same(0, 1) || (not_negative(x, 0) && not_negative(x, 1)));
}
Sign sign_of_power(const Operands& x) { return if_not_negative(std::fmod(x.number(1), 2) == 0); }
Sign sign_of_sum_with_product(const Operands& x) {
  const bool product = x.same(1, 2) || (not_negative(x, 1) && not_negative(x, 2));
  return if_not_negative(not_negative(x, 0) && product && x.number(3) >= 0);
}
Sign sign_of_interpolation(const Operands& x) {
  const double weight = x.number(2);
  return if_not_negative(not_negative(x, 0) && not_negative(x, 1) && weight >= 0 && weight <= 1);
}
Sign sign_of_larger(const Operands& x) {
  return if_not_negative(not_negative(x, 0) || not_negative(x, 1));
}

const std::unordered_map<std::string_view, SignRule>& sign_rules() {
  static const auto& all = *new std::unordered_map<std::string_view, SignRule>{
      {"zeros", never_negative},
      {"zeros_like", never_negative},
      {"new_zeros", never_negative},
      {"zero_", never_negative},
      {"ones", never_negative},
      {"ones_like", never_negative},
      {"abs", never_negative},
      {"relu", never_negative},
      {"exp", never_negative},
      {"sqrt", never_negative},
      {"sqrt_", never_negative},
      {"sigmoid", never_negative},
      {"_softmax", never_negative},
      {"bernoulli_", never_negative},
      {"_log_softmax", never_positive},
      {"clone", sign_of_first},
      {"_to_copy", sign_of_first},
      {"copy_", sign_of_second},
      {"add", sign_of_sum},
      {"add_", sign_of_sum},
      {"mul", sign_of_product},
      {"mul_", sign_of_product},
      {"div", sign_of_product},
      {"div_", sign_of_product},
      {"pow", sign_of_power},
      {"addcmul", sign_of_sum_with_product},
      {"addcmul_", sign_of_sum_with_product},
      {"lerp", sign_of_interpolation},
      {"lerp_", sign_of_interpolation},
      {"maximum", sign_of_larger},
  };
  return all;
}

}  // namespace

SignRule sign_rule_of(std::string_view name, std::string_view overload) noexcept {
  static constexpr std::string_view kOverloads[] = {"", "Tensor", "Scalar", "Tensor_Scalar",
                                                    "float"};
  const auto found = sign_rules().find(name);
  if (found == sign_rules().end() ||
      std::find(std::begin(kOverloads), std::end(kOverloads), overload) == std::end(kOverloads))
    return nullptr;
  return found->second;
}

Sign proved_sign(const Wrapper& wrapper, const Call& call) {
  return call.arguments == nullptr ? Sign::kAny : wrapper.sign_rule(Operands(wrapper, call, 0));
}

}  // namespace nanscope::torch_adapter
