#include "report/unicode.h"

#include <algorithm>
#include <iterator>

#include "capture/utf8.h"

namespace nanscope::report {
namespace {

struct Span {
  char32_t first;
  char32_t last;
};

// Sorted. East Asian wide and fullwidth characters, and emoji shown as pictures.
constexpr Span kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x23F0, 0x23F0},   {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
    {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},
    {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},
    {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
    {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
    {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
    {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x18AFF}, {0x1B000, 0x1B2FF},
    {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A},
    {0x1F200, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393},
    {0x1F3A0, 0x1F3CA}, {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4},
    {0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D},
    {0x1F54B, 0x1F54E}, {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596},
    {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC},
    {0x1F6D0, 0x1F6D2}, {0x1F6D5, 0x1F6D7}, {0x1F6DC, 0x1F6DF}, {0x1F6EB, 0x1F6EC},
    {0x1F6F4, 0x1F6FC}, {0x1F7E0, 0x1F7EB}, {0x1F7F0, 0x1F7F0}, {0x1F90C, 0x1F93A},
    {0x1F93C, 0x1F945}, {0x1F947, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD}};

// Sorted. Characters drawn over the one before, and joiners.
constexpr Span kZero[] = {{0x0300, 0x036F}, {0x0483, 0x0489},  {0x0591, 0x05BD}, {0x0610, 0x061A},
                          {0x064B, 0x065F}, {0x06D6, 0x06DC},  {0x0900, 0x0902}, {0x093C, 0x093C},
                          {0x0941, 0x0948}, {0x094D, 0x094D},  {0x0E31, 0x0E31}, {0x0E34, 0x0E3A},
                          {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF},  {0x1DC0, 0x1DFF}, {0x200B, 0x200D},
                          {0x20D0, 0x20FF}, {0x3099, 0x309A},  {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
                          {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};

template <std::size_t N>
bool within(const Span (&spans)[N], char32_t c) noexcept {
  const Span* next = std::upper_bound(std::begin(spans), std::end(spans), c,
                                      [](char32_t x, const Span& span) { return x < span.first; });
  return next != std::begin(spans) && c <= std::prev(next)->last;
}

bool turns_direction(char32_t c) noexcept {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

// The longest front part that fits.
std::string_view fitting(std::string_view text, std::size_t columns) noexcept {
  std::string_view rest = text;
  std::size_t used = 0;
  while (!rest.empty()) {
    std::string_view after = rest;
    used += columns_of(take_code_point(after));
    if (used > columns) break;
    rest = after;
  }
  return text.substr(0, text.size() - rest.size());
}

// A part of a text, in bytes.
struct Part {
  std::size_t begin;
  std::size_t end;

  [[nodiscard]] bool holds(std::size_t at) const noexcept { return begin < at && at < end; }
};

// train.py:41 or train.py:41:18, whatever a sentence puts behind it.
bool is_place(std::string_view word) noexcept {
  word = word.substr(0, word.find_last_not_of(".,;:)`'\"") + 1);
  const std::size_t digits = word.find_last_not_of("0123456789");
  return digits != std::string_view::npos && digits > 0 && digits + 1 < word.size() &&
         word[digits] == ':';
}

std::vector<Part> unbroken_parts(std::string_view text, const std::vector<std::string>& whole) {
  std::vector<Part> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (is_place(text.substr(begin, end - begin))) parts.push_back({begin, end});
    begin = end + 1;
  }
  for (const std::string& one : whole) {
    if (one.empty()) continue;
    for (std::size_t at = text.find(one); at != std::string_view::npos;
         at = text.find(one, at + one.size()))
      parts.push_back({at, at + one.size()});
  }
  return parts;
}

// Where the line that begins at `begin` ends, if no more than up to `limit` fits.
std::size_t line_end(std::string_view text, std::size_t begin, std::size_t limit,
                     const std::vector<Part>& unbroken) {
  const auto breaks = [&](std::size_t at) {
    return text[at] == ' ' && std::none_of(unbroken.begin(), unbroken.end(),
                                           [&](const Part& part) { return part.holds(at); });
  };
  // A blank just behind the line is as good a place as one inside it.
  for (std::size_t at = limit; at > begin; --at)
    if (breaks(at)) return at;
  const bool in_place = std::any_of(unbroken.begin(), unbroken.end(),
                                    [&](const Part& part) { return part.holds(limit); });
  if (!in_place) return limit;
  for (std::size_t at = limit; at < text.size(); ++at)
    if (breaks(at)) return at;
  return text.size();
}

}  // namespace

char32_t safe(char32_t c) noexcept {
  if (c < 0x20) return 0x2400 + c;  // the control pictures: ESC becomes one symbol
  if (c == 0x7F) return 0x2421;
  if ((c >= 0x80 && c < 0xA0) || turns_direction(c) || c == 0x2028 || c == 0x2029)
    return kReplacement;
  return c;
}

std::string safe(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const char32_t c = take_code_point(text);
    append_utf8(line, c == '\n' || c == '\t' || c == '\r' ? U' ' : safe(c));
  }
  return line;
}

std::size_t columns_of(char32_t c) noexcept {
  if (c < 0x300) return 1;
  return within(kZero, c) ? 0 : within(kWide, c) ? 2 : 1;
}

std::size_t columns_of(std::string_view text) noexcept {
  std::size_t columns = 0;
  while (!text.empty()) columns += columns_of(take_code_point(text));
  return columns;
}

std::string cut(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  return std::string(fitting(text, columns > 3 ? columns - 3 : 0)) + "...";
}

std::string cut_front(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  std::size_t left = columns_of(text) + 3;
  while (left > columns && !text.empty()) left -= columns_of(take_code_point(text));
  return "..." + std::string(text);
}

std::string padded(std::string_view text, std::size_t columns, Align align) {
  const std::size_t used = columns_of(text);
  const std::string blanks(used < columns ? columns - used : 0, ' ');
  return align == Align::kLeft ? std::string(text) + blanks : blanks + std::string(text);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns,
                                 const std::vector<std::string>& whole) {
  columns = std::max<std::size_t>(columns, 8);
  std::vector<std::string> lines;
  std::size_t begin = 0;
  const std::vector<Part> unbroken = unbroken_parts(text, whole);
  while (columns_of(text.substr(begin)) > columns) {
    const std::size_t limit = begin + fitting(text.substr(begin), columns).size();
    const std::size_t end = line_end(text, begin, limit, unbroken);
    lines.emplace_back(text.substr(begin, end - begin));
    begin = std::min(text.find_first_not_of(' ', end), text.size());
  }
  if (begin < text.size() || lines.empty()) lines.emplace_back(text.substr(begin));
  return lines;
}

}  // namespace nanscope::report
