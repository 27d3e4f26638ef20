// What the bindings ask of Python objects: the tensors in them, an optimizer's parts, an
// exception's words. With the GIL held.
#pragma once

#include <nanobind/nanobind.h>
#include <torch/csrc/Exceptions.h>

#include <exception>
#include <optional>
#include <string>

#include "adapters/torch/program/moments.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {

namespace nb = nanobind;

[[nodiscard]] bool is_tensor(nb::handle object);
[[nodiscard]] const at::Tensor& unwrap(nb::handle object);
// Those of a sequence, or the one tensor it is.
[[nodiscard]] Tensors tensors_in(nb::handle sequence);
[[nodiscard]] NamedTensors named_tensors_in(nb::handle pairs);

// --- of an optimizer
[[nodiscard]] Tensors parameters_of(nb::handle optimizer);
// What of its state may be bad.
[[nodiscard]] NamedTensors suspects_in_state(nb::handle optimizer);
void add_state_of(nb::handle optimizer, Tensors& tensors);
[[nodiscard]] std::optional<double> learning_rate_of(nb::handle optimizer);
// Whether a loss scaler makes it leave this step out.
[[nodiscard]] bool skips(nb::handle optimizer);

nb::object call(nb::handle function, nb::handle args, nb::handle kwargs);
// What an exception on its way says; nothing for our own, or for one that cannot say it.
[[nodiscard]] std::string words_of(const nb::python_error& error);

// torch's exception carries a Python error of its own. Any other is a fault of ours, and no
// affair of the program.
template <class Act>
auto guarded(Act act) -> decltype(act()) {
  try {
    return act();
  } catch (python_error& error) {
    error.restore();
    throw nb::python_error();
  } catch (nb::python_error&) {
    throw;
  } catch (const std::exception& error) {
    Watcher::get().disarming().disarm("a hook", error.what());
  }
  return decltype(act())();
}

}  // namespace nanscope::torch_adapter
