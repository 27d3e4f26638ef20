#include "adapters/torch/binding/python_sentinel.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/program/history.h"
#include "adapters/torch/sentinel/stepped_optimizers.h"
#include "adapters/torch/sentinel/unseen_steps.h"
#include "adapters/torch/session/session.h"
#include "adapters/torch/session/story.h"

namespace nanscope::torch_adapter {
namespace {

// What the sentinel asks of Python.
nb::object* on_alarm = nullptr;     // given what is bad; the exception to raise, or None
nb::object* on_due = nullptr;       // takes a snapshot: returns in it too, once it is woken
nb::object* on_replayed = nullptr;  // the last moment of a replay; does not return

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

// A loss scaler is about to change its scale. One below 1 has been halved again and again.
void scaler_updates(nb::handle scaler, const nb::args&) {
  if (!sentinel_looks() && !sentinel_replays()) return;
  const nb::object scale = nb::getattr(scaler, "_scale", nb::none());
  if (!is_tensor(scale) || has_no_values(unwrap(scale))) return;
  if (sentinel_replays()) return replayed(Moment::kScalerUpdates);
  answer(look_at_scaler(unwrap(scale)));
}

}  // namespace

void answer(const Alarm& alarm) {
  if (alarm.empty()) return;
  const nb::object exception = (*on_alarm)(alarm);
  if (!exception.is_none()) raise_stop(exception.ptr());
}

void snapshot_if_due() {
  if (snapshot_due()) (*on_due)();
}

void replayed(Moment moment, const Tensors& roots) {
  if (replay_moment(moment, roots)) (*on_replayed)();
}

Alarm look_at_written(nb::handle optimizer) {
  return look_at_step_end(written_by(stepped_optimizers().to_look_at(optimizer, snapshot_due())));
}

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

}  // namespace nanscope::torch_adapter
