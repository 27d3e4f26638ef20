// Ops of devices that are judged later: what is kept of a call, and the way back to it.
//
// Note [Ops that are put off]
// An op waits in the window (device/window.h) where nothing is lost by it, and what must be known
// at once is not. Not put off, but looked at at once, after all that waits:
//
//   - what takes something that the ledger knows, or a number that is not finite;
//   - what overwrites memory of which nobody knows what it holds, or that it reads elsewhere;
//   - what a node runs of which something was saved that cannot be kept (hit/kept_saved.h);
//   - ops of other libraries, reads of the host, views as another type;
//   - what takes or gives a tensor that cannot be kept (device/kept_call.h).
//
// What has a pole or a domain, element by element and outside a backward, is put off no further
// than to its own end: a hit makes its operand again from the variables of the frame that calls it
// (hit/remade.h).
//
// What an op that is put off overwrites is copied on the device first, if another op in flight
// needs it, or the op itself (Note [Overwritten operands]).
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "adapters/torch/device/kept_memory.h"
#include "adapters/torch/hit/kept_saved.h"
#include "adapters/torch/interpose/arguments.h"
#include "adapters/torch/watch/before.h"

namespace nanscope::torch_adapter {

// Beside an op that is put off, from its beginning: what it was about to overwrite.
struct PutOff {
  std::vector<std::shared_ptr<KeptPiece>> overwritten;
  std::vector<at::Tensor> looks;           // filled in when it has returned
  std::shared_ptr<const KeptSaved> saved;  // by the node that runs
  bool to_its_end = false;                 // and no further
};

[[nodiscard]] bool can_be_put_off(const Wrapper& wrapper);
// With `put_off`, if this call is; else nothing.
[[nodiscard]] KeptBefore begin_to_put_off(const Wrapper& wrapper, const Call& call);
// It has returned, and its results have been looked at: it waits from here on. `judge_now`: what is
// on the host shows already that there is something to tell.
void put_off(Wrapper& wrapper, const Call& call, void* result, PutOff& put_off, bool judge_now);

// The seam to the looks at a call, which is built on this: watch/calls.cc. The thread is as it was
// then.
void judge_late(Wrapper& wrapper, Call& call, const Before* before);

}  // namespace nanscope::torch_adapter
