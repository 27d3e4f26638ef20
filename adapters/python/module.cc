// nanscope._core: the core, for Python. It knows no torch.
//
// One file per subject; each adds its names to the module.

#include "adapters/python/module.h"

#include "cli/cli.h"
#include "report/summary.h"

NB_MODULE(_core, module) {
  nanobind::set_leak_warnings(false);  // stand-ins live as long as the process
  module.doc() = "The core of nanscope.";
  module.attr("__version__") = nanscope::version();
  module.attr("CHILDREN_WITH_ERRORS") = nanscope::kChildrenWithErrors.data();
  nanscope::python::add_arrays(module);
  nanscope::python::add_captures(module);
  nanscope::python::add_command_line(module);
  nanscope::python::add_connections(module);
  nanscope::python::add_findings(module);
  nanscope::python::add_numpy_log(module);
  nanscope::python::add_running(module);
  nanscope::python::add_snapshot(module);
}
