// Rule M: which results are proved finite by the size of what went in.
//
// Note [Rule M]
// The scan that asks whether a result is finite also finds its ceiling, |x| <= 2^n, and the table
// of written storages keeps it. A sum of two tensors below 2^5 and 2^9 is then below 2^10, a
// product of matrices below 2^(a + b) times the number of terms, whatever the order of the sum:
// such a result needs no scan, and its own ceiling is that bound. Bounds are loose and grow from
// op to op; the first that comes near the largest number of its type is not believed, the result
// is scanned, and what follows has an exact ceiling again.
//
// A ceiling holds for a whole storage. It is unknown for memory of somebody else (NumPy, shared
// memory), for storages the ledger knows, and for what an unwatched hand may have written; where
// no wrapper tells of that hand, three elements of each operand are asked. Rules
// hold for real types and dense layouts; they bound every number on the way too, not the result
// alone. Ops that divide by a tensor or take a logarithm have none: they are scanned. Where all
// numbers of a storage have one sign that is kept too: an optimizer's squares have roots, and the
// exponential of a log_softmax is at most one.
#pragma once

#include <string_view>

#include "adapters/torch/interpose/wrapper.h"

namespace nanscope::torch_adapter {

// `name` without namespace and overload; null if no rule is known.
[[nodiscard]] CeilingRule ceiling_rule_of(std::string_view name,
                                          std::string_view overload) noexcept;

// The ceiling of one result of this call, by its rule; kNoCeiling if it proves nothing.
[[nodiscard]] int proved_ceiling(const Wrapper& wrapper, const Call& call, int output,
                                 c10::ScalarType type);

}  // namespace nanscope::torch_adapter
