// The way a bad value went: birth -> carriers -> harm, each with its line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "records/finding.h"
#include "report/paint.h"

namespace nanscope::report {

// "the gradient of `net.head.weight` is not finite"
[[nodiscard]] std::string harm_text(const Harm& harm);

// Steps of one role on one line are shown together; a long middle only if `verbose`. A place is
// never cut: where it leaves no room beside it, each step has a second line for it.
[[nodiscard]] std::vector<std::string> journey(const Finding& finding, bool verbose,
                                               std::size_t columns, const Paint& paint);

}  // namespace nanscope::report
