// Names of source files as tools outside the program's folder read them.
#pragma once

#include <string>
#include <string_view>

namespace nanscope::report {

// Absolute folders. Both empty: nothing is known, and names stay as the capture has them.
struct SourceRoot {
  std::string root;  // of the repository
  std::string here;  // where the program's relative names begin
};

// Relative to the repository where the file lies inside; else as it is. Nothing is looked up.
[[nodiscard]] std::string repository_path(std::string_view file, const SourceRoot& root);
// As a URI reference: %-encoded where a character means something there; file:// if absolute.
[[nodiscard]] std::string uri_of(std::string_view path);

}  // namespace nanscope::report
