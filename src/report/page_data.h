// The data of the page: the JSON of every capture, within what a page below 1 MB can hold.
#pragma once

#include <vector>

#include "report/diagnosed.h"
#include "report/json_document.h"

namespace nanscope::report {

struct PageReports {
  Json reports = Json::array();
  std::size_t left_out = 0;  // captures
};

// The reports of all captures, each with an equal share of the room. A finding that does not fit is
// shortened, and says so (`shortened`); only what does not fit even then is left out and counted
// (`findings_left_out`). Errors are first in line, notes last. What is told of the run itself may
// be shortened, too; of more captures than a page can name, those without an error are left out
// first.
[[nodiscard]] PageReports page_reports(const std::vector<Diagnosed>& captures);

}  // namespace nanscope::report
