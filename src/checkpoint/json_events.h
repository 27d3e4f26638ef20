// JSON as a sequence of events, for headers that others wrote: no tree is built, so that a header
// costs no more than its own size, however deep it is nested.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace nanscope::checkpoint {

// Derive, and override what matters. An event that returns false ends the reading.
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  // Did all of `text` go through?
  [[nodiscard]] bool read(std::string_view text) {
    return nlohmann::json::sax_parse(text.begin(), text.end(), this);
  }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }
};

}  // namespace nanscope::checkpoint
