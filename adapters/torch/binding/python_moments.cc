#include "adapters/torch/binding/python_moments.h"

#include <nanobind/stl/string.h>
#include <torch/csrc/Storage.h>

#include <map>

#include "adapters/torch/binding/adapter.h"
#include "adapters/torch/binding/noted_exchange.h"
#include "adapters/torch/binding/noted_method.h"
#include "adapters/torch/binding/observers.h"
#include "adapters/torch/binding/python_objects.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/program/frames.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/ticks.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

const Adapter::Originals& originals() { return Adapter::get().originals(); }

// Stands in for torch.autograd.graph._engine_run_backward; adds no frame to a traceback.
nb::object run_backward(const nb::args& args, const nb::kwargs& kwargs) {
  if (!observer().is_on() || this_thread().is_busy()) return call(originals().engine, args, kwargs);
  Backward backward{args, kwargs, {}};
  backward.timed.emplace(Part::kMoment);
  if (args.size() > 0) backward.roots = tensors_in(args[0]);
  // A compiler that traces: nothing is computed.
  for (const at::Tensor& root : backward.roots) {
    if (has_no_values(below_transforms(root))) return call(originals().engine, args, kwargs);
  }
  originals().before_backward();
  backward.accumulates =
      kwargs.contains("accumulate_grad") && nb::cast<bool>(kwargs["accumulate_grad"]);
  if (backward.accumulates) Watcher::get().history().loss_seen(backward.roots);
  return observer().run_backward(backward);
}

nb::object print_tensor(const nb::args& args, const nb::kwargs& kwargs) {
  if (args.size() > 0 && is_tensor(args[0])) observer().printed(unwrap(args[0]));
  return call(originals().printer, args, kwargs);
}

void step_pre_hook(nb::handle optimizer, nb::handle, nb::handle) {
  const Observer& now = observer();
  if (!now.is_on()) return;
  const Timed timed(Part::kMoment);
  const OwnTime::Whole whole(this_thread().own_time());
  now.step_begins(optimizer);
}

void step_post_hook(nb::handle optimizer, nb::handle, nb::handle) {
  const Timed timed(Part::kMoment);
  const OwnTime::Whole whole(this_thread().own_time());
  observer().step_ended(optimizer);
}

const char* list_of(Target target) {
  return target == Target::kParameter ? "_parameters" : "_buffers";
}

// What the module has under this name so far.
at::Tensor former_value(nb::handle module, nb::handle name, Target target) {
  const nb::object values = nb::getattr(module, list_of(target), nb::none());
  if (!nb::isinstance<nb::dict>(values)) return {};
  PyObject* former = PyDict_GetItem(values.ptr(), name.ptr());
  return former != nullptr && is_tensor(former) ? unwrap(former) : at::Tensor();
}

void register_target(nb::handle module, nb::handle name, nb::handle tensor, Target target) {
  if (!is_tensor(tensor)) return;
  const at::Tensor former = former_value(module, name, target);
  // Without a module: what was there before anybody watched, and is left alone if it is bad.
  const Former known = module.is_none() ? Former::kBad : observer().former_of(former);
  observer().value_registered(unwrap(tensor), target, known);
}

// Visits the parameters and buffers that the module itself has.
template <class Visit>
void each_target(nb::handle module, Visit visit) {
  for (const Target target : {Target::kParameter, Target::kBuffer}) {
    const nb::object values = nb::getattr(module, list_of(target), nb::none());
    if (!nb::isinstance<nb::dict>(values)) continue;
    for (auto [name, tensor] : nb::borrow<nb::dict>(values)) {
      if (is_tensor(tensor)) visit(unwrap(tensor), target, name);
    }
  }
}

// It refuses tensors that somebody holds weakly, as the world does.
nb::object swap_tensors(nb::handle one, nb::handle other) {
  TorchWorld& world = Watcher::get().world();
  bool optimized[2] = {};
  Target targets[2] = {};
  Former formers[2] = {};
  const nb::handle both[2] = {one, other};
  for (int i = 0; i < 2; ++i) {
    if (!is_tensor(both[i])) continue;
    targets[i] = world.target_of(unwrap(both[i]));
    formers[i] = observer().former_of(unwrap(both[i]));
    optimized[i] = world.forget(unwrap(both[i]));
    Watcher::get().history().let_go_of(unwrap(both[i]));
    Adapter::get().moments().forget_old_gradient(unwrap(both[i]));
    Adapter::get().sentinel().let_go_of(unwrap(both[i]));
  }
  nb::object result = originals().swapper(one, other);
  for (int i = 0; i < 2; ++i) {
    if (optimized[i]) world.in_optimizer(unwrap(both[i]));
    if (targets[i] != Target::kNone)
      observer().value_registered(unwrap(both[i]), targets[i], formers[i]);
  }
  return result;
}

// Stands in for a method that puts tensors into a module without registering them: a copied or
// unpickled module, one moved to another type.
nb::object then_registered(nb::handle original, const nb::args& args, const nb::kwargs& kwargs) {
  if (!observer().is_on() || args.size() == 0) return call(original, args, kwargs);
  // No tensor is held: one that is not the module's alone cannot be swapped.
  std::map<std::pair<Target, std::string>, Former> formers;
  each_target(args[0], [&](const at::Tensor& value, Target target, nb::handle name) {
    formers[{target, nb::str(name).c_str()}] = observer().former_of(value);
  });
  nb::object result = call(original, args, kwargs);
  each_target(args[0], [&](const at::Tensor& value, Target target, nb::handle name) {
    const auto former = formers.find({target, nb::str(name).c_str()});
    observer().value_registered(value, target,
                                former == formers.end() ? Former::kNone : former->second);
  });
  return result;
}

// `owner`: a tensor or a storage.
void address_given(nb::handle owner) {
  if (is_tensor(owner)) {
    if (unwrap(owner).has_storage()) observer().address_given(unwrap(owner).storage());
  } else if (THPStorage_Check(owner.ptr())) {
    observer().address_given(THPStorage_Unpack(owner.ptr()));
  } else if (nb::hasattr(owner, "_untyped_storage")) {
    address_given(nb::object(owner.attr("_untyped_storage")));
  }
}

// A moment of one tensor, of which a hook of torch tells with whatever else it was called with.
template <class Act>
void add_tensor_moment(nb::module_& module, const char* name, Act act) {
  module.def(name, [act](nb::handle tensor, const nb::args&) {
    if (is_tensor(tensor)) act(observer(), unwrap(tensor));
  });
}

// The backward, the optimizers, the loss scaler.
void add_training_moments(nb::module_& module) {
  module.def("take_engine", [](nb::object original, nb::object before) {
    Adapter::get().keep_engine(std::move(original), std::move(before));
  });
  module.def("run_backward", &run_backward);
  module.def("step_pre_hook", &step_pre_hook);
  module.def("step_post_hook", &step_post_hook);
  module.def("optimizer_made", [](nb::handle optimizer) {
    const Tensors parameters = parameters_of(optimizer);
    Watcher::get().history().weights_known(parameters);
    guarded([&] { Adapter::get().moments().optimizer_made(parameters); });
  });
  module.def("gradients_dropped", [](nb::handle optimizer) {
    const Timed timed(Part::kMoment);
    const OwnTime::Whole whole(this_thread().own_time());
    observer().gradients_dropped(optimizer);
  });
  // A loss scaler is about to change its scale.
  module.def("scaler_updates", [](nb::handle scaler, const nb::args&) {
    const Observer& now = observer();
    if (!now.is_on()) return;
    const nb::object scale = nb::getattr(scaler, "_scale", nb::none());
    if (is_tensor(scale) && !has_no_values(unwrap(scale))) now.scaler_updates(unwrap(scale));
  });
}

// Values that leave torch, or are written without it.
void add_reading_moments(nb::module_& module) {
  module.def("take_printer",
             [](nb::object original) { Adapter::get().keep_printer(std::move(original)); });
  module.def("print_tensor", &print_tensor);
  using Now = const Observer&;
  using Tensor = const at::Tensor&;
  add_tensor_moment(module, "host_read", [](Now now, Tensor t) { now.host_read(t); });
  add_tensor_moment(module, "copied_out", [](Now now, Tensor t) { now.copied_out(t); });
  add_tensor_moment(module, "lent", [](Now now, Tensor t) { now.lent(t); });
  module.def("number_method", [](nb::object original) {
    return noted_method(std::move(original), [](Tensor read) { observer().number_read(read); });
  });
  module.def("address_given", [](nb::handle owner, const nb::args&) {
    if (!is_called_by_torch()) address_given(owner);  // it compares addresses
  });
  module.def("noted_exchange", &noted_exchange);
  // Bytes were written into a storage, without an op.
  module.def("bytes_written", [](nb::handle storage, const nb::args&) { address_given(storage); });
  add_tensor_moment(module, "handed_over", [](Now now, Tensor t) { now.handed_over(t); });
}

// Parameters and buffers, and the methods of modules that exchange them.
void add_module_moments(nb::module_& module) {
  module.def(
      "register_parameter",
      [](nb::handle owner, nb::handle name, nb::handle tensor) {
        register_target(owner, name, tensor, Target::kParameter);
      },
      nb::arg().none(), nb::arg().none(), nb::arg().none());
  module.def(
      "register_buffer",
      [](nb::handle owner, nb::handle name, nb::handle tensor) {
        register_target(owner, name, tensor, Target::kBuffer);
      },
      nb::arg().none(), nb::arg().none(), nb::arg().none());
  module.def("module_found", [](nb::handle owner) {
    each_target(owner, [](const at::Tensor& value, Target target, nb::handle) {
      observer().value_found(value, target);
    });
  });
  // One that was told of before, and has more parameters by now.
  module.def("optimizer_found", [](nb::handle optimizer) {
    guarded([&] {
      for (const at::Tensor& parameter : parameters_of(optimizer))
        observer().value_found(parameter, Target::kParameter);
    });
  });
  module.def("take_swapper",
             [](nb::object original) { Adapter::get().keep_swapper(std::move(original)); });
  module.def("swap_tensors", &swap_tensors);
  module.def("take_module", [](nb::object original_set_state, nb::object original_apply) {
    Adapter::get().keep_module_methods(std::move(original_set_state), std::move(original_apply));
  });
  module.def("set_module_state", [](const nb::args& args, const nb::kwargs& kwargs) {
    return then_registered(originals().set_state, args, kwargs);
  });
  module.def("apply_to_module", [](const nb::args& args, const nb::kwargs& kwargs) {
    return then_registered(originals().apply, args, kwargs);
  });
}

}  // namespace

void add_moments(nb::module_& module) {
  add_training_moments(module);
  add_reading_moments(module);
  add_module_moments(module);
}

}  // namespace nanscope::torch_adapter
