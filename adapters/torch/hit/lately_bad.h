// The bad tensors that a thread wrote last, with what was found in them: a mask is read by the next
// op, which need not scan it again.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <optional>

#include "watch/tensor_state.h"

namespace nanscope::torch_adapter {

class LatelyBad {
 public:
  static LatelyBad& of_this_thread();

  void note(const at::Tensor& tensor, const TensorState& state);
  // Nothing if it was written since, or is another part of that memory.
  [[nodiscard]] std::optional<Kinds> kinds_of(const at::Tensor& tensor) const;

 private:
  struct Entry {
    TensorState state;
    std::uint32_t version = 0;
    caffe2::TypeMeta type;
  };
  std::array<Entry, 4> entries_;
  std::size_t next_ = 0;
};

}  // namespace nanscope::torch_adapter
