// Which thread of the program a leaf belongs to, and how a leaf of another is asked.
//
// Note [Leaves of other threads]
// A program may train on several threads at once, each its own model; the judge is one, and is
// asked on whichever thread reports something. A gradient of another thread may be replaced and
// freed there at any moment, so nothing of it is read as it comes:
//
//   - Which tensor `leaf.grad` is now: Python writes it with the GIL held, the engine under the
//   lock
//     of the node that accumulates. With both in hand it can be read; the node's lock is only
//     tried, since its holder may be waiting for the judge.
//   - What stands in leaf and gradient is read by the thread that used the leaf last (a backward, a
//     step, an optimizer that was made), or by any once that one has ended, or waits for work.
//
// Elsewhere the answer is "cannot be asked now", which is neither "dead" nor "finite": what waits
// stays, and is asked again by its own thread. What cannot be asked even at the end is counted.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

namespace nanscope::torch_adapter {

class OwnerThread;
using Owner = std::shared_ptr<const OwnerThread>;

// The calling thread, as an owner; with the GIL held. Nothing in a thread that Python does not
// know.
[[nodiscard]] Owner this_owner();
// More than one thread has owned something.
[[nodiscard]] bool are_several_owners() noexcept;
// Another thread, which still runs. Any thread, no lock.
[[nodiscard]] bool is_another_thread(const Owner& owner);
// The same, but for one that waits for work, or for another thread; with the GIL held.
[[nodiscard]] bool is_another_at_work(const Owner& owner);

// The gradient that the leaf has now; nothing if somebody may be writing it. Takes the GIL.
[[nodiscard]] std::optional<at::Tensor> try_gradient_of(const at::Tensor& leaf);
// Reads that of a leaf which the program uses here and now; with the GIL held, and no lock of ours.
[[nodiscard]] at::Tensor gradient_of(const at::Tensor& leaf);

}  // namespace nanscope::torch_adapter
