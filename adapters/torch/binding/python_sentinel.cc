#include "adapters/torch/binding/python_sentinel.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "adapters/torch/binding/adapter.h"
#include "adapters/torch/session/story.h"
#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

Written written_by(const SteppedOptimizers::Optimizers& optimizers) {
  Written written;
  for (const nb::object& optimizer : optimizers) {
    for (at::Tensor& parameter : parameters_of(optimizer))
      written.parameters.push_back(std::move(parameter));
    add_state_of(optimizer, written.state);
  }
  return written;
}

}  // namespace

void answer(const Alarm& alarm) {
  if (alarm.empty()) return;
  const nb::object exception = Adapter::get().questions().on_alarm(alarm);
  if (!exception.is_none()) Watcher::get().stopping().raise(exception.ptr());
}

void snapshot_if_due() {
  if (sentinel().snapshot_due()) Adapter::get().questions().on_due();
}

Alarm look_at_written(nb::handle optimizer) {
  SteppedOptimizers& stepped = Adapter::get().stepped_optimizers();
  return sentinel().look_at_step_end(
      written_by(stepped.to_look_at(optimizer, sentinel().snapshot_due())));
}

void add_sentinel(nb::module_& module) {
  module.def("begin_looks", [](nb::object alarm, nb::object due, nb::object last) {
    Adapter::get().ask({std::move(alarm), std::move(due), std::move(last)});
    Adapter::get().stepped_optimizers().clear();
    sentinel().begin_looks();
  });
  module.def("end_looks", [] { sentinel().end_looks(); });
  module.def("sentinel_memory", [] { return sentinel().shared_memory(); });
  module.def("next_snapshot_in", [](double seconds) { sentinel().next_snapshot_in(seconds); });
  module.def("snapshot_due", [] { return sentinel().snapshot_due(); });
  module.def("pause_openmp", &pause_openmp);
  module.def("sentinel_counts", [] {
    const SentinelCounts& counts = sentinel().counts();
    return nb::make_tuple(counts.moments, counts.backwards, counts.steps);
  });
  module.def("sentinel_unsettled", [] {
    const Unsettled unsettled =
        sentinel().unsettled(written_by(Adapter::get().stepped_optimizers().alive()));
    return nb::make_tuple(unsettled.loss, unsettled.gradient, unsettled.read);
  });
  module.def("holds_unexplained", [](const nb::list& optimizers) {
    SteppedOptimizers::Optimizers all;
    for (nb::handle optimizer : optimizers) all.push_back(nb::borrow(optimizer));
    return sentinel().holds_unexplained(written_by(all));
  });
  module.def("buffers_explained", [] { sentinel().buffers_explained(); });
  // The judge goes on counting where the looks are; what happened before is not watched.
  // `missed`: the value that gave the alarm was made unwatched.
  module.def(
      "take_over",
      [](bool missed) {
        made_before_the_watch(missed);
        Watcher::get().history().forget_samples();
        const WithoutGil without_gil;
        sentinel().report_unseen_steps();
      },
      nb::arg("missed") = false);
  module.def("begin_replay",
             [](std::int64_t last_moment) { sentinel().begin_replay(last_moment); });
  module.def("begin_comparison", [] { sentinel().begin_comparison(); });
  module.def("comparison", [] {
    const Comparison now = sentinel().comparison();
    return nb::make_tuple(now.replayed, now.compared, now.first_unequal, now.run, now.replay);
  });
  module.def("any_bad", [](nb::handle tensors) {
    for (const at::Tensor& tensor : tensors_in(tensors)) {
      if (is_bad(tensor)) return true;
    }
    return false;
  });
}

}  // namespace nanscope::torch_adapter
