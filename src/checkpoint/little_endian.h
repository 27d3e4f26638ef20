// Numbers as they lie in files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace nanscope::checkpoint {

// The caller has checked that they lie inside.
template <class Number>
Number number_at(std::string_view bytes, std::size_t offset) noexcept {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

}  // namespace nanscope::checkpoint
