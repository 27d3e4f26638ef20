// The last training steps in six numbers each: what tells a divergence from a bad batch.
//
// Note [History]
// A NaN is often the end of a story that began many steps before: the loss climbs, the gradient
// norm doubles with every step, the updates outgrow the weights, the loss scale has been halved
// again and again. A finding shows that story, and the diagnosis reads it: a norm that grew for
// ten steps is a divergence, one that was flat until the last step is a bad batch.
//
// So for each optimizer the first 4 and the last 28 steps are kept: loss, gradient norm, largest
// parameter, update ratio (how far the weights moved, by their own size), learning rate and loss
// scale. They are taken once a step, before the optimizer acts. Of each gradient and parameter only
// a fixed sample is read (at most 256 elements, a large tensor in 8 stretches of 16), scaled up to
// the whole: the cost stays far below that of the step whatever the size of the model, and the
// same places are read each time, so that steps can be compared. The update is the difference to
// the sample of the step before. An optimizer is known by its first parameter. While nobody
// watches (sentinel) only the first steps are sampled, and the others counted.
//
// With the GIL held, like all moments; the loss scale alone is written by an op on any thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "records/step.h"

namespace nanscope::torch_adapter {

// A weight that an optimizer was given, as it stands now against its beginning.
struct Weight {
  at::Tensor tensor;
  std::int64_t steps = 0;  // those that are done
  bool changed = true;
};

class History {
 public:
  void loss_seen(const std::vector<at::Tensor>& roots);
  void loss_scale_seen(double scale) noexcept { scale_ = scale; }
  void weights_known(const std::vector<at::Tensor>& parameters);  // an optimizer was made
  // The last steps of this optimizer, this one included.
  const std::deque<StepRecord>& step_seen(const std::vector<at::Tensor>& parameters,
                                          std::optional<double> learning_rate, std::int64_t step);

  // A step that nobody watches; its numbers are taken only for the first few.
  void step_counted(const std::vector<at::Tensor>& parameters,
                    const std::function<std::optional<double>()>& learning_rate, std::int64_t step);
  // The step that began last is done.
  void step_done() noexcept { under_way_ = nullptr; }
  // Steps went by unseen: the next change of a weight is not that of one step.
  void forget_samples();

  // The tensor is about to be exchanged for another: whose optimizer it was begins anew.
  void let_go_of(const at::Tensor& tensor);
  // Another stretch of the program is watched from here on.
  void forget();

  // The first few and the last steps of the optimizer that stepped last, and the one under way.
  [[nodiscard]] std::vector<StepRecord> so_far(std::int64_t step) const;
  // The largest |gradient| of each parameter of that optimizer, in their order; those without one
  // are left out.
  [[nodiscard]] std::vector<double> gradients_now() const;
  [[nodiscard]] std::vector<Weight> trained_weights() const;

 private:
  using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
  // One parameter: its sample at the last step, and what all of it was at the first.
  struct Kept {
    WeakTensor tensor;
    std::vector<float> last;
    std::uint64_t first_hash = 0;
  };
  struct Optimizer {
    std::vector<Kept> parameters;
    std::vector<StepRecord> first;
    std::deque<StepRecord> last;
    std::int64_t steps = 0;
  };
  struct Sums;
  static void add_parameter(const at::Tensor& parameter, Kept& kept, Sums& sums);
  static void keep(Optimizer& optimizer, const StepRecord& record);
  // Null where too many are known.
  Optimizer* optimizer_of(const std::vector<at::Tensor>& parameters);
  [[nodiscard]] std::optional<double> loss_scale() const;

  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::unordered_map<const c10::TensorImpl*, Optimizer> optimizers_;  // by the first parameter
  const c10::TensorImpl* latest_ = nullptr;
  const c10::TensorImpl* under_way_ = nullptr;  // whose step has begun and is not done
  std::optional<double> loss_;
  std::atomic<double> scale_{kUnknown};
};

}  // namespace nanscope::torch_adapter
