// Numbers that are not finite, which a function of torch writes itself: its result, which nobody
// gave it.
#pragma once

#include <string_view>

namespace nanscope::torch_adapter {

// The function whose result this is, by its full name: `op` wrote a number that the source does not
// spell, at the expression `code`. Empty if it is none of them.
[[nodiscard]] std::string_view writer_of_own_number(std::string_view op, std::string_view code);

}  // namespace nanscope::torch_adapter
