// Text on a terminal: how wide it is, and how it is made harmless.
//
// What comes out of a capture was written by others. Nothing here lets through
// broken UTF-8, a control character (ESC would let a capture write to the user's
// terminal), or a mark that turns the direction of text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nanscope::report {

// One line of plain text: line ends and tabs become blanks, other control
// characters visible symbols.
[[nodiscard]] std::string safe(std::string_view text);
// The same for one character, tabs and line ends included.
[[nodiscard]] char32_t safe(char32_t code_point) noexcept;

// Columns on a terminal: 2 for wide characters, 0 for combining ones.
[[nodiscard]] std::size_t columns_of(char32_t code_point) noexcept;
[[nodiscard]] std::size_t columns_of(std::string_view text) noexcept;

// At most `columns` columns; what is too long ends (or, for a path, begins) with "...".
[[nodiscard]] std::string cut(std::string_view text, std::size_t columns);
[[nodiscard]] std::string cut_front(std::string_view text, std::size_t columns);

enum class Align { kLeft, kRight };
[[nodiscard]] std::string padded(std::string_view text, std::size_t columns,
                                 Align align = Align::kLeft);

// Lines of at most `columns` columns, broken at blanks where there are some.
//
// A place (train.py:41:18) is never broken, nor is what `whole` lists, such as a path with blanks:
// who clicks on it or copies it needs all of it, so a line may be longer by that.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t columns,
                                               const std::vector<std::string>& whole = {});

}  // namespace nanscope::report
