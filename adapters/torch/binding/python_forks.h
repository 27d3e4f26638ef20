// Forks, as Python tells of them, and the tests' way to the locks that a fork takes.
#pragma once

#include <nanobind/nanobind.h>

namespace nanscope::torch_adapter {

void add_forks(nanobind::module_& module);

}  // namespace nanscope::torch_adapter
