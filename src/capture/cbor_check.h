// Is this CBOR harmless to parse?
//
// The parser recurses and allocates as the bytes tell it to; these bytes may be
// hostile. This walk, which does neither, comes first: the payload must be
// one definite-length item that fills it exactly, not deep, with not too many
// items, and without tags.
#pragma once

#include <string_view>

namespace nanscope {

inline constexpr int kMostCborDepth = 16;
inline constexpr int kMostCborItems = 1 << 18;

[[nodiscard]] bool is_safe_cbor(std::string_view payload) noexcept;

}  // namespace nanscope
