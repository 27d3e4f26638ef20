// Note [Sentinel]
// `--mode sentinel` watches no op. Once a step it scans what is there: the loss, the gradients and
// the modules' buffers. Parameters and the optimizer's state take three or four times as long to
// read: they are scanned behind the first steps of an optimizer, then behind every eighth, before a
// snapshot and at the end (stepped_optimizers.h). That costs little and says that something broke
// in this step, or since the last look, not what or where.
//
// What and where is found by running the step again. Every few minutes the process forks: the
// child is a snapshot, a waiting copy of the process that costs only the pages which change. A look
// that finds something bad is an alarm, not a verdict: Python answers it by waking the last
// snapshot, which switches the exact watch on and runs the same steps once more, as the program it
// is, until the error is found or the moment of the alarm is passed. The first is the answer, with
// op, line and evidence; after the second the run goes on.
//
// So that the snapshot knows how far to run, both count the same moments: a backward begins or
// ends, a step begins or ends, a loss scaler updates. And so that nobody is misled by a replay that
// took another way, the losses of the run lie in memory which both share, and the replay compares
// its own with them.
//
// What is bad and harmless here: a loss whose gradients are thrown away, a step that the loss
// scaler skips, a buffer that was made with -inf. Where a program writes its updates by hand, no
// step is seen: then the leaves behind the loss are looked at when a backward begins. Without a
// snapshot (threads, another device) the exact watch is switched on at the alarm, and what was made
// before it is said to be unwatched.
//
// With the GIL held, like all moments.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "adapters/torch/watch/owners.h"
#include "adapters/torch/watch/world.h"

namespace nanscope::torch_adapter {

struct SentinelCounts {
  std::int64_t moments = 0;
  std::int64_t backwards = 0;
  std::int64_t steps = 0;    // of optimizers, skipped ones left out
  std::int64_t healthy = 0;  // steps without anything bad
};
// What optimizers wrote.
struct Written {
  std::vector<at::Tensor> parameters;
  std::vector<at::Tensor> state;
};

// What waits for the end of the program, as far as it can be seen without watching ops.
struct Unsettled {
  bool loss = false;  // a bad loss, and no healthy step since
  bool gradient = false;
  bool read = false;  // the host read something bad
};
[[nodiscard]] bool is_bad(const at::Tensor& tensor);

// What a parameter or buffer was that is about to be exchanged for another value.
enum class Former : std::uint8_t { kNone, kFinite, kBad };

// What an alarm is about: empty if all is well.
using Alarm = std::string;

enum class Moment : std::uint8_t {
  kBackwardBegins,
  kBackwardEnds,
  kStepBegins,
  kStepEnds,
  kScalerUpdates
};

// How far a replay is, and how its losses compare; asked by the run or by the replay.
struct Comparison {
  std::int64_t replayed = 0;  // moments
  std::int64_t compared = 0;  // losses
  std::optional<std::int64_t> first_unequal;
  double run = 0;
  double replay = 0;
};

class Sentinel {
 public:
  enum class Duty : std::uint8_t { kOff, kLooks, kReplays };
  [[nodiscard]] Duty duty() const noexcept { return duty_; }
  [[nodiscard]] const SentinelCounts& counts() const noexcept { return counts_; }

  void begin_looks();
  void end_looks() noexcept { duty_ = Duty::kOff; }

  // ---- looks
  [[nodiscard]] Alarm look_at_backward_begin(const std::vector<at::Tensor>& roots);
  [[nodiscard]] Alarm look_at_backward_end(bool accumulated);
  // What autograd.grad() gave: a loss that is computed of it may be bad by its scale alone.
  void look_at_results(const std::vector<at::Tensor>& results);
  // What a backward left is bad already: a replay from here on could not tell why.
  [[nodiscard]] bool left_bad_gradients(const std::vector<at::Tensor>& results) const;
  [[nodiscard]] Alarm look_at_step_begin(const std::vector<at::Tensor>& parameters, bool skipped);
  // Empty: nobody is to look behind this step.
  [[nodiscard]] Alarm look_at_step_end(const Written& written);
  // The step is over, and all is well.
  void step_looked_at() noexcept { counts_.steps += step_skipped_ ? 0 : 1; }
  [[nodiscard]] Alarm look_at_scaler(const at::Tensor& scale);
  void look_at_dropped_gradients() noexcept { loss_since_step_ = false; }
  void look_at_read(const at::Tensor& tensor);
  // What waits for the end; `written`: by steps that were not looked at.
  [[nodiscard]] Unsettled unsettled(const Written& written);

  // A parameter, a buffer or what was written is bad, and the exact watch knows nothing of it: no
  // op that it saw made that. Masks are left out.
  [[nodiscard]] bool holds_unexplained(const Written& written);
  // A replay knew all that is bad now, and found no harm in it. The end asks again, but for masks.
  void buffers_explained();

  // A module got this buffer or parameter; while it requires no grad, no optimizer shows it.
  // `former`: what it takes the place of. A new one is left alone if it is a mask, -Inf and finite
  // numbers; what has taken the place of something bad, too.
  void buffer_made(const at::Tensor& buffer, Former former = Former::kNone);
  // What the last look found, if there was one.
  [[nodiscard]] Former former_of(const at::Tensor& value) const;
  // A module has it at the end. If nobody told of it, nobody has looked at it.
  void buffer_found(const at::Tensor& buffer);
  // The tensor is about to be exchanged for another.
  void let_go_of(const at::Tensor& tensor);

  // The judge, which has seen nothing yet, learns of the steps that went well.
  void report_unseen_steps() const;

  // ---- replays
  // In a snapshot that was woken: the exact watch takes over, up to this moment.
  void begin_replay(std::int64_t last_moment);
  // Counts a moment of the replay, once it is judged; true where it is the last.
  [[nodiscard]] bool replay_moment(Moment moment, const std::vector<at::Tensor>& roots = {});
  [[nodiscard]] Comparison comparison() const noexcept;
  void begin_comparison() noexcept;
  // Where the memory lies that snapshots share with the run.
  [[nodiscard]] std::uint64_t shared_memory() const noexcept;

  // ---- snapshots: when the next is to be taken, asked at the end of each step.
  void next_snapshot_in(double seconds) noexcept;
  [[nodiscard]] bool snapshot_due() const noexcept { return Clock::now() >= next_snapshot_; }
  // No optimizer has stepped since the last backward: an update is written by hand, if any, and
  // the end of a backward is as good as that of a step.
  [[nodiscard]] bool steps_by_hand() const noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  struct Buffer {
    WeakTensor tensor;
    std::uint64_t version = 0;  // and where it lies
    bool was_bad = false;       // a mask, or what has been looked into already
    Owner owner;
    bool turned = false;     // bad, and was finite before: asked about again at the end
    bool explained = false;  // a replay knew who made it so
  };
  struct Shared;
  void write_loss(double loss);
  void compare_loss(double loss);
  void find_leaves(const std::vector<at::Tensor>& roots);
  [[nodiscard]] bool any_leaf_bad() const;
  // `all`: also large ones that look untouched.
  [[nodiscard]] bool any_buffer_turned_bad(bool all = false);

  Duty duty_ = Duty::kOff;
  SentinelCounts counts_;
  Unsettled unsettled_;
  bool step_skipped_ = false;
  bool loss_since_step_ = false;  // a bad one, whose gradients were not thrown away
  // A NaN loss, which no scaling of a finite one gives: waits for the scaler's update, and then for
  // the next moment, when the exact watch has judged that.
  bool nan_loss_ = false;
  bool nan_loss_skipped_ = false;
  bool bad_results_ = false;  // of autograd.grad(), since the last step or skip
  std::int64_t backwards_at_step_ = 0;
  std::int64_t last_moment_ = 0;
  std::vector<WeakTensor> leaves_;  // of programs whose updates are written by hand
  std::unordered_map<const c10::TensorImpl*, Buffer> buffers_;
  Shared* shared_ = nullptr;
  Clock::time_point next_snapshot_ = Clock::time_point::max();
};

// The threads of OpenMP that this thread leads are ended, and made again when they are needed: a
// fork would copy the team without its members. False: they cannot be.
[[nodiscard]] bool pause_openmp() noexcept;

}  // namespace nanscope::torch_adapter
