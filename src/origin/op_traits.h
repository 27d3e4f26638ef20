// What an op is to the verdict, by its name.
//
// The one table to touch when an op turns out to be a test, a repair, a write of a
// constant. An op that is not in it is plain arithmetic. What an op is to the causes
// is in op_families.
#pragma once

#include <string_view>

#include "origin/records.h"

namespace nanscope {

// `base_name`: without namespace and overload, as in "masked_fill_".
[[nodiscard]] OpTraits traits_of(std::string_view base_name);

}  // namespace nanscope
