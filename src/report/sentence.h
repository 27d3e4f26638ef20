// The sentences about an origin that several formats say in the same words.
#pragma once

#include <string>

#include "diagnose/cause.h"
#include "records/finding.h"
#include "records/origin.h"
#include "records/site.h"

namespace nanscope::report {

// train.py:41:18; editors count columns from 1
[[nodiscard]] std::string position(const Site& site);
// " in loss_fn", or nothing
[[nodiscard]] std::string in_function(const Site& site);
// "aten::log made -inf": the verb follows the kind of origin
[[nodiscard]] std::string deed(const Origin& origin);
// The same of a finding; a forewarning tells what may come of it: nothing was done yet.
[[nodiscard]] std::string deed(const Finding& finding, const Cause& cause);
// train.py:41:18: aten::log made -inf
[[nodiscard]] std::string headline(const Finding& finding, const Cause& cause);
// "aten::log, phase forward, step 12, module net.head"
[[nodiscard]] std::string circumstances(const Origin& origin);
// "3 of 64 elements: 3 -inf; the first at [2, 5]"
[[nodiscard]] std::string which_elements(const Origin& origin);

}  // namespace nanscope::report
