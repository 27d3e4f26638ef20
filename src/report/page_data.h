// The data of the page: the JSON of every capture, within what a page below 1 MB can hold.
#pragma once

#include <vector>

#include "report/diagnosed.h"
#include "report/json_document.h"

namespace nanscope::report {

// The reports of all captures, each with an equal share of the room. A finding that does not fit is
// shortened, and says so (`shortened`); only what does not fit even then is left out and counted
// (`findings_left_out`). Errors are first in line, notes last.
[[nodiscard]] Json page_reports(const std::vector<Diagnosed>& captures);

}  // namespace nanscope::report
