#include "cli/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nanscope::cli {
namespace {

constexpr std::size_t kDescriptionColumn = 22;

// "-o, --output FILE"
std::string names_of(const Option& option) {
  std::string text = fmt::format("{}", fmt::join(option.names(), ", "));
  if (option.takes_value() && !option.type_name().empty()) text += " " + option.type_name();
  return text;
}

std::string described(const std::string& names, const std::string& description) {
  if (names.size() + 2 > kDescriptionColumn)
    return fmt::format("  {}\n{:{}}  {}\n", names, "", kDescriptionColumn, description);
  return fmt::format("  {:{}}{}\n", names, kDescriptionColumn, description);
}

}  // namespace

Options::Options(const Verb& verb, std::vector<std::string> usage, std::string example)
    : verb_(verb), usage_(std::move(usage)), example_(std::move(example)) {
  app_.add_flag("-h,--help", help_wanted_, "print this");
  app_.add_flag("-q,--quiet", manner_.quiet, "say less");
  app_.add_flag("-v,--verbose", manner_.verbose, "say more");
  app_.add_flag("--no-color", manner_.no_color, "plain text, also on a terminal");
}

void Options::manner_means(const char* quiet, const char* verbose) {
  app_.find("--quiet")->description(quiet);
  app_.find("--verbose")->description(verbose);
}

std::optional<Outcome> Options::parse(const Arguments& arguments) {
  const std::string complaint = app_.parse(arguments);
  if (help_wanted_) return Outcome{.out = help()};
  if (!complaint.empty()) return bad_usage(complaint);
  return std::nullopt;
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
  text += fmt::format("\n{}\n\n", verb_.summary);
  std::string last;  // what every verb has
  for (const Option& option : app_.options()) {
    if (option.is_positional()) continue;
    const bool common = option.name() == "--help" || option.name() == "--quiet" ||
                        option.name() == "--verbose" || option.name() == "--no-color";
    (common ? last : text) += described(names_of(option), option.description());
  }
  text += last;
  return text + fmt::format("\nexample:\n{}\n", example_);
}

Outcome failed(const Error& error) {
  return {.status = 2, .err = "nanscope: " + error.message + "\n"};
}

}  // namespace nanscope::cli
