#include "diagnose/phrase.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "capture/utf8.h"

namespace nanscope {
namespace {

// At most so many characters, as a person counts them: a wide one has up to four bytes.
std::string cut_characters(std::string_view text, std::size_t most) {
  constexpr std::string_view kEnding = "...";
  std::string shown;
  std::size_t bytes_kept = 0;
  for (std::size_t taken = 0; !text.empty(); ++taken) {
    if (taken + kEnding.size() == most) bytes_kept = shown.size();
    if (taken == most) return shown.substr(0, bytes_kept).append(kEnding);
    append_utf8(shown, take_code_point(text));
  }
  return shown;
}

}  // namespace

std::string number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{:.6g}", value == 0 ? 0.0 : value);
}

std::string number(const Value& value) {
  if (!value.is_complex) return number(value.real);
  const std::string imag = number(value.imag);
  return fmt::format("{}{}{}j", number(value.real), imag.starts_with('-') ? "" : "+", imag);
}

std::string grouped(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) digits.insert(i -= 3, ",");
  return digits;
}

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

std::string byte_count(std::int64_t bytes) {
  constexpr std::array<const char*, 6> kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 999.5 && unit + 1 < kUnits.size()) amount /= 1000, ++unit;
  return fmt::format("{:.{}f} {}", amount, unit > 0 && amount < 9.95 ? 1 : 0, kUnits[unit]);
}

std::string bracketed(const std::vector<std::int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::string in_backticks(std::string_view code) {
  constexpr std::size_t kMostCharacters = 60;  // no name that telling/names.py shortened is longer
  std::string line;
  for (const char c : code) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  return "`" + cut_characters(line, kMostCharacters) + "`";
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string bad_elements(const Origin& origin) {
  if (origin.numel == 0) return "an unknown number of elements";
  std::vector<std::string> kinds;
  if (origin.nan > 0) kinds.push_back(grouped(origin.nan) + " nan");
  if (origin.pos_inf > 0) kinds.push_back(grouped(origin.pos_inf) + " inf");
  if (origin.neg_inf > 0) kinds.push_back(grouped(origin.neg_inf) + " -inf");
  const std::int64_t bad = origin.nan + origin.pos_inf + origin.neg_inf;
  return fmt::format("{} of {}: {}", grouped(bad), plural(origin.numel, "element"),
                     joined(kinds, ", "));
}

}  // namespace nanscope
