// The arguments of one call as ceilings and signs: what the rules of Note [Rule M] reckon with.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>

#include "adapters/torch/interpose/wrapper.h"
#include "scan/ceiling.h"
#include "watch/tensor_state.h"

namespace nanscope::torch_adapter {

// What is known of a tensor that goes in.
[[nodiscard]] Extent known_extent(const at::Tensor& tensor);
// Its kinds are read from memory only where nothing is known of it.
[[nodiscard]] TensorState state_by_extent(const at::Tensor& tensor);

// Weights and an optimizer's state live long, and every later proof stands on them.
inline constexpr int kHighestOfUpdated = 8;

class Operands {
 public:
  Operands(const Wrapper& wrapper, const Call& call, int output)
      : output(output), wrapper_(wrapper), call_(call) {}

  const int output;      // which result is asked about
  bool updates = false;  // memory whose ceiling is low, and shall stay so

  // Whether something that was asked for has no ceiling: then nothing is proved.
  [[nodiscard]] bool lacks_one() const { return lacks_one_; }

  // --- tensors. An absent one adds nothing.
  int operator[](std::size_t argument) const;
  Sign sign(std::size_t argument) const;
  bool same(std::size_t one, std::size_t other) const;
  // The only element; NaN if there are more.
  double element(std::size_t argument) const;
  // Scanned, if the ceiling is above what is `enough`: the exact one serves others after this call.
  int exact(std::size_t argument, int enough) const;
  // What goes into an update.
  int other(std::size_t argument) const;
  // For products of several: never below one, so that a product of fewer is bounded too. An
  // absent weight is one.
  int factor(std::size_t argument) const;
  // The largest of all tensors and numbers; never below that of pi, which bounds tanh, erfc, atan
  // and samples.
  int largest() const;

  // --- what a sum adds to the ceiling of its terms: over all elements, along one dimension, over
  // all the others, over the dimensions in a list of sizes.
  int terms(std::size_t argument) const;
  int terms_along(std::size_t argument, std::int64_t dim) const;
  int terms_across(std::size_t argument, std::int64_t dim) const;
  int terms_in(std::size_t argument) const;

  // --- numbers
  int times(std::size_t argument) const;
  double number(std::size_t argument) const;
  // NaN if the tensor is not a Python number.
  double wrapped_number(std::size_t argument) const;
  std::int64_t whole_number(std::size_t argument) const;
  bool flag(std::size_t argument) const;
  bool has_empty_windows() const;

 private:
  int noted(int ceiling) const;
  const at::Tensor* tensor_at(std::size_t argument) const;

  const Wrapper& wrapper_;
  const Call& call_;
  mutable bool lacks_one_ = false;
};

}  // namespace nanscope::torch_adapter
