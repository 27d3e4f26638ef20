// The parts of nanscope._core.
#pragma once

#include <nanobind/nanobind.h>

namespace nanscope::python {

void add_arrays(nanobind::module_& module);
void add_captures(nanobind::module_& module);
void add_command_line(nanobind::module_& module);
void add_connections(nanobind::module_& module);
void add_findings(nanobind::module_& module);
void add_numpy_log(nanobind::module_& module);
void add_running(nanobind::module_& module);
void add_snapshot(nanobind::module_& module);

}  // namespace nanscope::python
