// A harm that the program undoes: a learning-rate range test, a rollback on NaN.
//
// Note [Undone harm]
// A parameter, a buffer or an optimizer's state went bad: the error is on disk at once. But the
// program may have meant it, and put a good state back. So it is not stopped there, but at the next
// backward or step that uses what is still spoilt. If by then all of it was overwritten, the error
// is withdrawn to a note, and the watch goes on. How the good state came there does not matter:
// the values are looked at, and nothing else.
//
//   spoilt      not finite; or finite, and written by a step that used gradients of a loss that was
//               not: such a tensor is known by a fingerprint of its values
//   put back    spoilt then, and now finite and with other values
//   thrown away the parameter is gone (a trial of a search that diverged). That undoes the harm
//               only in a program whose source tests for NaN or Inf, once healthy steps followed.
//               An optimizer's state that is gone was replaced
//
// A program whose source tests for NaN or Inf may use the bad state until it comes to its test (the
// loss is tested after its backward, or once in an epoch): for as many backwards as it has had
// steps, but at least 250 and at most 1000.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "adapters/torch/program/moments.h"
#include "adapters/torch/watch/world.h"

namespace nanscope::torch_adapter {

// With the GIL held; what uses a bad state is stopped by an exception.
class Undoing {
 public:
  void backward_begins(const Tensors& roots);
  // Before the judge sees the step, and after.
  void step_begins(const Tensors& parameters);
  void step_judged(const Tensors& parameters);
  void step_ended(const Tensors& parameters, const NamedTensors& state);
  void program_ended();
  // In --mode sentinel nobody else counts them.
  void healthy_step_seen() noexcept { ++healthy_looks_; }
  [[nodiscard]] bool is_open();  // also takes in what others have found spoilt

 private:
  struct Spoilt {
    WeakTensor tensor;
    std::optional<std::uint64_t> print;  // finite, but computed from what was not
    bool of_optimizer = false;           // its state, and no parameter or buffer
  };
  struct Look {
    Tensors still;  // spoilt
    bool died = false;
  };
  [[nodiscard]] std::int64_t healthy_steps() const;
  void add(const at::Tensor& tensor, std::optional<std::uint64_t> print, bool of_optimizer = false);
  [[nodiscard]] Look look() const;
  // Withdraws the error if all is undone.
  [[nodiscard]] bool settle(const Look& now);
  [[nodiscard]] bool is_expected();
  // Stops the program, or lets it come to its test.
  void use(bool by_backward);

  std::uint64_t group_ = 0;  // the harm that is open
  std::vector<Spoilt> spoilt_;
  std::unordered_map<const c10::TensorImpl*, std::uint64_t> before_;  // prints of this step
  std::uint64_t harms_before_ = 0;
  bool step_spoils_ = false;
  std::int64_t healthy_before_ = 0;
  std::int64_t healthy_looks_ = 0;
  std::int64_t uses_ = 0;
  std::optional<bool> expected_;
};

}  // namespace nanscope::torch_adapter
