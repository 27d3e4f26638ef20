// The Python module nanscope._torch: the switches, and the moments Python hooks tell of.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>

#include "adapters/python/native.h"
#include "forewarn.h"
#include "frames.h"
#include "history.h"
#include "hook.h"
#include "moments.h"
#include "proofs.h"
#include "report/json.h"
#include "report/summary.h"
#include "report/text.h"
#include "sentinel.h"
#include "session.h"
#include "stepped_optimizers.h"
#include "story.h"
#include "tensors.h"
#include "ticks.h"
#include "unseen_steps.h"
#include "watcher.h"

namespace nb = nanobind;
using nanscope::python::Native;

namespace nanscope::torch_adapter {
namespace {

bool is_tensor(nb::handle object) { return THPVariable_Check(object.ptr()); }
const at::Tensor& unwrap(nb::handle object) { return THPVariable_Unpack(object.ptr()); }

Tensors tensors_in(nb::handle sequence) {
  Tensors tensors;
  if (is_tensor(sequence)) return {unwrap(sequence)};
  for (nb::handle item : sequence) {
    if (is_tensor(item)) tensors.push_back(unwrap(item));
  }
  return tensors;
}

NamedTensors named_tensors_in(nb::handle pairs) {
  NamedTensors tensors;
  for (nb::handle pair : pairs) {
    if (is_tensor(pair[1]))
      tensors.emplace_back(nb::cast<std::string>(pair[0]), unwrap(nb::object(pair[1])));
  }
  return tensors;
}

Tensors parameters_of(nb::handle optimizer) {
  Tensors parameters;
  for (nb::handle group : nb::object(optimizer.attr("param_groups"))) {
    for (nb::handle parameter : nb::object(group["params"])) {
      if (is_tensor(parameter)) parameters.push_back(unwrap(parameter));
    }
  }
  return parameters;
}

NamedTensors state_in(nb::handle optimizer) {
  NamedTensors tensors;
  nb::object state = optimizer.attr("state");
  for (nb::handle item : nb::object(state.attr("items")())) {
    const nb::object parameter = item[0];
    const nb::object entry = item[1];
    if (!nb::isinstance<nb::dict>(entry)) continue;
    for (auto [key, value] : nb::borrow<nb::dict>(entry)) {
      if (!is_tensor(value)) continue;
      std::string name = nb::cast<std::string>(nb::str(key));
      if (is_tensor(parameter)) name += " of " + TorchWorld::number_of(unwrap(parameter));
      tensors.emplace_back(std::move(name), unwrap(value));
    }
  }
  return tensors;
}

bool skips(nb::handle optimizer) {
  if (!nb::hasattr(optimizer, "found_inf")) return false;
  nb::object found = optimizer.attr("found_inf");
  if (found.is_none() || !is_tensor(found)) return false;
  const Busy busy;
  return nb::cast<double>(found.attr("item")()) > 0;
}

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
    disarm("a hook", error.what());
  }
  return decltype(act())();
}

nb::object call(nb::handle function, nb::handle args, nb::handle kwargs) {
  PyObject* result = PyObject_Call(function.ptr(), args.ptr(), kwargs.ptr());
  if (result == nullptr) throw nb::python_error();
  return nb::steal(result);
}

// Of an exception on its way; nothing for our own, or for one that cannot say them.
std::string words_of(const nb::python_error& error) {
  try {
    const auto home = nb::cast<std::string>(nb::str(nb::handle(error.type().attr("__module__"))));
    if (home.starts_with("nanscope")) return "";
    return nb::cast<std::string>(nb::str(nb::handle(error.type().attr("__name__")))) + ": " +
           nb::cast<std::string>(nb::str(error.value()));
  } catch (const std::exception&) {
    return "";
  }
}

// Python objects that live as long as the process.
void keep(nb::object*& place, nb::object value) {
  if (place == nullptr) {
    place = new nb::object(std::move(value));
  } else {
    *place = std::move(value);
  }
}

nb::object* engine = nullptr;  // torch.autograd's own _engine_run_backward
nb::object* before_backward = nullptr;
nb::object* printer = nullptr;  // torch._tensor_str._str

// What the sentinel asks of Python.
nb::object* on_alarm = nullptr;     // given what is bad; the exception to raise, or None
nb::object* on_due = nullptr;       // takes a snapshot: returns in it too, once it is woken
nb::object* on_replayed = nullptr;  // the last moment of a replay; does not return

void answer(const Alarm& alarm) {
  if (alarm.empty()) return;
  const nb::object exception = (*on_alarm)(alarm);
  if (!exception.is_none()) raise_stop(exception.ptr());
}

void snapshot_if_due() {
  if (snapshot_due()) (*on_due)();
}

void replayed(Moment moment, const Tensors& roots = {}) {
  if (replay_moment(moment, roots)) (*on_replayed)();
}

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

std::optional<double> learning_rate_of(nb::handle optimizer) {
  try {
    const Busy busy;  // it may be a tensor
    nb::object groups = optimizer.attr("param_groups");
    return nb::cast<double>(nb::float_(nb::object(groups[0]["lr"])));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void add_state_of(nb::handle optimizer, Tensors& tensors) {
  const nb::object state = optimizer.attr("state");
  if (!nb::isinstance<nb::dict>(state)) return;
  for (auto [parameter, entry] : nb::borrow<nb::dict>(state)) {
    if (!nb::isinstance<nb::dict>(entry)) continue;
    for (auto [key, value] : nb::borrow<nb::dict>(entry)) {
      if (is_tensor(value)) tensors.push_back(unwrap(value));
    }
  }
}

Written written_by(const SteppedOptimizers::Optimizers& optimizers) {
  Written written;
  for (const nb::object& optimizer : optimizers) {
    for (at::Tensor& parameter : parameters_of(optimizer))
      written.parameters.push_back(std::move(parameter));
    add_state_of(optimizer, written.state);
  }
  return written;
}

SteppedOptimizers& stepped_optimizers() {
  static auto& one = *new SteppedOptimizers;
  return one;
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
    const auto optimizers = stepped_optimizers().to_look_at(optimizer, snapshot_due());
    const Alarm alarm = look_at_step_end(written_by(optimizers));
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
    step_ended(Watcher::get().ledger.empty() ? NamedTensors{} : state_in(optimizer));
    if (has_new_ops()) sweep_new_ops();
    stop_after_steps();
  });
  if (sentinel_replays()) replayed(Moment::kStepEnds);
}

// A loss scaler is about to change its scale. One below 1 has been halved again and again.
void scaler_updates(nb::handle scaler, const nb::args&) {
  if (!sentinel_looks() && !sentinel_replays()) return;
  const nb::object scale = nb::getattr(scaler, "_scale", nb::none());
  if (!is_tensor(scale) || has_no_values(unwrap(scale))) return;
  if (sentinel_replays()) return replayed(Moment::kScalerUpdates);
  answer(look_at_scaler(unwrap(scale)));
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

Ended ended_from(const std::string& word) {
  if (word == "exception") return Ended::kException;
  if (word == "signal") return Ended::kSignal;
  return word == "stopped" ? Ended::kStopped : Ended::kNormally;
}

OnError on_error_from(const std::string& word) {
  if (word == "go_on") return OnError::kGoOn;
  return word == "raise" ? OnError::kRaise : OnError::kStop;
}

// ---- the sentinel, as Python directs it
void add_sentinel(nb::module_& module) {
  module.def("begin_looks", [](nb::object alarm, nb::object due, nb::object last) {
    keep(on_alarm, std::move(alarm));
    keep(on_due, std::move(due));
    keep(on_replayed, std::move(last));
    stepped_optimizers().clear();
    begin_looks();
  });
  module.def("end_looks", &end_looks);
  module.def("sentinel_memory", &shared_memory);
  module.def("next_snapshot_in", &next_snapshot_in);
  module.def("snapshot_due", &snapshot_due);
  module.def("pause_openmp", &pause_openmp);
  module.def("sentinel_counts", [] {
    const SentinelCounts& counts = sentinel_counts();
    return nb::make_tuple(counts.moments, counts.backwards, counts.steps);
  });
  module.def("sentinel_unsettled", [] {
    const Unsettled unsettled = sentinel_unsettled(written_by(stepped_optimizers().unseen()));
    return nb::make_tuple(unsettled.loss, unsettled.gradient, unsettled.read);
  });
  // The judge goes on counting where the looks are; what happened before is not watched.
  // `missed`: the value that gave the alarm was made unwatched.
  module.def(
      "take_over",
      [](bool missed) {
        made_before_the_watch(missed);
        forget_samples();
        const WithoutGil without_gil;
        tell_of_unseen_steps();
      },
      nb::arg("missed") = false);
  module.def("scaler_updates", &scaler_updates);
  module.def("begin_replay", &begin_replay);
  module.def("begin_comparison", &begin_comparison);
  module.def("comparison", [] {
    const Comparison told = comparison();
    return nb::make_tuple(told.replayed, told.compared, told.first_unequal, told.run, told.replay);
  });
  module.def("any_bad", [](nb::handle tensors) {
    for (const at::Tensor& tensor : tensors_in(tensors)) {
      if (is_bad(tensor)) return true;
    }
    return false;
  });
}

nb::dict finish(int status, const std::string& ended,
                const std::vector<std::tuple<std::string, std::string, std::int64_t>>& also,
                bool verbose, bool color) {
  std::vector<NotWatched> not_watched;
  for (const auto& [what, why, count] : also) not_watched.push_back({what, why, count});
  const Busy busy;
  watch_weights();
  const SessionEnd end = end_session(status, ended_from(ended), not_watched);
  nb::dict told;
  told["error"] = error_found();
  told["json"] = json_report(end.capture);
  told["text"] = text_report(end.capture, TextOptions{.color = color, .verbose = verbose});
  told["capture"] = Native{end.capture_path};
  told["complaints"] = end.complaints;
  return told;
}

}  // namespace
}  // namespace nanscope::torch_adapter

NB_MODULE(_torch, module) {
  using namespace nanscope;
  using namespace nanscope::torch_adapter;

  nb::set_leak_warnings(false);  // the hooks live as long as the process
  module.def("configure", [](nb::object is_user_code, nb::object optimizer,
                             const std::string& torch_folder, nb::object describe, nb::object name,
                             nb::object exception_for, std::int64_t steps) {
    configure_frames(is_user_code.ptr(), optimizer.ptr(), torch_folder);
    configure_story(describe.ptr(), name.ptr());
    configure_stop(exception_for.ptr(), steps);
  });
  // A watch() block is over: what it gave us is let go of.
  module.def("disconnect", [] {
    configure_story(nullptr, nullptr);
    configure_stop(nullptr, 0);
  });
  module.def("install", [] {
    const Installed counts = install_hooks();
    return nb::make_tuple(counts.typed, counts.boxed, counts.other_libraries);
  });
  module.def("watch", [](bool on) { watching = on ? 1 : 0; });
  module.def("is_watching", [] { return watching != 0; });
  module.def(
      "begin",
      [](const Native& capture, bool overwrite, bool keep_capture, const std::string& on_error,
         bool strict, const Native& news, const std::vector<Native>& argv,
         const std::string& python, const std::string& torch, const Native& host, std::int64_t pid,
         const std::string& mode) {
        SessionOptions options;
        options.capture_path = capture.bytes;
        options.overwrite = overwrite;
        options.keep_capture = keep_capture;
        options.on_error = on_error_from(on_error);
        options.strict = strict;
        options.news = news.bytes;
        for (const Native& argument : argv) options.program.argv.push_back(argument.bytes);
        options.program.python = python;
        options.program.torch = torch;
        options.program.host = host.bytes;
        options.program.pid = pid;
        options.program.mode = mode;
        begin_session(std::move(options));
      },
      nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
      nb::arg(), nb::arg(), nb::arg(), nb::arg("mode") = "exact");
  module.def("begin_anew", [] {
    this_thread().stop_wanted = false;
    forget_moments();
    forget_history();
    Watcher::get().forget_storages();
    const WithoutGil without_gil;
    Watcher::get().judge.begin_anew();
  });
  module.def("remember_old_gradients", &remember_old_gradients);
  module.def("fork_begins", &fork_begins);
  module.def("fork_ended", &fork_ended);
  module.def("fork_ended_in_child",
             [](const Native& capture, const Native& news, std::int64_t pid) {
               return fork_ended_in_child(capture.bytes, news.bytes, pid);
             });
  module.def("keep_to", &keep_to);
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
    Watcher::get().others_may_write(unwrap(tensor));
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
  module.def("program_ended", [](bool exception, bool blunder, int status, const std::string& text,
                                 nb::handle locals, nb::handle held, nb::handle stack) {
    std::vector<RawFrame> frames;
    for (nb::handle frame : stack) {
      frames.push_back({nb::object(frame[0]).ptr(), nb::cast<int>(frame[1]), nullptr});
    }
    program_ended({exception, blunder, status, text, tensors_in(locals), named_tensors_in(held),
                   past_stack(frames)});
  });
  module.def("storage_number", [](nb::handle tensor) -> std::uint64_t {
    return is_tensor(tensor) ? storage_id(*unwrap(tensor).unsafeGetTensorImpl()).value : 0;
  });
  module.def("error_found", &error_found);
  module.def("stops", &stops);
  module.def("finding_json", &finding_json);
  module.def("finding_text", &finding_text);
  // For bench/: a level, and what was counted since the level was set.
  module.def("check_proofs", [](bool on) { proofs.checked = on; });
  module.def("proofs", [] { return std::pair(proofs.held, proofs.broken); });
  module.def("time_parts", [](int level) {
    timing = level;
    ticks = {};
  });
  module.def("ticks", [] {
    return nb::make_tuple(__rdtsc(),
                          std::vector<std::uint64_t>(ticks.spent.begin(), ticks.spent.end()),
                          std::vector<std::uint64_t>(ticks.times.begin(), ticks.times.end()));
  });
  module.def("counters", [] {
    const Counters counters = Watcher::get().counters();
    return nb::make_tuple(counters.ops, counters.bytes);
  });
  module.def("finish", &finish);
  add_sentinel(module);
}
