// nanscope run: watch a program.
//
// As for python, options stand before the program, and all that follows the program's name
// is the program's own, whatever it looks like. So the arguments are split there
// first, and only the front part is parsed.

#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <iterator>

#include "capture/writer.h"
#include "cli/verb.h"

namespace nanscope::cli {
namespace {

bool takes_value(const CLI::App& app, const std::string& name) {
  const CLI::Option* option = app.get_option_no_throw(name);
  return option != nullptr && option->get_items_expected_max() > 0;
}

// Does this option's value stand in the next argument?
bool value_follows(const CLI::App& app, const std::string& argument) {
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

// Where the options end and the program begins.
std::size_t program_begins(const CLI::App& app, const Arguments& arguments) {
  std::size_t i = 0;
  while (i < arguments.size() && !names_program(arguments[i]))
    i += value_follows(app, arguments[i]) ? 2 : 1;
  return std::min(i, arguments.size());
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

// Fills in what to run; says what is wrong, or nothing.
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

std::string take_steps(const std::string& text, RunRequest& request) {
  if (text.empty()) return {};
  std::int64_t steps = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), steps);
  if (error != std::errc() || end != text.data() + text.size() || steps < 1)
    return fmt::format("--steps needs a whole number above 0, not {}.", text);
  request.steps = steps;
  return {};
}

std::string take_mode(const std::string& mode, const std::string& every, RunRequest& request) {
  if (mode != "exact" && mode != "sentinel")
    return fmt::format("--mode is exact or sentinel, not {}.", mode);
  request.sentinel = mode == "sentinel";
  if (every.empty()) return {};
  if (!request.sentinel) return "--snapshot-every goes with --mode sentinel.";
  double seconds = 0;
  const auto [end, error] = std::from_chars(every.data(), every.data() + every.size(), seconds);
  if (error != std::errc() || end != every.data() + every.size() || !(seconds > 0) || seconds > 1e9)
    return fmt::format("--snapshot-every needs a number of seconds above 0, not {}.", every);
  request.snapshot_every_s = seconds;
  return {};
}

std::string check_manner(const RunRequest& request) {
  if (request.pdb && request.target == "-" && request.kind == RunRequest::Kind::kScript)
    return "--pdb reads the standard input, and the program comes from there; give a script.";
  const char* other = request.raise    ? "--raise"
                      : request.strict ? "--strict"
                      : request.pdb    ? "--pdb"
                                       : nullptr;
  if (request.sentinel && request.strict)
    return "--strict looks at every operation, and --mode sentinel at none.";
  if (!request.keep_going || other == nullptr) return {};
  return fmt::format("--keep-going and {} exclude each other.", other);
}

// Known before a week of training rather than after it.
std::string check_files(const RunRequest& request) {
  if (!request.file.empty() && !exists(request.file)) return request.file + " does not exist.";
  if (request.json == "-" && !request.quiet)
    return "--json - writes to stdout, which belongs to the program; use it with -q.";
  if (request.json && request.json == request.output) return "-o and --json name the same file.";
  if (request.json && request.json != "-")
    if (const Status possible = check_destination(*request.json, /*overwrite=*/true); !possible)
      return fmt::format(
          "--json {} cannot be written: there is no such folder, or it may not be written to.",
          *request.json);
  return {};
}

Outcome carry_out(const Arguments& arguments, const Terminal& terminal) {
  RunRequest request;
  std::string output;
  std::string json;
  std::string steps;
  std::string mode = "exact";
  std::string every;
  Options options(kRun,
                  {"run [options] script.py [args...]", "run [options] -m module [args...]",
                   "run [options] -c code [args...]"},
                  "  nanscope run -o loss.nsc train.py --epochs 3");
  options.manner_means("do not print the report",
                       "also the whole way, the stack, the dropped suspects and the notes");
  CLI::App& app = options.app();
  const auto add = [&](const char* names, std::string& value, const char* description,
                       const char* type) {
    return app.add_option(names, value, description)->type_name(type)->take_last();
  };
  CLI::Option* named =
      add("-o,--output", output, "the capture (default: nanscope-<script>.<pid>.nsc)", "FILE");
  app.add_flag("-f,--force", request.force, "replace the capture if it exists");
  CLI::Option* wanted =
      add("--json", json, "write the findings there too; - is stdout, with -q", "FILE");
  app.add_flag("--keep-going", request.keep_going, "do not stop the program at the first error");
  app.add_flag("--raise", request.raise, "raise nanscope.NonFiniteError where the harm happens");
  app.add_flag("--strict", request.strict,
               "every birth of a NaN or Inf is an error, and raised at its very line");
  app.add_flag("--pdb", request.pdb, "open the debugger there");
  add("--mode", mode, "exact: every operation; sentinel: once a step (docs/sentinel.md)",
      "exact|sentinel");
  CLI::Option* often =
      add("--snapshot-every", every, "with --mode sentinel: seconds between snapshots", "SECONDS");
  add("--layer", request.layer, "only findings of this module and what is inside it", "NAME");
  add("--file", request.file, "only findings of this source file", "PATH");
  CLI::Option* limited = add("--steps", steps, "stop after N training steps", "N");

  const auto program =
      arguments.begin() + static_cast<std::ptrdiff_t>(program_begins(app, arguments));
  if (std::optional<Outcome> answer = options.parse(Arguments(arguments.begin(), program)))
    return *answer;
  if (named->count() > 0) request.output = output;
  if (wanted->count() > 0) request.json = json;
  request.quiet = options.manner().quiet;
  request.verbose = options.manner().verbose;
  request.color = terminal.stderr_is_tty && !terminal.no_color && !options.manner().no_color;

  if (limited->count() > 0 && steps.empty()) steps = "nothing";
  if (often->count() > 0 && every.empty()) every = "nothing";
  for (const std::string& wrong : {take_steps(steps, request), take_mode(mode, every, request),
                                   take_program(Arguments(program, arguments.end()), request),
                                   check_manner(request), check_files(request)})
    if (!wrong.empty()) return options.bad_usage(wrong);
  if (request.output)
    if (const Status possible = check_destination(*request.output, request.force); !possible)
      return failed(possible.error());
  return {.run = request};
}

}  // namespace

const Verb kRun{"run",
                "Watches a program; shows the first operation that made a NaN or Inf, and why.",
                carry_out};

}  // namespace nanscope::cli
