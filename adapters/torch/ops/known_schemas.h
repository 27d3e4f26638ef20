// The schemas that the rules were written for.
//
// A rule (rule V in op_table.cc, rule M in ceiling_rule.cc, sign_rule.cc) reads arguments by their
// place and believes what the op did in the version it was tried with. An op whose schema is not
// the one that was known then is scanned like any other. known_schemas.inc is written by
// scripts/known_schemas.py, once for each version of torch that was tried.
#pragma once

#include <cstdint>
#include <string_view>

namespace nanscope::torch_adapter {

[[nodiscard]] std::uint64_t hash_of_schema(std::string_view schema) noexcept;
// `op`: aten::add.Tensor
[[nodiscard]] bool is_known_schema(std::string_view op, std::string_view schema);

}  // namespace nanscope::torch_adapter
