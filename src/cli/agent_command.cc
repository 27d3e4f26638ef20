// nanscope agent-command: a command file for coding agents, which drives run, explain and fix.

#include "cli/options.h"

namespace nanscope::cli {
namespace {

constexpr const char* kCommandFile =
    R"(---
description: Find the operation that made the first harmful NaN or Inf in a training, say why, and fix it
argument-hint: [file_or_layer_name]
allowed-tools: Bash(nanscope:*), Read, Edit
---

Find out with `nanscope` why this training yields NaN or Inf. Do not guess from the source: let it run.

What was asked for: $ARGUMENTS

1. Choose the program.
   - A Python file was named: that is the program, unless another one starts the training and imports it; then
     run that one with `--file THE_FILE`.
   - A layer was named (`encoder.layers.3`): run the training script with `--layer NAME`.
   - Nothing was named: take the script that starts the training; if there are several, ask.
   Keep the arguments that it is usually given. Ask before a run that takes hours, or that writes
   somewhere of value.
2. Run it:

       nanscope run --json nanscope.json -o nanscope.nsc -f [--layer NAME] [--file PATH] script.py arguments...

   Exit status 3: an error was found. Any other status is the program's own. 2 and 125 are explained in one
   sentence on stderr. The findings are in nanscope.json (`findings[0]` is the first error, `level` is `error`);
   `nanscope show nanscope.nsc` prints them for a reader.
   - `verdict` is `clean`: say so, and how many operations were watched. Stop here.
   - `verdict` is `unknown`: say what was not watched (`coverage.not_watched`). It is not an all-clear.
3. Read the page of the cause: `nanscope explain CAUSE_ID` with `findings[0].cause.id`.
4. Try a patch: `nanscope fix --json nanscope-fix.json script.py arguments...`. It runs the program again and changes no
   file. Status 0: verified, or nothing to fix; 3: a proposal that could not be verified; 4: none holds.
   Apply it (`nanscope fix --apply ...`) only if you were asked to change the source.
5. Report these five parts, in this order and under these names, with the numbers that nanscope gives and none of
   your own:
   - **First Bad Operation**: file:line:column, the expression, op, phase, step, which elements.
   - **Root Cause**: the sentence, its evidence, and whether it is `certain` or `likely`. Never make
     `likely` into `certain`.
   - **Input Statistics**: the inputs by name, with dtype, shape, min, max and the values at the failing element.
   - **Fix** (or **Fix Applied**): the diff, and whether it changes the training.
   - **Verification**: its status word as it is (`verified`, `failed`, `not_exercised`, `inconclusive`, `not_run`)
     and the detail.
   Close with the coverage: how many operations were watched, and what was not.
)";

Outcome carry_out_agent_command(const Arguments& arguments, const Terminal&) {
  Options options(kAgentCommand, {"agent-command"},
                  "  nanscope agent-command > .claude/commands/nan-debug.md");
  if (std::optional<Outcome> answer = options.parse(arguments)) return *answer;
  return {.out = kCommandFile};
}

}  // namespace

const Verb kAgentCommand{"agent-command",
                         "Prints a command file with which a coding agent drives nanscope.",
                         carry_out_agent_command};

}  // namespace nanscope::cli
