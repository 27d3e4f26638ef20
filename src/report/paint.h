// Colour, or none. Everything is painted through this, so that switching it off
// leaves plain text; columns are counted before painting.
#pragma once

#include <string>
#include <string_view>

namespace nanscope::report {

class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}

  [[nodiscard]] std::string title(std::string_view text) const { return in("1", text); }
  [[nodiscard]] std::string error(std::string_view text) const { return in("1;31", text); }
  [[nodiscard]] std::string warning(std::string_view text) const { return in("1;33", text); }
  [[nodiscard]] std::string added(std::string_view text) const { return in("32", text); }
  [[nodiscard]] std::string removed(std::string_view text) const { return in("31", text); }
  [[nodiscard]] std::string faint(std::string_view text) const { return in("2", text); }

 private:
  [[nodiscard]] std::string in(std::string_view code, std::string_view text) const {
    if (!on_ || text.empty()) return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }

  bool on_;
};

}  // namespace nanscope::report
