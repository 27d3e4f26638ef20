// nanscope replay: meets the batch again that `run --bad-batch` kept. Needs Python; parsed here
// only.

#include <iterator>

#include "cli/options.h"
#include "cli/program.h"

namespace nanscope::cli {
namespace {

Outcome carry_out_replay(const Arguments& arguments, const Terminal& terminal) {
  ReplayRequest request;
  RunRequest& run = request.run;
  Options options(kReplay, {"replay [options] DIR [script.py [args...]]"},
                  "  nanscope replay bad\n  nanscope replay bad train.py --epochs 1");
  options.manner_means("do not print the report",
                       "also the whole way, the stack, the dropped suspects and the notes");
  OptionList& app = options.app();
  app.add_flag("--yes", request.yes, "ask nothing: run the command that is kept in DIR");
  app.add_option("--json", run.json, "write the findings there too; - is stdout, with -q")
      ->type_name("FILE");
  app.add_option("--html", run.html, "write the report there too, as a page")->type_name("FILE");
  const auto folder =
      arguments.begin() + static_cast<std::ptrdiff_t>(program_begins(app, arguments));
  if (std::optional<Outcome> answer = options.parse(Arguments(arguments.begin(), folder)))
    return *answer;
  if (folder == arguments.end()) return options.bad_usage("replay needs the folder that was kept.");
  request.folder = *folder;
  take_manner(options.manner(), terminal, run);
  const Arguments program(std::next(folder), arguments.end());
  for (const std::string& wrong :
       {exists(request.folder) ? std::string() : request.folder + " does not exist.",
        program.empty() ? std::string() : take_program(program, run), check_json(run),
        check_html(run)})
    if (!wrong.empty()) return options.bad_usage(wrong);
  return {.replay = request};
}

}  // namespace

const Verb kReplay{"replay", "Meets the failing step again that `run --bad-batch DIR` kept.",
                   carry_out_replay};

}  // namespace nanscope::cli
