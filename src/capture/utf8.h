// Text from anywhere (file names, source, exceptions) made into valid UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace nanscope {

inline constexpr char32_t kReplacement = 0xFFFD;

// Takes the next code point off the front of a non-empty `text`. A byte that
// belongs to no valid sequence (overlong, surrogate, cut off) counts as one
// replacement character.
[[nodiscard]] char32_t take_code_point(std::string_view& text) noexcept;
void append_utf8(std::string& text, char32_t code_point);
// Every invalid byte replaced by U+FFFD; valid text comes back unchanged.
[[nodiscard]] std::string valid_utf8(std::string_view text);
// At most `bytes` bytes, never cut inside a character; says "..." where it was cut.
[[nodiscard]] std::string cut_utf8(std::string_view text, std::size_t bytes);

}  // namespace nanscope
