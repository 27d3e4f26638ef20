#include "cli/option_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace nanscope::cli {
namespace {

using Arguments = std::vector<std::string>;

std::string unknown(const std::string& name) { return fmt::format("there is no option {}.", name); }

// The first thing that is wrong is the one to tell.
void keep_first(std::string& complaint, std::string another) {
  if (complaint.empty()) complaint = std::move(another);
}

}  // namespace

Option* Option::description(std::string text) {
  description_ = std::move(text);
  return this;
}

Option* Option::type_name(std::string name) {
  type_name_ = std::move(name);
  return this;
}

Option* Option::required() {
  is_required_ = true;
  return this;
}

void Option::take(const std::string& value) {
  ++count_;
  if (flag_ != nullptr) *flag_ = true;
  if (value_ != nullptr) *value_ = value;
  if (value_if_given_ != nullptr) *value_if_given_ = value;
  if (values_ != nullptr) values_->push_back(value);
}

// A flag has no value; an option takes its own, or the next argument.
std::string Option::take_with(const std::string* own, const Arguments& arguments,
                              std::size_t& next) {
  if (!takes_value()) {
    if (own != nullptr) return fmt::format("{} takes no value.", name_);
    take("");
    return {};
  }
  if (own == nullptr && next >= arguments.size())
    return fmt::format("{} needs a {}.", name_, type_name_);
  take(own != nullptr ? *own : arguments[next++]);
  return {};
}

Option* OptionList::add(const std::string& names, std::string description) {
  Option& option = options_.emplace_back();
  option.description_ = std::move(description);
  std::istringstream words(names);
  for (std::string word; std::getline(words, word, ',');) {
    option.name_ = word;  // the long name stands last
    if (word.starts_with('-')) option.names_.push_back(word);
  }
  return &option;
}

Option* OptionList::add_flag(const std::string& names, bool& flag, std::string description) {
  Option* option = add(names, std::move(description));
  option->flag_ = &flag;
  return option;
}

Option* OptionList::add_option(const std::string& names, std::string& value,
                               std::string description) {
  Option* option = add(names, std::move(description));
  option->value_ = &value;
  return option;
}

Option* OptionList::add_option(const std::string& names, std::optional<std::string>& value,
                               std::string description) {
  Option* option = add(names, std::move(description));
  option->value_if_given_ = &value;
  return option;
}

Option* OptionList::add_option(const std::string& names, std::vector<std::string>& values,
                               std::string description) {
  Option* option = add(names, std::move(description));
  option->values_ = &values;
  return option;
}

const Option* OptionList::find(const std::string& name) const {
  for (const Option& option : options_)
    if (std::ranges::find(option.names_, name) != option.names_.end()) return &option;
  return nullptr;
}

Option* OptionList::find(const std::string& name) {
  return const_cast<Option*>(std::as_const(*this).find(name));
}

std::string OptionList::parse(const Arguments& arguments) {
  std::string complaint;
  bool only_positional = false;
  for (std::size_t next = 0; next < arguments.size();) {
    const std::string& argument = arguments[next++];
    if (only_positional || argument == "-" || !argument.starts_with('-'))
      keep_first(complaint, take_positional(argument));
    else if (argument == "--")
      only_positional = true;
    else if (argument.starts_with("--"))
      keep_first(complaint, take_long(argument, arguments, next));
    else
      keep_first(complaint, take_short(argument, arguments, next));
  }
  for (const Option& option : options_)
    if (option.is_required_ && option.count() == 0)
      keep_first(complaint, fmt::format("{} is required.", option.name()));
  return complaint;
}

// --name, --name value, --name=value
std::string OptionList::take_long(const std::string& argument, const Arguments& arguments,
                                  std::size_t& next) {
  const std::size_t equals = argument.find('=');
  Option* option = find(argument.substr(0, equals));
  if (option == nullptr) return unknown(argument);
  const std::string own = equals == std::string::npos ? "" : argument.substr(equals + 1);
  return option->take_with(equals == std::string::npos ? nullptr : &own, arguments, next);
}

// -n, -n value, -nvalue, -abn value
std::string OptionList::take_short(const std::string& argument, const Arguments& arguments,
                                   std::size_t& next) {
  for (std::size_t i = 1; i < argument.size(); ++i) {
    const std::string name = std::string("-") + argument[i];
    Option* option = find(name);
    if (option == nullptr) return unknown("-" + argument.substr(i));
    if (!option->takes_value()) {
      option->take("");
      continue;
    }
    const std::string own = argument.substr(i + 1);
    return option->take_with(own.empty() ? nullptr : &own, arguments, next);
  }
  return {};
}

// The first that is still free takes it; one that gathers is always free.
std::string OptionList::take_positional(const std::string& argument) {
  for (Option& option : options_) {
    if (!option.is_positional() || (option.values_ == nullptr && option.count() > 0)) continue;
    option.take(argument);
    return {};
  }
  return fmt::format("{} is one argument too many.", argument);
}

}  // namespace nanscope::cli
