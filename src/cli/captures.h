// The captures that a reader's verb was given, and the file it writes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "report/diagnosed.h"
#include "report/source_paths.h"

namespace nanscope::cli {

// All of them, or what is wrong with the first that cannot be read.
[[nodiscard]] Result<std::vector<Diagnosed>> read_captures(const std::vector<std::string>& paths);

// The repository around the working directory: the nearest folder above with .git in it.
[[nodiscard]] report::SourceRoot source_root();

// Written beside its name and moved there: nobody reads half of it. A pipe or a device is written
// to.
// Whether the file that stands there begins as a capture does.
[[nodiscard]] bool is_capture(const std::string& path);
[[nodiscard]] Status write_file(const std::string& path, const std::string& text);

}  // namespace nanscope::cli
