#include "capture/utf8.h"

#include <array>
#include <cstdint>

namespace nanscope {
namespace {

struct Lead {
  int more;           // continuation bytes that follow
  char32_t bits;      // of the code point, in the lead byte
  char32_t smallest;  // below it the sequence is overlong
};

bool lead_of(std::uint8_t byte, Lead& lead) noexcept {
  if (byte < 0x80) return lead = {0, byte, 0}, true;
  if (byte >> 5 == 0x6) return lead = {1, byte & 0x1Fu, 0x80}, true;
  if (byte >> 4 == 0xE) return lead = {2, byte & 0x0Fu, 0x800}, true;
  if (byte >> 3 == 0x1E) return lead = {3, byte & 0x07u, 0x10000}, true;
  return false;
}

bool is_scalar_value(char32_t c) noexcept { return c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF); }

}  // namespace

char32_t take_code_point(std::string_view& text) noexcept {
  Lead lead{};
  const bool known = lead_of(static_cast<std::uint8_t>(text.front()), lead);
  const auto length = static_cast<std::size_t>(lead.more) + 1;
  char32_t code_point = lead.bits;
  bool valid = known && length <= text.size();
  for (std::size_t i = 1; valid && i < length; ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    valid = byte >> 6 == 0x2;
    code_point = code_point << 6 | (byte & 0x3Fu);
  }
  valid = valid && code_point >= lead.smallest && is_scalar_value(code_point);
  text.remove_prefix(valid ? length : 1);
  return valid ? code_point : kReplacement;
}

void append_utf8(std::string& text, char32_t c) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    text += static_cast<char>(0xE0 | c >> 12);
    tail(6), tail(0);
  } else {
    text += static_cast<char>(0xF0 | c >> 18);
    tail(12), tail(6), tail(0);
  }
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) append_utf8(valid, take_code_point(text));
  return valid;
}

std::string cut_utf8(std::string_view text, std::size_t bytes) {
  const bool longer = text.size() > bytes;  // then the rest need not be looked at
  std::string valid = valid_utf8(longer ? text.substr(0, bytes + 1) : text);
  if (!longer && valid.size() <= bytes) return valid;
  constexpr std::string_view kCut = "...";
  std::size_t keep = bytes > kCut.size() ? bytes - kCut.size() : 0;
  while (keep > 0 && (static_cast<std::uint8_t>(valid[keep]) & 0xC0) == 0x80) --keep;
  valid.resize(keep);
  return valid.append(kCut);
}

}  // namespace nanscope
