#include "base/harmless_json.h"

#include <cstddef>
#include <cstdio>

namespace nanscope {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

bool turns_text(unsigned code_point) {
  return code_point == 0x200e || code_point == 0x200f || code_point == 0x061c ||
         (code_point >= 0x202a && code_point <= 0x202e) ||
         (code_point >= 0x2066 && code_point <= 0x2069);
}

}  // namespace

std::string harmless_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size();) {
    const unsigned first = byte_at(json, i);
    unsigned code_point = first;
    std::size_t length = 1;
    if (first >> 5 == 6) {
      code_point = (first & 0x1f) << 6 | (byte_at(json, i + 1) & 0x3f);
      length = 2;
    } else if (first >> 4 == 14) {
      code_point =
          (first & 0x0f) << 12 | (byte_at(json, i + 1) & 0x3f) << 6 | (byte_at(json, i + 2) & 0x3f);
      length = 3;
    }
    if ((code_point >= 0x7f && code_point <= 0x9f && (length == 2 || first == 0x7f)) ||
        turns_text(code_point)) {
      char spelt[8];
      std::snprintf(spelt, sizeof spelt, "\\u%04x", code_point);
      out += spelt;
    } else {
      out += json.substr(i, length);
    }
    i += length;
  }
  return out;
}

}  // namespace nanscope
