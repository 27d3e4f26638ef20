// A collective about to run: Note [Collectives have a far side].
#pragma once

#include "adapters/torch/interpose/trampoline.h"
#include "adapters/torch/interpose/wrapper.h"
#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/threads.h"

namespace nanscope::torch_adapter {

// This thread belongs to a backend of torch.distributed: what it computes in buffers of its own is
// a part of the collective that it carries out. Code of the program that it calls back is not.
[[nodiscard]] inline bool works_for_collectives(const ThreadWatch& thread) noexcept {
  return __builtin_expect(thread.is_of_backend(), 0) && !is_known_to_python();
}

// A collective fills memory, its own too, with what other ranks sent, after it has returned and
// between two ops of a thread that Python does not know (gloo's). What is seen of such memory says
// nothing of what is there later.
[[nodiscard]] inline bool is_inside_collective(const Call& call) noexcept {
  for (const Call* outer = call.outer; outer != nullptr; outer = outer->outer) {
    if (static_cast<const Wrapper*>(outer->wrapper)->collective) return true;
  }
  return false;
}

// Looks at what this rank gives into it, tells the other ranks if that is bad, and notes what the
// call will write. Takes the GIL only if something is bad.
void collective_begins(const Wrapper& wrapper, const Call& call);

}  // namespace nanscope::torch_adapter
