// The usual call of a small step, looked at in a few instructions.
//
// Note [The quick look]
// Most calls of a small training step give one small result that is finite, of operands that
// watched ops made, while nothing bad is known at all. `looks_well` recognises those and does all
// that look_at_results (calls.cc) would: it scans the result, marks its memory and counts the
// bytes. Where anything is otherwise it says no, has changed nothing, and the careful look follows.
// So it may refuse what it likes; what it accepts must be what the careful look finds nothing in.
// Which ops can be looked at so is known when they are wrapped (learn_quick_look).
#pragma once

#include "adapters/torch/watch/before.h"
#include "adapters/torch/watch/threads.h"

namespace nanscope::torch_adapter {

// Once all else is known of the op.
void learn_quick_look(Wrapper& wrapper);

// A result of so few bytes is scanned whatever is proved of it: a look costs less than a proof.
constexpr std::size_t kSmallResult = 4 << 10;

[[nodiscard]] bool looks_well(const Wrapper& wrapper, const Call& call, void* result,
                              const Before* before, ThreadWatch& thread);

}  // namespace nanscope::torch_adapter
