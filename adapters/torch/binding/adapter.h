// What the Python module keeps for the life of the process, all under the GIL: torch's own
// functions that ours stand in for, the moments of the program, the sentinel and what it asks of
// Python.
#pragma once

#include <nanobind/nanobind.h>

#include "adapters/torch/program/moments.h"
#include "adapters/torch/sentinel/sentinel.h"
#include "adapters/torch/sentinel/stepped_optimizers.h"

namespace nanscope::torch_adapter {

class Adapter {
 public:
  static Adapter& get();

  struct Originals {
    nanobind::object engine;           // torch.autograd's own _engine_run_backward
    nanobind::object before_backward;  // ours, called before it
    nanobind::object printer;          // torch._tensor_str._str
    nanobind::object swapper;          // torch._C._swap_tensor_impl
    nanobind::object set_state;        // torch.nn.Module's own __setstate__ and _apply
    nanobind::object apply;
    nanobind::object implement;  // torch.library.Library.impl
  };
  struct Questions {
    nanobind::object on_alarm;     // given what is bad; the exception to raise, or None
    nanobind::object on_due;       // takes a snapshot: returns in it too, once it is woken
    nanobind::object on_replayed;  // the last moment of a replay; does not return
  };

  Originals originals;
  Questions questions;
  Moments moments;
  Sentinel sentinel;
  SteppedOptimizers stepped_optimizers;

 private:
  Adapter() = default;
};

}  // namespace nanscope::torch_adapter
