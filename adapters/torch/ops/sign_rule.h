// Which results have one sign, by what went in: a part of Note [Rule M] in ceiling_rule.h.
#pragma once

#include <string_view>

#include "adapters/torch/interpose/wrapper.h"
#include "scan/ceiling.h"

namespace nanscope::torch_adapter {

// `name` without namespace and overload; null if no rule is known.
[[nodiscard]] SignRule sign_rule_of(std::string_view name, std::string_view overload) noexcept;

// The sign of a finite result.
[[nodiscard]] Sign proved_sign(const Wrapper& wrapper, const Call& call);

}  // namespace nanscope::torch_adapter
