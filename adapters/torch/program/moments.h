// The moments of a program that no kernel shows: a backward begins and ends, an optimizer
// steps, Python reads a value, the program ends. Called from the Python hooks, with the
// GIL held; each may throw to stop the program.
#pragma once

#include <ATen/core/Tensor.h>

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "adapters/torch/program/frames.h"
#include "adapters/torch/watch/owners.h"
#include "origin/judge.h"

namespace nanscope::torch_adapter {

using Tensors = std::vector<at::Tensor>;
using NamedTensors = std::vector<std::pair<TargetName, at::Tensor>>;

// Could this tensor be bad? A look-up, not a scan, for what a watched op wrote.
[[nodiscard]] bool is_suspect(const at::Tensor& tensor);

// Counts a tensor that matters and cannot be looked into: Note [Tensor subclasses].
void count_hidden(const at::Tensor& tensor);
// Counts leaves and buffers of threads that are still at work: Note [Leaves of other threads].
void count_out_of_reach(std::size_t values);

// How a program ended.
struct End {
  bool exception = false;
  bool blunder = false;  // see Ending
  int status = 0;
  std::string text;
  Tensors locals;
  NamedTensors held;
  StackId stack = 0;  // where the exception was raised
  // See Ending: what ended the program was given these; `memory` is that of others.
  Tensors handed;
  Tensors memory;
  NumberKinds numbers;
  bool left_early = false;
  bool may_have_left_early = false;
  NamedTensors state = {};  // of optimizers: what may be bad
};

class Moments {
 public:
  [[nodiscard]] Judge::RootId backward_begins(const Tensors& roots);
  void backward_ended(Judge::RootId root, const Tensors& roots);
  void backward_raised(Judge::RootId root, const std::string& text);
  void grad_ended(Judge::RootId root, const Tensors& results);

  void optimizer_made(const Tensors& parameters);
  void step_begins(const Tensors& parameters, bool found_inf);
  // `state`: what of the optimizer's own may be bad.
  void step_ended(const NamedTensors& state);
  // A module got this parameter or buffer.
  void value_registered(const at::Tensor& value, Target target);
  // A module has it at the end; perhaps nobody registered it.
  void value_found(const at::Tensor& value, Target target);
  void gradients_dropped(const Tensors& parameters);

  void host_read(const at::Tensor& tensor, bool decides);
  // A tensor is pickled for another process.
  void copied_out(const at::Tensor& tensor);  // pickled, saved
  void handed_over(const at::Tensor& tensor);
  void program_ended(const End& end);

  // Another stretch of the program is watched from here on.
  void forget();
  // The gradients that leaves have now: while nobody touches them, they are not this stretch's.
  void remember_old_gradients();
  void forget_old_gradient(const at::Tensor& gradient);

 private:
  using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
  [[nodiscard]] bool is_old(const at::Tensor& gradient) const;

  // No backward from this line has run on this thread before.
  [[nodiscard]] bool is_first_from(std::uint32_t line);

  // Lines of backward calls, with the threads on which their leaves are known.
  std::unordered_map<std::uint32_t, std::vector<std::weak_ptr<const OwnerThread>>> lines_;
  int ways_ = 0;
  std::deque<WeakTensor> results_;  // of autograd.grad()
  // Gradients that were there when a watch() block began, and their versions.
  std::unordered_map<const c10::TensorImpl*, std::pair<WeakTensor, std::uint32_t>> old_gradients_;
};

}  // namespace nanscope::torch_adapter
