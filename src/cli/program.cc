#include "cli/program.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <charconv>
#include <iterator>

#include "capture/writer.h"
#include "report/html.h"

namespace nanscope::cli {
namespace {

bool takes_value(const OptionList& app, const std::string& name) {
  const Option* option = app.find(name);
  return option != nullptr && option->takes_value();
}

// Does this option's value stand in the next argument?
bool value_follows(const OptionList& app, const std::string& argument) {
  if (argument.starts_with("--"))
    return argument.find('=') == std::string::npos && takes_value(app, argument);
  for (std::size_t i = 1; i < argument.size(); ++i)  // -qo FILE
    if (takes_value(app, std::string("-") + argument[i])) return i + 1 == argument.size();
  return false;
}

bool names_program(const std::string& argument) {
  return !argument.starts_with('-') || argument == "-" || argument == "--" ||
         argument.starts_with("-m") || argument.starts_with("-c");
}

}  // namespace

std::size_t program_begins(const OptionList& app, const Arguments& arguments) {
  std::size_t i = 0;
  while (i < arguments.size() && !names_program(arguments[i]))
    i += value_follows(app, arguments[i]) ? 2 : 1;
  return std::min(i, arguments.size());
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

void take_manner(const Manner& manner, const Terminal& terminal, RunRequest& request) {
  request.quiet = manner.quiet;
  request.verbose = manner.verbose;
  request.color = terminal.stderr_is_tty && !terminal.no_color && !manner.no_color;
}

std::string take_program(Arguments program, RunRequest& request) {
  if (!program.empty() && program[0] == "--") {
    program.erase(program.begin());
  } else if (!program.empty() && (program[0].starts_with("-m") || program[0].starts_with("-c"))) {
    const bool module = program[0][1] == 'm';
    request.kind = module ? RunRequest::Kind::kModule : RunRequest::Kind::kCode;
    if (program[0].size() > 2)
      program[0].erase(0, 2);  // -mmodule
    else
      program.erase(program.begin());
    if (program.empty()) return module ? "-m needs the name of a module." : "-c needs some code.";
  }
  if (program.empty()) return "there is no program to run: give a script, -m module or -c code.";
  request.target = program[0];
  request.args.assign(std::next(program.begin()), program.end());
  if (request.kind != RunRequest::Kind::kScript) return {};
  if (request.target == "-") return {};  // the program comes from the standard input
  return exists(request.target) ? std::string() : request.target + " does not exist.";
}

std::string take_count(const Option& option, const std::string& text,
                       std::optional<std::int64_t>& count, std::int64_t least) {
  if (option.count() == 0) return {};
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least)
    return fmt::format("{} needs a whole number {}, not {}.", option.name(),
                       least > 0 ? "above 0" : "from 0", text.empty() ? "nothing" : text);
  count = number;
  return {};
}

std::string check_json(const RunRequest& request) {
  if (request.json == "-" && !request.quiet)
    return "--json - writes to stdout, which belongs to the program; use it with -q.";
  if (request.json && request.json != "-")
    if (const Status possible = check_destination(*request.json, /*overwrite=*/true); !possible)
      return fmt::format(
          "--json {} cannot be written: there is no such folder, or it may not be written to.",
          *request.json);
  return {};
}

std::string check_html(const RunRequest& request) {
  if (!request.html) return {};
  if (const Result<std::string> page = page_template(); !page) return page.error().message;
  if (const Status possible = check_destination(*request.html, /*overwrite=*/true); !possible)
    return fmt::format(
        "--html {} cannot be written: there is no such folder, or it may not be written to.",
        *request.html);
  return {};
}

}  // namespace nanscope::cli
