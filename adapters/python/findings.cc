// A finding that Python put together from what NumPy reports: diagnosed and shown like any other.

#include "adapters/python/module.h"
#include "adapters/python/read_finding.h"
#include "report/json.h"
#include "report/text.h"

namespace nb = nanobind;

namespace nanscope::python {

void add_findings(nb::module_& module) {
  module.def(
      "tell",
      [](nb::handle object, bool color) {
        const Finding finding = read_finding(object);
        const TextOptions options{.color = color, .without_patch = kNoneOfNumpy};
        return nb::make_tuple(json_finding(finding), text_of(finding, options));
      },
      nb::arg("finding"), nb::arg("color") = false,
      nb::sig("def tell(finding: dict[str, object], color: bool = False) -> tuple[str, str]"),
      "The JSON of a finding, and its five parts as text.");
}

}  // namespace nanscope::python
