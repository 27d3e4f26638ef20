// What Python asks of devices other than the CPU.
#pragma once

#include <nanobind/nanobind.h>

namespace nanscope::torch_adapter {

void add_devices(nanobind::module_& module);

}  // namespace nanscope::torch_adapter
