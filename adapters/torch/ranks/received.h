// What a collective brought: which one, and who gave it. Note [Collectives have a far side].
#pragma once

#include "origin/verdict.h"
#include "origin/world.h"
#include "records/finding.h"

namespace nanscope::torch_adapter {

// This rank is not watched any more; takes the GIL.
void tell_ranks_of_leaving() noexcept;

// The receipt of memory that a collective wrote; without the GIL, which is taken to ask.
[[nodiscard]] std::optional<World::Receipt> receipt_of(const TensorState& state);

// Which collective brought the origin, who gave it, and what those say; what this rank gave on.
void tell_of_ranks(const EventView& origin, Finding& finding);

}  // namespace nanscope::torch_adapter
