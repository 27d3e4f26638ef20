// nanscope fix: a patch of the source, proved by running it. Needs Python; parsed here only.

#include "cli/options.h"
#include "cli/program.h"

namespace nanscope::cli {
namespace {

Outcome carry_out_fix(const Arguments& arguments, const Terminal& terminal) {
  FixRequest request;
  RunRequest& run = request.run;
  std::string verify;
  std::string max_runs;
  std::string max_time;
  std::string max_fixes;
  Options options(kFix,
                  {"fix [options] script.py [args...]", "fix [options] -m module [args...]",
                   "fix [options] --from CAPTURE [script.py [args...]]"},
                  "  nanscope fix --verify 500 train.py --epochs 3");
  options.manner_means("do not print the report", "also every candidate that was tried");
  OptionList& app = options.app();
  const auto add = [&](const char* name, std::string& value, const char* description,
                       const char* type) {
    return app.add_option(name, value, description)->type_name(type);
  };
  Option* steps =
      add("--verify", verify, "steps to run on after the one that failed (default 100)", "N");
  Option* runs = add("--max-runs", max_runs,
                     "repeats of the program, at most (default 24); 0: only propose", "N");
  Option* seconds =
      add("--max-time", max_time, "begin no repeat after so many seconds (default 900)", "S");
  Option* fixes =
      add("--max-fixes", max_fixes, "faults to fix one after the other (default 6)", "N");
  app.add_flag(
      "--yes", request.yes,
      "ask nothing: run the command of a capture, repeat it where files are not protected");
  app.add_flag("--apply", request.apply, "write the verified patch into the source");
  app.add_flag("--in-packages", request.in_packages,
               "with --apply, also write into an installed package");
  app.add_option("--from", request.from, "begin with the finding of this capture")
      ->type_name("CAPTURE");
  app.add_option("--json", run.json, "write the findings there too; - is stdout, with -q")
      ->type_name("FILE");

  const auto program =
      arguments.begin() + static_cast<std::ptrdiff_t>(program_begins(app, arguments));
  if (std::optional<Outcome> answer = options.parse(Arguments(arguments.begin(), program)))
    return *answer;
  take_manner(options.manner(), terminal, run);

  const bool of_capture = request.from && program == arguments.end();
  for (const std::string& wrong :
       {take_count(*steps, verify, request.verify),
        take_count(*runs, max_runs, request.max_runs, 0),
        take_count(*seconds, max_time, request.max_time),
        take_count(*fixes, max_fixes, request.max_fixes),
        of_capture ? std::string() : take_program(Arguments(program, arguments.end()), run),
        check_json(run)})
    if (!wrong.empty()) return options.bad_usage(wrong);
  if (run.kind == RunRequest::Kind::kCode || run.target == "-")
    return options.bad_usage("there is no file to patch: give a script or -m module.");
  if (request.from && !exists(*request.from))
    return options.bad_usage(*request.from + " does not exist.");
  return {.fix = request};
}

}  // namespace

const Verb kFix{"fix", "Proposes a patch of the source, and proves it by running the program.",
                carry_out_fix};

}  // namespace nanscope::cli
