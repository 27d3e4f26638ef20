// The findings as lines that a GitHub workflow turns into annotations of a pull request.
#pragma once

#include <string>
#include <vector>

#include "report/diagnosed.h"
#include "report/source_paths.h"

namespace nanscope {

// "::error file=train.py,line=41,col=18,title=log_of_zero::...", one for each error and warning;
// for notes too if `verbose`.
[[nodiscard]] std::string github_report(const std::vector<Diagnosed>& captures,
                                        const report::SourceRoot& root, bool verbose);

}  // namespace nanscope
