// The findings as SARIF 2.1.0, for code scanning services and editors.
//
// One run over all captures; a cause is a rule, with its page as help. Columns count Unicode code
// points. The way a value went is a code flow, the patch a fix.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/diagnosed.h"
#include "report/source_paths.h"

namespace nanscope {

[[nodiscard]] std::string sarif_report(const std::vector<Diagnosed>& captures,
                                       const report::SourceRoot& root, std::string_view version);

}  // namespace nanscope
