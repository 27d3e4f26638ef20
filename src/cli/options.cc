#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/verb.h"

namespace nanscope::cli {
namespace {

constexpr std::size_t kDescriptionColumn = 22;

// "-o, --output FILE"
std::string names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (!option.get_type_name().empty() && option.get_items_expected_max() > 0)
    text += " " + option.get_type_name();
  return text;
}

std::string described(const std::string& names, const std::string& description) {
  if (names.size() + 2 > kDescriptionColumn)
    return fmt::format("  {}\n{:{}}  {}\n", names, "", kDescriptionColumn, description);
  return fmt::format("  {:{}}{}\n", names, kDescriptionColumn, description);
}

}  // namespace

Options::Options(const Verb& verb, std::vector<std::string> usage, std::string example)
    : verb_(verb),
      usage_(std::move(usage)),
      example_(std::move(example)),
      app_(verb.summary, verb.name) {
  app_.set_help_flag("-h,--help", "print this");
  app_.add_flag("-q,--quiet", manner_.quiet, "say less");
  app_.add_flag("-v,--verbose", manner_.verbose, "say more");
  app_.add_flag("--no-color", manner_.no_color, "plain text, also on a terminal");
}

void Options::manner_means(const char* quiet, const char* verbose) {
  app_.get_option("--quiet")->description(quiet);
  app_.get_option("--verbose")->description(verbose);
}

std::optional<Outcome> Options::parse(const Arguments& arguments) {
  try {
    app_.parse(Arguments(arguments.rbegin(), arguments.rend()));  // CLI11 takes them from the back
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    return Outcome{.out = help()};
  } catch (const CLI::ParseError& error) {
    return bad_usage(complaint(error));
  }
}

Outcome Options::bad_usage(const std::string& sentence) const {
  return {.status = 2,
          .err = fmt::format("nanscope {}: {} `nanscope {} -h` shows how it is used.\n", verb_.name,
                             sentence, verb_.name)};
}

std::string Options::help() const {
  std::string text;
  for (const std::string& form : usage_)
    text += fmt::format("{} nanscope {}\n", text.empty() ? "usage:" : "      ", form);
  text += fmt::format("\n{}\n\n", app_.get_description());
  std::vector<const CLI::Option*> last;
  for (const CLI::Option* option : app_.get_options()) {
    if (option->get_positional() && option->get_snames().empty() && option->get_lnames().empty())
      continue;
    const bool common = option->get_name() == "--help" || option->get_name() == "--quiet" ||
                        option->get_name() == "--verbose" || option->get_name() == "--no-color";
    if (common)
      last.push_back(option);
    else
      text += described(names_of(*option), option->get_description());
  }
  for (const CLI::Option* option : last)
    text += described(names_of(*option), option->get_description());
  return text + fmt::format("\nexample:\n{}\n", example_);
}

std::string Options::complaint(const CLI::ParseError& error) const {
  const std::string what = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> extras = app_.remaining();
    const std::string first = extras.empty() ? what : extras.front();
    return first.starts_with('-') ? fmt::format("there is no option {}.", first)
                                  : fmt::format("{} is one argument too many.", first);
  }
  const std::string name = what.substr(0, what.find(':'));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const CLI::Option* option = app_.get_option_no_throw(name);
    const bool takes_value = option != nullptr && option->get_items_expected_max() > 0;
    return takes_value ? fmt::format("{} needs a {}.", name, option->get_type_name())
                       : fmt::format("{} takes no value.", name);
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    return fmt::format("{}.", what.substr(0, what.find('\n')));
  return what + ".";
}

Outcome failed(const Error& error) {
  return {.status = 2, .err = "nanscope: " + error.message + "\n"};
}

}  // namespace nanscope::cli
