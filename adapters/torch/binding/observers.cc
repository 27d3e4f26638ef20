#include "adapters/torch/binding/observers.h"

#include "adapters/torch/binding/adapter.h"
#include "adapters/torch/binding/python_sentinel.h"
#include "adapters/torch/interpose/device_kernels.h"
#include "adapters/torch/interpose/install.h"
#include "adapters/torch/interpose/trampoline.h"
#include "adapters/torch/program/forewarn.h"
#include "adapters/torch/program/frames.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

using Duty = Sentinel::Duty;

Moments& moments() { return Adapter::get().moments(); }
Undoing& undoing() { return Adapter::get().undoing(); }

// A moment is told after the ops that ran before it: Note [The window].
void settle() {
  Watcher::get().window().settle();
  Watcher::get().stopping().stop_if_wanted();
}

nb::object call_engine(Backward& backward) {
  backward.timed.reset();
  return call(Adapter::get().originals().engine, backward.args, backward.kwargs);
}

// A quiet moment: ops that came since are wrapped, and the steps that were asked for may be done.
void between_steps() {
  Watcher& watcher = Watcher::get();
  if (watcher.new_ops().has_new_libraries())
    wrap_unnoticed_kernels(watcher.new_ops(), watcher.other_devices(), /*called=*/true);
  count_kernels_of_new(watcher.other_devices());
  if (watcher.new_ops().any()) sweep(watcher.new_ops(), watcher.other_devices());
  watcher.stopping().stop_after_steps(watcher.judge().current_step());
}

class ExactObserver : public Observer {
 public:
  [[nodiscard]] bool is_on() const override { return true; }

  nb::object run_backward(Backward& backward) const override {
    const Tensors& roots = backward.roots;
    const Judge::RootId root = guarded([&] {
      settle();
      undoing().backward_begins(roots);
      if (backward.accumulates) watch_headroom(roots);
      return moments().backward_begins(roots);
    });
    judged(Moment::kBackwardBegins, roots);
    nb::object result;
    try {
      const BackwardCalls::Running running(Watcher::get().backward_calls(), current_stack(),
                                           this_thread().allowed_by());
      result = call_engine(backward);
    } catch (nb::python_error& error) {
      guarded([&] {
        settle();
        moments().backward_raised(root, words_of(error));
      });
      throw;
    }
    guarded([&] {
      const Timed timed(Part::kMoment);
      const OwnTime::Whole whole(this_thread().own_time());
      settle();
      if (backward.accumulates) {
        moments().backward_ended(root, roots);
      } else {
        moments().grad_ended(root, result.is_none() ? Tensors{} : tensors_in(result));
      }
      between_steps();
    });
    judged(Moment::kBackwardEnds);
    return result;
  }

  void step_begins(nb::handle optimizer) const override {
    const Tensors parameters = parameters_of(optimizer);
    guarded([] { settle(); });
    {
      const Timed<2> timed(Part::kHistory);
      Watcher& watcher = Watcher::get();
      watch_growth(watcher.history().step_seen(parameters, learning_rate_of(optimizer),
                                               watcher.judge().current_step()));
    }
    guarded([&] {
      if (Watcher::get().ledger().empty()) Watcher::get().window().reopen();
      undoing().step_begins(parameters);
      moments().step_begins(parameters, skips(optimizer));
      undoing().step_judged(parameters);
    });
    judged(Moment::kStepBegins);
  }

  void step_ended(nb::handle optimizer) const override {
    Watcher::get().history().step_done();
    guarded([&] {
      Adapter::get().stepped_optimizers().note(optimizer);
      settle();
      const NamedTensors state =
          Watcher::get().ledger().empty() ? NamedTensors{} : suspects_in_state(optimizer);
      moments().step_ended(state);
      undoing().step_ended(undoing().is_open() ? parameters_of(optimizer) : Tensors{}, state);
      between_steps();
    });
    judged(Moment::kStepEnds);
  }

  void gradients_dropped(nb::handle optimizer) const override {
    guarded([] { settle(); });
    if (!Watcher::get().judge().awaits_gradients()) return;
    guarded([&] { moments().gradients_dropped(parameters_of(optimizer)); });
  }

  void printed(const at::Tensor& tensor) const override {
    guarded([&] {
      settle();
      moments().host_read(tensor, false);
    });
  }
  void host_read(const at::Tensor& tensor) const override {
    guarded([&] {
      settle();
      moments().host_read(tensor, true);
    });
  }
  void copied_out(const at::Tensor& tensor) const override {
    guarded([&] {
      settle();
      moments().copied_out(tensor);
    });
  }
  void lent(const at::Tensor& tensor) const override {
    host_read(tensor);
    if (!this_thread().is_busy() && tensor.has_storage())
      Watcher::get().storages().lend(tensor.storage());
  }
  void address_given(const c10::Storage& storage) const override {
    if (!this_thread().is_busy()) Watcher::get().storages().address_given(storage);
  }
  void handed_over(const at::Tensor& tensor) const override {
    guarded([&] {
      settle();
      moments().handed_over(tensor);
    });
  }

 protected:
  // The judge has seen this moment.
  virtual void judged(Moment moment, const Tensors& roots = {}) const {
    (void)moment;
    (void)roots;
  }
};

class ReplayingObserver final : public ExactObserver {
 public:
  void scaler_updates(const at::Tensor&) const override { judged(Moment::kScalerUpdates); }

 protected:
  // Does not return from the last moment of the replay.
  void judged(Moment moment, const Tensors& roots = {}) const override {
    if (sentinel().replay_moment(moment, roots)) Adapter::get().questions().on_replayed();
  }
};

// Who judges where ops are watched.
const ExactObserver& judging() {
  static const ExactObserver exact;
  static const ReplayingObserver replaying;
  return sentinel().duty() == Duty::kReplays ? replaying : exact;
}

// Looks first; where ops are watched after that, the judging one goes on.
class LookingObserver final : public Observer {
 public:
  [[nodiscard]] bool is_on() const override { return true; }

  nb::object run_backward(Backward& backward) const override {
    if (still_looks()) guarded([&] { undoing().backward_begins(backward.roots); });
    answer(sentinel().look_at_backward_begin(backward.roots));
    if (watching) return judging().run_backward(backward);
    nb::object result = call_engine(backward);
    const Timed timed(Part::kMoment);
    const bool gives = !backward.accumulates && !result.is_none();
    const Tensors results = gives ? tensors_in(result) : Tensors{};
    sentinel().look_at_results(results);
    const Alarm alarm = sentinel().look_at_backward_end(backward.accumulates);
    answer(alarm);
    if (alarm.empty() && may_end_a_step() && !sentinel().left_bad_gradients(results))
      snapshot_if_due();
    return result;
  }

  void step_begins(nb::handle optimizer) const override {
    const Tensors parameters = parameters_of(optimizer);
    guarded([&] { undoing().step_begins(parameters); });
    const bool skipped = skips(optimizer);
    const Alarm alarm = sentinel().look_at_step_begin(parameters, skipped);
    if (alarm.empty() && !skipped) undoing().healthy_step_seen();
    answer(alarm);
    if (watching) return judging().step_begins(optimizer);
    guarded([&] { undoing().step_judged(parameters); });
    Watcher& watcher = Watcher::get();
    watcher.history().step_counted(
        parameters, [&] { return learning_rate_of(optimizer); }, watcher.judge().current_step());
  }

  void step_ended(nb::handle optimizer) const override {
    Watcher::get().history().step_done();
    const Alarm alarm = look_at_written(optimizer);
    answer(alarm);
    if (watching) return judging().step_ended(optimizer);
    guarded([&] { end_step_of_open_harm(optimizer); });
    sentinel().step_looked_at();
    if (alarm.empty()) snapshot_if_due();
    if (still_looks())
      guarded([] { Watcher::get().stopping().stop_after_steps(sentinel().counts().steps); });
  }

  void gradients_dropped(nb::handle optimizer) const override {
    sentinel().look_at_dropped_gradients();
    if (watching) judging().gradients_dropped(optimizer);
  }
  void scaler_updates(const at::Tensor& scale) const override {
    const Alarm alarm = sentinel().look_at_scaler(scale);
    answer(alarm);
    if (alarm.empty() && may_end_a_step()) snapshot_if_due();  // each step so far was skipped
  }
  void value_registered(const at::Tensor& value, Target target, Former former) const override {
    Observer::value_registered(value, target, former);
    sentinel().buffer_made(value, former);
  }
  Former former_of(const at::Tensor& value) const override { return sentinel().former_of(value); }
  void value_found(const at::Tensor& value, Target target) const override {
    Observer::value_found(value, target);
    sentinel().buffer_found(value);
  }

  // In a program that trains, printing is no harm.
  void printed(const at::Tensor& tensor) const override {
    if (watching) judging().printed(tensor);
    if (sentinel().counts().backwards == 0) sentinel().look_at_read(tensor);
  }
  void host_read(const at::Tensor& tensor) const override {
    sentinel().look_at_read(tensor);
    if (watching) judging().host_read(tensor);
  }
  void number_read(const at::Tensor& tensor) const override { sentinel().look_at_read(tensor); }
  void copied_out(const at::Tensor& tensor) const override {
    if (watching) judging().copied_out(tensor);
  }
  // A replay that begins later must know whose memory is in other hands.
  void lent(const at::Tensor& tensor) const override {
    sentinel().look_at_read(tensor);
    if (watching) return judging().lent(tensor);
    if (!this_thread().is_busy() && tensor.has_storage())
      Watcher::get().storages().lend(tensor.storage());
  }
  void address_given(const c10::Storage& storage) const override {
    judging().address_given(storage);
  }
  void handed_over(const at::Tensor& tensor) const override {
    if (watching) judging().handed_over(tensor);
  }

 private:
  static void end_step_of_open_harm(nb::handle optimizer) {
    NamedTensors state;
    if (undoing().is_open()) {
      Tensors all;
      add_state_of(optimizer, all);
      for (const at::Tensor& tensor : all) state.push_back({TargetName{}, tensor});
    }
    undoing().step_ended(undoing().is_open() ? parameters_of(optimizer) : Tensors{}, state);
  }
  // The answer to an alarm, or a snapshot that was woken, may have ended the looks.
  static bool still_looks() { return sentinel().duty() == Duty::kLooks; }
  // A snapshot is due, and no end of an optimizer's step will come for it.
  static bool may_end_a_step() {
    return still_looks() && sentinel().steps_by_hand() && sentinel().snapshot_due();
  }
};

}  // namespace

nb::object Observer::run_backward(Backward& backward) const { return call_engine(backward); }

void Observer::value_registered(const at::Tensor& value, Target target, Former) const {
  guarded([&] { moments().value_registered(value, target); });
}

void Observer::value_found(const at::Tensor& value, Target target) const {
  guarded([&] { moments().value_found(value, target); });
}

const Observer& observer() {
  static const Observer nobody;
  static const LookingObserver looking;
  if (__builtin_expect(sentinel().duty() == Duty::kLooks, 0)) return looking;
  return watching ? judging() : nobody;
}

}  // namespace nanscope::torch_adapter
