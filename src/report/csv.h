// The numbers of a capture as one table, for spreadsheets and data frames (RFC 4180).
//
// In long form, one number a row: `capture,finding,cause,record,name,step,quantity,value`. `record`
// is history (a step's loss, ...), input, output, or magnitude. What does not exist has no row.
#pragma once

#include <string>
#include <vector>

#include "report/diagnosed.h"

namespace nanscope {

[[nodiscard]] std::string csv_report(const std::vector<Diagnosed>& captures);

}  // namespace nanscope
