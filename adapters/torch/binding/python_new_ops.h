// Ops that Python registers while the program runs: Note [Ops that come late].
#pragma once

#include <nanobind/nanobind.h>

namespace nanscope::torch_adapter {

void add_new_ops(nanobind::module_& module);

}  // namespace nanscope::torch_adapter
