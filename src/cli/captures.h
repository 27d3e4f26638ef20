// The captures that a reader's verb was given, and the file it writes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "cli/request.h"
#include "report/diagnosed.h"
#include "report/source_paths.h"

namespace nanscope::cli {

// Where a reader says how far it is: stderr, if that is a terminal and nobody asked for silence;
// else -1.
[[nodiscard]] int progress_descriptor(const Terminal& terminal, const Manner& manner);

// All of them, or what is wrong with the first that cannot be read.
[[nodiscard]] Result<std::vector<Diagnosed>> read_captures(const std::vector<std::string>& paths,
                                                           int progress);

// The repository around the working directory: the nearest folder above with .git in it.
[[nodiscard]] report::SourceRoot source_root();

// Whether the file that stands there begins as a capture does.
[[nodiscard]] bool is_capture(const std::string& path);

// Written beside its name and moved there: nobody reads half of it. A pipe or a device is written
// to.
[[nodiscard]] Status write_file(const std::string& path, const std::string& text);

}  // namespace nanscope::cli
