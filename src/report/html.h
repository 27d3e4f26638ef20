// The report as a page: one file that needs no network and opens from disk.
//
// The page is built from web/ once, without data; here it is filled. Everything from a capture is
// put into it as JSON that no browser executes, or as escaped text; the page's own content policy
// allows its one script and nothing else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/diagnosed.h"

namespace nanscope {

// The page without data, as it was installed beside this library. An error says how to get it.
[[nodiscard]] Result<std::string> page_template();

// `redacted` names what was left out. Findings beyond what fits into a page below 1 MB are
// shortened, notes first (page_data.h).
[[nodiscard]] std::string html_report(std::string_view page, const std::vector<Diagnosed>& captures,
                                      std::string_view version,
                                      const std::vector<std::string>& redacted = {});

}  // namespace nanscope
