// The source lines of a site, with the exact expression underlined.
#pragma once

#include <string>
#include <vector>

#include "records/site.h"
#include "report/paint.h"

namespace nanscope::report {

// Lines of at most `columns` columns:
//
//     41 |     return -(y * torch.log(p)).mean()
//        |                  ^^^^^^^^^^^^
//
// Columns of a site count characters; tabs, wide and combining characters are laid out
// as a terminal shows them. Long lines are cut around the expression, long expressions
// in their middle. Without columns the line stands alone.
[[nodiscard]] std::vector<std::string> excerpt(const Site& site, std::size_t columns,
                                               const Paint& paint);

}  // namespace nanscope::report
