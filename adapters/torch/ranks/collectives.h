// A collective about to run: Note [Collectives have a far side].
#pragma once

#include "adapters/torch/interpose/trampoline.h"
#include "adapters/torch/interpose/wrapper.h"

namespace nanscope::torch_adapter {

// This thread belongs to a backend of torch.distributed: what it computes in buffers of its own is
// a part of the collective that it carries out. Code of the program that it calls back is not.
[[nodiscard]] bool works_for_collectives() noexcept;

// Looks at what this rank gives into it, tells the other ranks if that is bad, and notes what the
// call will write. Takes the GIL only if something is bad.
void collective_begins(const Wrapper& wrapper, const Call& call);

}  // namespace nanscope::torch_adapter
