#include "adapters/torch/watch/places.h"

#include "adapters/torch/program/frames.h"
#include "adapters/torch/program/nodes.h"
#include "adapters/torch/watch/then.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {

Place current_place() {
  if (const Then* then = this_thread().then()) return then->place;
  Place place;
  place.step = Watcher::get().judge().current_step();
  const StackId here = current_stack();
  StackInfo info = info_of(here);
  const bool in_engine_thread = is_engine_thread();
  if (in_engine_thread) {  // all that runs there was called by the engine
    info.inside_backward = info.line != 0;
    info.recomputes = info.inside_backward && info.in_checkpoint;
  }
  const NodeInfo node = current_node();
  place.stack = here;
  place.line = info.line;
  place.in_scaler = info.in_scaler;
  place.printing = info.printing;
  place.allowed_by =
      in_engine_thread ? Watcher::get().backward_calls().allowed_by() : this_thread().allowed_by();
  place.phase = info.optimizer ? Phase::kOptimizer : Phase::kForward;
  // Compiled autograd runs the whole backward in one call, and no node.
  if (info.in_engine && !node.running) place.phase = Phase::kBackward;
  if (node.running && !info.recomputes) {
    place.phase = Phase::kBackward;
    place.node = node.name;
    place.call_stack =
        in_engine_thread && here == 0 ? Watcher::get().backward_calls().only() : here;
    // User code that the engine calls (autograd.Function, hooks) is its own site.
    if (!info.inside_backward && node.forward != 0) {
      place.stack = node.forward;
      place.line = info_of(node.forward).line;
    }
  }
  return place;
}

StackId stack_of_call() {
  const Then* const then = this_thread().then();
  return then != nullptr ? then->stack : current_stack();
}

}  // namespace nanscope::torch_adapter
