// nanscope run: watch a program.

#include <fmt/format.h>

#include <charconv>

#include "capture/writer.h"
#include "cli/options.h"
#include "cli/program.h"

namespace nanscope::cli {
namespace {

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

std::string check_nproc(const RunRequest& request) {
  if (!request.nproc) return {};
  if (*request.nproc < 1) return "--nproc needs a number of ranks, 1 or more.";
  if (request.no_follow) return "--nproc starts ranks to watch them, and --no-follow watches none.";
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
  if (request.sentinel && request.bad_batch)
    return "--bad-batch needs --mode exact, which stops in the failing step itself.";
  if (!request.keep_going || other == nullptr) return {};
  return fmt::format("--keep-going and {} exclude each other.", other);
}

// The names are those of the files in python/nanscope/integrations.
std::string check_notify(const RunRequest& request) {
  for (const std::string& place : request.notify) {
    const bool known = place.starts_with("http://") || place.starts_with("https://") ||
                       place == "wandb" || place == "mlflow" || place == "trackio" ||
                       (place.starts_with("tensorboard:") && place.size() > 12);
    if (!known)
      return fmt::format(
          "--notify is an http address, wandb, mlflow, trackio or tensorboard:FOLDER, not {}.",
          place);
  }
  return {};
}

// Known before a week of training rather than after it.
std::string check_files(const RunRequest& request) {
  if (!request.file.empty() && !exists(request.file)) return request.file + " does not exist.";
  if (request.json && request.json == request.output) return "-o and --json name the same file.";
  if (request.html && (request.html == request.output || request.html == request.json))
    return "--html names a file that is another output's.";
  if (request.bad_batch && !request.force && exists(*request.bad_batch))
    return *request.bad_batch +
           " exists; use -f to replace what was kept there, or name another folder.";
  if (std::string wrong = check_json(request); !wrong.empty()) return wrong;
  return check_html(request);
}

// What the words of some options come to is known only when all have been read.
struct Words {
  std::string steps;
  std::string nproc;
  std::string mode = "exact";
  std::string every;
  const Option* steps_option = nullptr;
  const Option* nproc_option = nullptr;
  const Option* mode_option = nullptr;
  const Option* every_option = nullptr;
};

void add_outputs(OptionList& app, RunRequest& request) {
  app.add_option("-o,--output", request.output,
                 "the capture (default: nanscope-<script>.<pid>.nsc)")
      ->type_name("FILE");
  app.add_flag("-f,--force", request.force, "replace the capture if it exists");
  app.add_option("--json", request.json, "write the findings there too; - is stdout, with -q")
      ->type_name("FILE");
  app.add_option("--html", request.html, "write the report there too, as a page")
      ->type_name("FILE");
}

void add_ways_to_end(OptionList& app, RunRequest& request) {
  app.add_flag("--keep-going", request.keep_going, "do not stop the program at the first error");
  app.add_flag("--raise", request.raise, "raise nanscope.NonFiniteError where the harm happens");
  app.add_flag("--strict", request.strict,
               "every birth of a NaN or Inf is an error, and raised at its very line");
  app.add_flag("--eager", request.eager,
               "switch every torch.compile off, to compare (docs/compiled.md)");
  app.add_flag("--pdb", request.pdb, "open the debugger there");
}

void add_ways_to_watch(OptionList& app, RunRequest& request, Words& words) {
  words.mode_option =
      app.add_option("--mode", words.mode,
                     "exact: every operation; sentinel: once a step (docs/sentinel.md)")
          ->type_name("exact|sentinel");
  app.add_option("--allow", request.allow,
                 "what is made there may be non-finite (docs/allow.md); may be given again")
      ->type_name("FILE[:LINE]");
  app.add_option("--notify", request.notify,
                 "tell of an error there too: URL, wandb, mlflow, trackio, tensorboard:FOLDER")
      ->type_name("WHERE");
  app.add_option("--bad-batch", request.bad_batch,
                 "keep the failing step there, for `nanscope replay` (docs/replay.md)")
      ->type_name("DIR");
  words.every_option = app.add_option("--snapshot-every", words.every,
                                      "with --mode sentinel: seconds between snapshots")
                           ->type_name("SECONDS");
}

void add_limits(OptionList& app, RunRequest& request, Words& words) {
  app.add_option("--layer", request.layer, "only findings of this module and what is inside it")
      ->type_name("NAME");
  app.add_option("--file", request.file, "only findings of this source file")->type_name("PATH");
  words.nproc_option =
      app.add_option("--nproc", words.nproc, "start it as N ranks, by torch.distributed.run")
          ->type_name("N");
  app.add_flag("--no-follow", request.no_follow,
               "do not watch other Pythons that the program starts");
  words.steps_option =
      app.add_option("--steps", words.steps, "stop after N training steps")->type_name("N");
}

// What is wrong with the whole of it; nothing if it can be run.
std::string check(const Arguments& program, Words& words, RunRequest& request) {
  request.mode_given = words.mode_option->count() > 0;
  if (words.every_option->count() > 0 && words.every.empty()) words.every = "nothing";
  for (const std::string& wrong :
       {take_count(*words.steps_option, words.steps, request.steps),
        take_count(*words.nproc_option, words.nproc, request.nproc), check_nproc(request),
        take_mode(words.mode, words.every, request), take_program(program, request),
        check_manner(request), check_files(request), check_notify(request)})
    if (!wrong.empty()) return wrong;
  return {};
}

Outcome carry_out_run(const Arguments& arguments, const Terminal& terminal) {
  RunRequest request;
  Words words;
  Options options(kRun,
                  {"run [options] script.py [args...]", "run [options] -m module [args...]",
                   "run [options] -c code [args...]"},
                  "  nanscope run -o loss.nsc train.py --epochs 3");
  options.manner_means("do not print the report",
                       "also the whole way, the stack, the dropped suspects and the notes");
  OptionList& app = options.app();
  add_outputs(app, request);
  add_ways_to_end(app, request);
  add_ways_to_watch(app, request, words);
  add_limits(app, request, words);

  const auto program =
      arguments.begin() + static_cast<std::ptrdiff_t>(program_begins(app, arguments));
  if (std::optional<Outcome> answer = options.parse(Arguments(arguments.begin(), program)))
    return *answer;
  take_manner(options.manner(), terminal, request);
  if (const std::string wrong = check(Arguments(program, arguments.end()), words, request);
      !wrong.empty())
    return options.bad_usage(wrong);
  if (request.output)
    if (const Status possible = check_destination(*request.output, request.force); !possible)
      return failed(possible.error());
  return {.run = request};
}

}  // namespace

const Verb kRun{"run",
                "Watches a program; shows the first operation that made a NaN or Inf, and why.",
                carry_out_run};

}  // namespace nanscope::cli
