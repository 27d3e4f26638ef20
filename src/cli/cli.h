// The command line: every verb is parsed here, and the readers are carried out.
//
// `run`, `fix` and `doctor` need the program's Python; they come back as plain requests for
// the caller to carry out. Nothing is printed (but for scan's line of progress on a terminal) and
// nothing exits here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/request.h"

namespace nanscope {

// argv[0] is the program's name, as the system gives it.
[[nodiscard]] Outcome command_line(const std::vector<std::string>& argv, const Terminal& terminal);

// nanscope-train.1234.nsc
[[nodiscard]] std::string default_capture_name(const RunRequest& request, std::int64_t pid);

[[nodiscard]] const char* version();

}  // namespace nanscope
