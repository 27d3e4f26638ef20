// Numbers, counts and names as a person reads them; used by every sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "records/origin.h"

namespace nanscope {

[[nodiscard]] std::string number(double value);         // 6 digits: 0.333333, 1e-08, nan, -inf
[[nodiscard]] std::string number(const Value& value);   // 1.5, nan+1j
[[nodiscard]] std::string grouped(std::int64_t count);  // 12,345
[[nodiscard]] std::string plural(std::int64_t count,
                                 std::string_view noun);   // 1 element, 3 elements
[[nodiscard]] std::string byte_count(std::int64_t bytes);  // 512 B, 1.2 GB
[[nodiscard]] std::string bracketed(const std::vector<std::int64_t>& numbers);  // [2, 5]
[[nodiscard]] std::string in_backticks(std::string_view code);  // `p`, on one line, not too long
[[nodiscard]] std::string joined(const std::vector<std::string>& parts, std::string_view separator);
// 3 of 64 elements: 2 nan, 1 -inf
[[nodiscard]] std::string bad_elements(const Origin& origin);

}  // namespace nanscope
