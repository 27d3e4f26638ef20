// The looks of `--mode sentinel`: nothing per op. Once a step the loss, the gradients, the
// parameters, the optimizer's state and the modules' buffers are scanned.
//
// A look that finds something is an alarm, not a verdict: Python answers it by waking a snapshot
// of the process, which runs the same steps again under the exact watch. The moments (a backward
// begins or ends, a step begins or ends) are counted alike in both, so that the snapshot knows how
// far to run, and compares its losses with those of the run.
//
// With the GIL held, like all moments.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapters/torch/watch/world.h"

namespace nanscope::torch_adapter {

enum class SentinelRole : std::uint8_t { kOff, kLooks, kReplays };
extern SentinelRole sentinel_role;
inline bool sentinel_looks() noexcept {
  return __builtin_expect(sentinel_role == SentinelRole::kLooks, 0);
}
inline bool sentinel_replays() noexcept {
  return __builtin_expect(sentinel_role == SentinelRole::kReplays, 0);
}

struct SentinelCounts {
  std::int64_t moments = 0;
  std::int64_t backwards = 0;
  std::int64_t steps = 0;    // of optimizers, skipped ones left out
  std::int64_t healthy = 0;  // steps without anything bad
};
[[nodiscard]] const SentinelCounts& sentinel_counts() noexcept;

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
// `written`: by steps that were not looked at.
[[nodiscard]] Unsettled sentinel_unsettled(const Written& written);

[[nodiscard]] bool is_bad(const at::Tensor& tensor);

// What an alarm is about: empty if all is well.
using Alarm = std::string;

void begin_looks();
// Where the memory lies that snapshots share with the run.
[[nodiscard]] std::uint64_t shared_memory() noexcept;
void end_looks() noexcept;
[[nodiscard]] Alarm look_at_backward_begin(const std::vector<at::Tensor>& roots);
[[nodiscard]] Alarm look_at_backward_end(bool accumulated);
[[nodiscard]] Alarm look_at_step_begin(const std::vector<at::Tensor>& parameters, bool skipped);
// Empty: nobody is to look behind this step.
[[nodiscard]] Alarm look_at_step_end(const Written& written);
// The step is over, and all is well.
void step_looked_at() noexcept;
[[nodiscard]] Alarm look_at_scaler(const at::Tensor& scale);
void look_at_dropped_gradients() noexcept;
void look_at_read(const at::Tensor& tensor);
// A module got this buffer or parameter; while it requires no grad, no optimizer tells of it.
void buffer_made(const at::Tensor& buffer);
// The tensor is about to be exchanged for another.
void let_looks_go_of(const at::Tensor& tensor);

// Tells the judge, which has seen nothing yet, of the steps that went well.
void tell_of_unseen_steps();

// In a snapshot that was woken: the exact watch takes over, up to this moment.
void begin_replay(std::int64_t last_moment);
enum class Moment : std::uint8_t {
  kBackwardBegins,
  kBackwardEnds,
  kStepBegins,
  kStepEnds,
  kScalerUpdates
};
// Counts a moment of the replay, once it is judged; true where it is the last.
[[nodiscard]] bool replay_moment(Moment moment, const std::vector<at::Tensor>& roots = {});

// How far the replay is, and how its losses compare; told by the run or by the replay.
struct Comparison {
  std::int64_t replayed = 0;  // moments
  std::int64_t compared = 0;  // losses
  std::optional<std::int64_t> first_unequal;
  double run = 0;
  double replay = 0;
};
[[nodiscard]] Comparison comparison() noexcept;
void begin_comparison() noexcept;

// When the next snapshot is to be taken: asked at the end of each step.
void next_snapshot_in(double seconds) noexcept;
[[nodiscard]] bool snapshot_due() noexcept;
// The last backward has ended, and no optimizer steps: its end is as good as that of a step.
[[nodiscard]] bool steps_by_hand() noexcept;

// The threads of OpenMP that this thread leads are ended, and made again when they are needed: a
// fork would copy the team without its members. False: they cannot be.
[[nodiscard]] bool pause_openmp() noexcept;

}  // namespace nanscope::torch_adapter
