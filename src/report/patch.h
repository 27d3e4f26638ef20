// A unified diff, taken apart: which lines of which file become what.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nanscope::report {

// Lines `first` to `first + removed - 1` (from 1) give way to `inserted`, whole lines. Without
// removed lines, `inserted` comes before line `first`.
struct Replacement {
  int first = 0;
  int removed = 0;
  std::string inserted;

  friend bool operator==(const Replacement&, const Replacement&) = default;
};

struct FilePatch {
  std::string file;  // without a/ or b/
  std::vector<Replacement> replacements;
};

// Empty if the text is no unified diff in every line: a part of a patch is worse than none.
[[nodiscard]] std::vector<FilePatch> parse_patch(std::string_view diff);

}  // namespace nanscope::report
