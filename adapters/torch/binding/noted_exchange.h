// Tensors that libraries in C take without asking Python: DLPack's table of functions.
#pragma once

#include <nanobind/nanobind.h>

namespace nanscope::torch_adapter {

// A capsule like torch's own, whose functions tell that a tensor's address is given before they
// give it. What is no such capsule comes back as it is.
[[nodiscard]] nanobind::object noted_exchange(nanobind::object capsule);

}  // namespace nanscope::torch_adapter
