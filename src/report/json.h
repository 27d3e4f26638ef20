// The finding as JSON, schema nanscope/1: docs/finding.schema.json.
//
// Strict JSON: non-finite numbers are the strings "nan", "inf" and "-inf", complex
// ones strings such as "nan+1j", a statistic that does not exist is null.
#pragma once

#include <string>

#include "records/capture.h"

namespace nanscope {

// One object, indented, with a line end.
[[nodiscard]] std::string json_report(const Capture& capture);
// One of its findings, on one line.
[[nodiscard]] std::string json_finding(const Finding& finding);

}  // namespace nanscope
