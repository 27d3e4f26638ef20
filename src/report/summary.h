// One run in one line, and what of it was watched.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "records/capture.h"

namespace nanscope {

// A gap of this name is of processes that were watched, and found an error of their own.
inline constexpr std::string_view kChildrenWithErrors = "child processes with errors of their own";

// error, clean, or unknown: nothing was found, but not everything was watched.
[[nodiscard]] std::string_view verdict_of(const Capture& capture);
// By an exception, or with a status that is not 0: what was about is listed then.
[[nodiscard]] bool ended_badly(const Capture& capture);
[[nodiscard]] std::int64_t findings_of(const Capture& capture, Level level);

// "12,345 ops watched, 1.2 GB scanned, 13 steps; nothing went unwatched"
[[nodiscard]] std::string coverage_text(const Coverage& coverage);

// The parts of the line below.
struct Summary {
  std::string_view speaker;  // "nanscope: ", or nothing where it must not sound as usual
  std::string title;         // what came of it, without the full stop
  std::string_view joint;    // between the two
  std::string detail;        // how it is known, with the full stop
};
[[nodiscard]] Summary summary_of(const Capture& capture);
// The line a run ends with when there is no error to show. It begins with
// NOT FULLY WATCHED where silence does not mean that all is well.
[[nodiscard]] std::string summary_line(const Capture& capture);

}  // namespace nanscope
