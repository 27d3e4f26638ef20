// The moments Python hooks tell of: backward, steps, reads, tensors put into modules.
#pragma once

#include <nanobind/nanobind.h>

namespace nanscope::torch_adapter {

void add_moments(nanobind::module_& module);

}  // namespace nanscope::torch_adapter
