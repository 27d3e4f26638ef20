// A method of Tensor that is noted whenever it is called, at the price of a call.
//
// Adam asks every parameter's counter for its number in each step: what stands there must not be a
// function of Python, nor pack its arguments. Python calls a type with this flag unbound, as it
// does methods of C.
#pragma once

#include <ATen/core/Tensor.h>
#include <nanobind/nanobind.h>

namespace nanscope::torch_adapter {

using Note = void (*)(const at::Tensor& tensor);

// Notes the tensor and then is the original; asked for attributes, it has those of the original.
[[nodiscard]] nanobind::object noted_method(nanobind::object original, Note note);

}  // namespace nanscope::torch_adapter
