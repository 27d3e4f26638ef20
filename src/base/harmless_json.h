// JSON that a terminal can print: what it would obey instead of showing is spelt out.
#pragma once

#include <string>
#include <string_view>

namespace nanscope {

// The same document, with DEL, the controls U+0080 to U+009F and the marks that turn the direction
// of text as \uXXXX. In JSON they stand in strings alone; those below U+0020 are spelt out already.
[[nodiscard]] std::string harmless_json(std::string_view json);

}  // namespace nanscope
