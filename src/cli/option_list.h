// The options of a command line: what they are called, where their values go.
//
// As everywhere on Unix: `--name value`, `--name=value`, `-n value`, `-nvalue`, flags in one word
// (`-qv`), and after `--` only positional arguments. An option that is given twice takes the last
// value, unless it gathers all of them.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace nanscope::cli {

class Option {
 public:
  // How often it was given.
  [[nodiscard]] std::size_t count() const { return count_; }
  // "--output"; of one without a long name "-o", of a positional argument its own name.
  [[nodiscard]] const std::string& name() const { return name_; }
  // "-o", "--output": as they are typed, short ones first. None for a positional argument.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] bool is_positional() const { return names_.empty(); }
  [[nodiscard]] bool takes_value() const { return flag_ == nullptr; }
  [[nodiscard]] const std::string& type_name() const { return type_name_; }
  [[nodiscard]] const std::string& description() const { return description_; }

  Option* description(std::string text);
  Option* type_name(std::string name);  // of its value, for the help: "FILE"
  Option* required();

 private:
  friend class OptionList;

  void take(const std::string& value);
  [[nodiscard]] std::string take_with(const std::string* own,
                                      const std::vector<std::string>& arguments, std::size_t& next);

  std::string name_;
  std::vector<std::string> names_;
  std::string description_;
  std::string type_name_;
  bool* flag_ = nullptr;
  std::string* value_ = nullptr;
  std::optional<std::string>* value_if_given_ = nullptr;
  std::vector<std::string>* values_ = nullptr;
  bool is_required_ = false;
  std::size_t count_ = 0;
};

class OptionList {
 public:
  // `names` is "-o,--output", or one word without dashes for a positional argument. Options stay
  // where they are: a pointer holds as long as the list.
  Option* add_flag(const std::string& names, bool& flag, std::string description = "");
  Option* add_option(const std::string& names, std::string& value, std::string description = "");
  Option* add_option(const std::string& names, std::optional<std::string>& value,
                     std::string description = "");
  Option* add_option(const std::string& names, std::vector<std::string>& values,
                     std::string description = "");

  [[nodiscard]] const std::deque<Option>& options() const { return options_; }
  // By any of its names, as typed; null where there is none.
  [[nodiscard]] Option* find(const std::string& name);
  [[nodiscard]] const Option* find(const std::string& name) const;

  // Fills in what the arguments say. Returns what is wrong with them, or nothing.
  [[nodiscard]] std::string parse(const std::vector<std::string>& arguments);

 private:
  Option* add(const std::string& names, std::string description);
  [[nodiscard]] std::string take_long(const std::string& argument,
                                      const std::vector<std::string>& arguments, std::size_t& next);
  [[nodiscard]] std::string take_short(const std::string& argument,
                                       const std::vector<std::string>& arguments,
                                       std::size_t& next);
  [[nodiscard]] std::string take_positional(const std::string& argument);

  std::deque<Option> options_;
};

}  // namespace nanscope::cli
