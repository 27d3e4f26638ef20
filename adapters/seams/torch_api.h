// Torch's C++ interface where it differs between 2.7 and 2.15: here and nowhere else.
//
// The differences are found by asking the types, not by version numbers: a torch that is not
// released yet falls on one side or the other, or does not compile.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/boxing/KernelFunction.h>
#include <c10/core/Scalar.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/function.h>

#include <memory>
#include <optional>
#include <type_traits>

namespace nanscope::torch_adapter {

// Autograd's nodes are owned by shared_ptr up to 2.12, by intrusive_ptr from 2.13 on.
using NodePtr = decltype(torch::autograd::Edge::function);

// A template, so that the branch that this torch does not have is never looked at.
template <class Pointer = NodePtr>
[[nodiscard]] Pointer shared(typename Pointer::element_type* node) {
  if constexpr (requires { Pointer::reclaim_copy(node); }) {
    return Pointer::reclaim_copy(node);
  } else {
    return node->shared_from_this();
  }
}

// A node that lives only as long as the program needs it.
using WeakNode = std::conditional_t<std::is_same_v<NodePtr, std::shared_ptr<torch::autograd::Node>>,
                                    std::weak_ptr<torch::autograd::Node>,
                                    c10::weak_intrusive_ptr<torch::autograd::Node>>;

// `Scalar::isUnsigned` came with 2.9.
[[nodiscard]] inline bool is_unsigned(const c10::Scalar& scalar) {
  return scalar.type() == at::kUInt64;
}

// Whether the program captures a graph on the device's current stream: nothing may wait for it
// then. An older torch cannot say so of all devices; there nobody but PrivateUse1 is waited for.
template <class Guard = c10::impl::VirtualGuardImpl>
[[nodiscard]] bool captures_graph(c10::Device device) {
  if constexpr (requires(const Guard& guard, c10::Stream stream) {
                  guard.isStreamCapturing(stream);
                }) {
    const Guard guard(device.type());
    return guard.isStreamCapturing(guard.getStream(device));
  } else {
    return device.type() != c10::DeviceType::PrivateUse1;
  }
}

// The current stream of the device, as its own library calls it; nothing in an older torch.
template <class Guard = c10::impl::VirtualGuardImpl>
[[nodiscard]] std::optional<void*> stream_handle(c10::Device device) {
  if constexpr (requires(const Guard& guard, c10::Stream stream) {
                  guard.getStreamNativeHandle(stream);
                }) {
    const Guard guard(device.type());
    return guard.getStreamNativeHandle(guard.getStream(device));
  } else {
    return std::nullopt;
  }
}

// What interposition leans on beside the types of signature.cc: a functor is a reference-counted
// object of two words (a wrapper's own members begin behind them), tensors are one pointer, and
// an autograd edge gives its node.
static_assert(sizeof(c10::OperatorKernel) == 2 * sizeof(void*));
static_assert(sizeof(at::Tensor) == sizeof(void*));
static_assert(std::is_base_of_v<c10::intrusive_ptr_target, c10::OperatorKernel>);
static_assert(std::is_same_v<decltype(*std::declval<NodePtr>()), torch::autograd::Node&>);

}  // namespace nanscope::torch_adapter
