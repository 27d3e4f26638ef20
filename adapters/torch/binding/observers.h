// Who looks at the moments of a program: one observer per mode, behind one interface.
//
// Note [Three modes]
// The same hooks of torch are in place in every mode; what they do is the observer's affair.
//
//   exact      Every kernel has a wrapper, and every op is judged when it returns. The moments tell
//              the judge what no kernel shows: that a backward begins and ends, an optimizer steps,
//              Python reads a value. `nanscope run` and a `watch()` block.
//   looking    No op is watched. At each moment the sentinel scans what is there, and counts
//              (Note [Sentinel]). `--mode sentinel`.
//   replaying  A snapshot that was woken: the exact watch, which also counts the moments as the run
//              did and ends at that of the alarm.
//
// `watching` says whether ops are judged, and is read by the wrappers themselves; a fault of our
// own clears it at any time. The sentinel's role says the rest. An alarm may change both while it
// is answered (the exact watch takes over in the middle of a moment): so the looking observer goes
// on as the judging one where ops are watched when the answer is there.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "adapters/torch/binding/python_objects.h"
#include "adapters/torch/sentinel/sentinel.h"
#include "adapters/torch/watch/ticks.h"

namespace nanscope::torch_adapter {

// A call of the engine that is about to be made.
struct Backward {
  const nb::args& args;
  const nb::kwargs& kwargs;
  Tensors roots;
  bool accumulates = false;
  std::optional<Timed<>> timed = std::nullopt;  // until the engine runs
};

// Holds nothing of its own. With the GIL held. This one stands for no mode: nothing is watched.
class Observer {
 public:
  virtual ~Observer() = default;
  [[nodiscard]] virtual bool is_on() const { return false; }

  virtual nb::object run_backward(Backward& backward) const;
  virtual void step_begins(nb::handle optimizer) const { (void)optimizer; }
  virtual void step_ended(nb::handle optimizer) const { (void)optimizer; }
  virtual void gradients_dropped(nb::handle optimizer) const { (void)optimizer; }
  virtual void scaler_updates(const at::Tensor& scale) const { (void)scale; }

  // A module got this parameter or buffer, perhaps in the place of a former one: remembered in
  // every mode.
  virtual void value_registered(const at::Tensor& value, Target target,
                                Former former = Former::kNone) const;
  // What is known of a value that is about to be exchanged; only a sentinel asks.
  virtual Former former_of(const at::Tensor& value) const {
    (void)value;
    return Former::kNone;
  }
  // A module has it at the end; perhaps nobody registered it.
  virtual void value_found(const at::Tensor& value, Target target) const;
  virtual void printed(const at::Tensor& tensor) const { (void)tensor; }
  virtual void host_read(const at::Tensor& tensor) const { (void)tensor; }
  // One number was read, by an op that the wrappers see.
  virtual void number_read(const at::Tensor& tensor) const { (void)tensor; }
  // NumPy got an array over its memory.
  virtual void lent(const at::Tensor& tensor) const { (void)tensor; }
  // Code outside torch got its address, or wrote it as bytes.
  virtual void address_given(const c10::Storage& storage) const { (void)storage; }
  virtual void copied_out(const at::Tensor& tensor) const { (void)tensor; }
  virtual void handed_over(const at::Tensor& tensor) const { (void)tensor; }
};

// The one of the mode that the process is in now.
[[nodiscard]] const Observer& observer();

}  // namespace nanscope::torch_adapter
