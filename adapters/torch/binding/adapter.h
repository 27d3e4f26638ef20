// What the Python module keeps for the life of the process, all under the GIL: torch's own
// functions that ours stand in for, the moments of the program, the sentinel and what it asks of
// Python, how much memory compiled regions keep.
#pragma once

#include <ATen/dlpack.h>
#include <nanobind/nanobind.h>

#include <utility>

#include "adapters/torch/compiled/kept_inputs.h"
#include "adapters/torch/program/moments.h"
#include "adapters/torch/sentinel/sentinel.h"
#include "adapters/torch/sentinel/stepped_optimizers.h"
#include "adapters/torch/session/undoing.h"

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
    nanobind::object implement;                   // torch.library.Library.impl
    const DLPackExchangeAPI* exchange = nullptr;  // torch.Tensor.__dlpack_c_exchange_api__
  };
  struct Questions {
    nanobind::object on_alarm;     // given what is bad; the exception to raise, or None
    nanobind::object on_due;       // takes a snapshot: returns in it too, once it is woken
    nanobind::object on_replayed;  // the last moment of a replay; does not return
  };

  [[nodiscard]] const Originals& originals() const noexcept { return originals_; }
  void keep_engine(nanobind::object engine, nanobind::object before_backward) {
    originals_.engine = std::move(engine);
    originals_.before_backward = std::move(before_backward);
  }
  void keep_printer(nanobind::object printer) { originals_.printer = std::move(printer); }
  void keep_swapper(nanobind::object swapper) { originals_.swapper = std::move(swapper); }
  void keep_module_methods(nanobind::object set_state, nanobind::object apply) {
    originals_.set_state = std::move(set_state);
    originals_.apply = std::move(apply);
  }

  void keep_implement(nanobind::object implement) { originals_.implement = std::move(implement); }

  void keep_exchange(const DLPackExchangeAPI* exchange) { originals_.exchange = exchange; }

  [[nodiscard]] const Questions& questions() const noexcept { return questions_; }
  void ask(Questions questions) { questions_ = std::move(questions); }

  [[nodiscard]] Moments& moments() noexcept { return moments_; }
  [[nodiscard]] Undoing& undoing() noexcept { return undoing_; }
  [[nodiscard]] Sentinel& sentinel() noexcept { return sentinel_; }
  [[nodiscard]] SteppedOptimizers& stepped_optimizers() noexcept { return stepped_optimizers_; }
  [[nodiscard]] SpareMemory& spare_memory() noexcept { return spare_memory_; }

 private:
  Adapter() = default;

  Originals originals_;
  Questions questions_;
  Moments moments_;
  Undoing undoing_;
  Sentinel sentinel_;
  SteppedOptimizers stepped_optimizers_;
  SpareMemory spare_memory_;
};

inline Sentinel& sentinel() { return Adapter::get().sentinel(); }

}  // namespace nanscope::torch_adapter
