#include "adapters/torch/binding/python_moments.h"

#include <nanobind/stl/string.h>

#include "adapters/torch/binding/python_objects.h"
#include "adapters/torch/binding/python_sentinel.h"
#include "adapters/torch/interpose/hook.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/program/forewarn.h"
#include "adapters/torch/program/history.h"
#include "adapters/torch/program/moments.h"
#include "adapters/torch/sentinel/unseen_steps.h"
#include "adapters/torch/session/session.h"
#include "adapters/torch/watch/ticks.h"

namespace nanscope::torch_adapter {
namespace {

nb::object* engine = nullptr;  // torch.autograd's own _engine_run_backward
nb::object* before_backward = nullptr;
nb::object* printer = nullptr;  // torch._tensor_str._str

// The rest of a backward while nothing is watched but once a step.
nb::object look_after_backward(const nb::args& args, const nb::kwargs& kwargs, bool accumulates) {
  nb::object result = call(*engine, args, kwargs);
  const Timed timed(Part::kMoment);
  const Alarm alarm = look_at_backward_end(accumulates);
  answer(alarm);
  if (sentinel_looks() && steps_by_hand() && alarm.empty()) snapshot_if_due();
  return result;
}

// Stands in for torch.autograd.graph._engine_run_backward; adds no frame to a traceback.
nb::object run_backward(const nb::args& args, const nb::kwargs& kwargs) {
  if ((!watching && !sentinel_looks()) || this_thread().busy) return call(*engine, args, kwargs);
  std::optional<Timed<>> timed(std::in_place, Part::kMoment);
  const Tensors roots = args.size() > 0 ? tensors_in(args[0]) : Tensors{};
  // A compiler that traces: nothing is computed.
  for (const at::Tensor& root : roots) {
    if (has_no_values(below_transforms(root))) return call(*engine, args, kwargs);
  }
  (*before_backward)();
  const bool accumulates =
      kwargs.contains("accumulate_grad") && nb::cast<bool>(kwargs["accumulate_grad"]);
  if (accumulates) loss_seen(roots);
  if (sentinel_looks()) {
    answer(look_at_backward_begin(roots));
    if (!watching) {
      timed.reset();
      return look_after_backward(args, kwargs, accumulates);
    }
  }
  const Judge::RootId root = guarded([&] {
    if (accumulates) watch_headroom(roots);
    return backward_begins(roots);
  });
  if (sentinel_replays()) replayed(Moment::kBackwardBegins, roots);
  timed.reset();
  nb::object result;
  try {
    result = call(*engine, args, kwargs);
  } catch (nb::python_error& error) {
    guarded([&] { backward_raised(root, words_of(error)); });
    throw;
  }
  guarded([&] {
    const Timed timed(Part::kMoment);
    if (accumulates) {
      backward_ended(root, roots);
    } else {
      grad_ended(root, result.is_none() ? Tensors{} : tensors_in(result));
    }
    if (has_new_ops()) sweep_new_ops();
    stop_after_steps();
  });
  if (sentinel_replays()) replayed(Moment::kBackwardEnds);
  return result;
}

nb::object print_tensor(const nb::args& args, const nb::kwargs& kwargs) {
  if (watching && args.size() > 0 && is_tensor(args[0])) {
    guarded([&] { host_read(unwrap(args[0]), false); });
  }
  // In a program that trains, printing is no harm.
  if (sentinel_looks() && sentinel_counts().backwards == 0 && args.size() > 0 && is_tensor(args[0]))
    look_at_read(unwrap(args[0]));
  return call(*printer, args, kwargs);
}

void step_pre_hook(nb::handle optimizer, nb::handle, nb::handle) {
  if (!watching && !sentinel_looks()) return;
  const Timed timed(Part::kMoment);
  const Tensors parameters = parameters_of(optimizer);
  if (sentinel_looks()) {
    answer(look_at_step_begin(parameters, skips(optimizer)));
    if (!watching) return step_counted(parameters, [&] { return learning_rate_of(optimizer); });
  }
  {
    const Timed<2> history(Part::kHistory);
    step_seen(parameters, learning_rate_of(optimizer));
  }
  guarded([&] { step_begins(parameters, skips(optimizer)); });
  if (sentinel_replays()) replayed(Moment::kStepBegins);
}

void step_post_hook(nb::handle optimizer, nb::handle, nb::handle) {
  const Timed timed(Part::kMoment);
  if (sentinel_looks()) {
    const Alarm alarm = look_at_written(optimizer);
    answer(alarm);
    if (!watching) {
      step_looked_at();
      if (alarm.empty()) snapshot_if_due();
      if (sentinel_looks()) guarded([] { stop_after_steps(sentinel_counts().steps); });
      return;
    }
  }
  if (!watching) return;
  guarded([&] {
    step_ended(Watcher::get().ledger.empty() ? NamedTensors{} : suspects_in_state(optimizer));
    if (has_new_ops()) sweep_new_ops();
    stop_after_steps();
  });
  if (sentinel_replays()) replayed(Moment::kStepEnds);
}

void register_target(nb::handle tensor, Target target) {
  if (!is_tensor(tensor)) return;
  guarded([&] { value_registered(unwrap(tensor), target); });
  if (sentinel_looks()) buffer_made(unwrap(tensor));
}

void register_targets(nb::handle tensors, Target target) {
  if (!nb::isinstance<nb::dict>(tensors)) return;
  for (auto [name, tensor] : nb::borrow<nb::dict>(tensors)) register_target(tensor, target);
}

nb::object* swapper = nullptr;  // torch._C._swap_tensor_impl

// It refuses tensors that somebody holds weakly, as the world does.
nb::object swap_tensors(nb::handle one, nb::handle other) {
  TorchWorld& world = Watcher::get().world;
  bool optimized[2] = {};
  const nb::handle both[2] = {one, other};
  for (int i = 0; i < 2; ++i) {
    if (!is_tensor(both[i])) continue;
    optimized[i] = world.forget(unwrap(both[i]));
    let_go_of(unwrap(both[i]));
    forget_old_gradient(unwrap(both[i]));
    let_looks_go_of(unwrap(both[i]));
  }
  nb::object result = (*swapper)(one, other);
  for (int i = 0; i < 2; ++i) {
    if (optimized[i]) world.in_optimizer(unwrap(both[i]));
  }
  return result;
}

nb::object* set_state = nullptr;  // torch.nn.Module's own __setstate__ and _apply
nb::object* apply = nullptr;

// Stands in for a method that puts tensors into a module without registering them: a copied or
// unpickled module, one moved to another type.
nb::object then_registered(nb::handle original, const nb::args& args, const nb::kwargs& kwargs) {
  nb::object result = call(original, args, kwargs);
  if ((watching || sentinel_looks()) && args.size() > 0 && nb::hasattr(args[0], "_parameters")) {
    register_targets(nb::object(args[0].attr("_parameters")), Target::kParameter);
    register_targets(nb::object(args[0].attr("_buffers")), Target::kBuffer);
  }
  return result;
}

}  // namespace

void add_moments(nb::module_& module) {
  module.def("take_engine", [](nb::object original, nb::object before) {
    keep(engine, std::move(original));
    keep(before_backward, std::move(before));
  });
  module.def("run_backward", &run_backward);
  module.def("take_printer", [](nb::object original) { keep(printer, std::move(original)); });
  module.def("print_tensor", &print_tensor);
  module.def("step_pre_hook", &step_pre_hook);
  module.def("step_post_hook", &step_post_hook);
  module.def("optimizer_made", [](nb::handle optimizer) {
    const Tensors parameters = parameters_of(optimizer);
    weights_known(parameters);
    guarded([&] { optimizer_made(parameters); });
  });
  module.def("gradients_dropped", [](nb::handle optimizer) {
    const Timed timed(Part::kMoment);
    if (sentinel_looks()) look_at_dropped_gradients();
    if (watching && Watcher::get().judge.awaits_gradients())
      guarded([&] { gradients_dropped(parameters_of(optimizer)); });
  });
  module.def("host_read", [](nb::handle tensor, const nb::args&) {
    if (sentinel_looks() && is_tensor(tensor)) look_at_read(unwrap(tensor));
    if (!watching || !is_tensor(tensor)) return;
    guarded([&] { host_read(unwrap(tensor), true); });
  });
  module.def("lent", [](nb::handle tensor, const nb::args&) {
    if (sentinel_looks() && is_tensor(tensor)) look_at_read(unwrap(tensor));
    if (!watching || !is_tensor(tensor)) return;
    guarded([&] { host_read(unwrap(tensor), true); });
    if (!this_thread().busy) Watcher::get().lend(unwrap(tensor));
  });
  module.def("number_read", [](nb::handle tensor, const nb::args&) {
    if (sentinel_looks() && is_tensor(tensor)) look_at_read(unwrap(tensor));
  });
  module.def("address_given", [](nb::handle tensor, const nb::args&) {
    if (watching && !this_thread().busy && is_tensor(tensor))
      Watcher::get().address_given(unwrap(tensor));
  });
  module.def("handed_over", [](nb::handle tensor) {
    if (watching && is_tensor(tensor)) guarded([&] { handed_over(unwrap(tensor)); });
  });
  module.def(
      "register_parameter",
      [](nb::handle, nb::handle, nb::handle tensor) {
        register_target(tensor, Target::kParameter);
      },
      nb::arg().none(), nb::arg().none(), nb::arg().none());
  module.def(
      "register_buffer",
      [](nb::handle, nb::handle, nb::handle tensor) { register_target(tensor, Target::kBuffer); },
      nb::arg().none(), nb::arg().none(), nb::arg().none());
  module.def("take_swapper", [](nb::object original) { keep(swapper, std::move(original)); });
  module.def("swap_tensors", &swap_tensors);
  module.def("take_module", [](nb::object original_set_state, nb::object original_apply) {
    keep(set_state, std::move(original_set_state));
    keep(apply, std::move(original_apply));
  });
  module.def("set_module_state", [](const nb::args& args, const nb::kwargs& kwargs) {
    return then_registered(*set_state, args, kwargs);
  });
  module.def("apply_to_module", [](const nb::args& args, const nb::kwargs& kwargs) {
    return then_registered(*apply, args, kwargs);
  });
}

}  // namespace nanscope::torch_adapter
