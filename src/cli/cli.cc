#include "cli/cli.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <exception>

#include "cli/verb.h"

#ifndef NANSCOPE_VERSION
#define NANSCOPE_VERSION "0+unknown"
#endif

namespace nanscope {
namespace {

using cli::Verb;

// Every verb there is.
const Verb* const kVerbs[] = {&cli::kRun,     &cli::kFix,   &cli::kShow, &cli::kReport,
                              &cli::kStats,   &cli::kMerge, &cli::kDump, &cli::kScan,
                              &cli::kExplain, &cli::kDoctor};

std::string help() {
  std::string text =
      "usage: nanscope VERB [options] ...\n\n"
      "Finds the first operation that made a NaN or Inf in a PyTorch program, and says why.\n\n";
  for (const Verb* verb : kVerbs) text += fmt::format("  {:8}{}\n", verb->name, verb->summary);
  return text +
         "\n  -h, --help    print this; `nanscope VERB -h` is about one verb\n"
         "  --version     print the version\n"
         "\nexample:\n  nanscope run train.py\n";
}

Outcome unknown_verb(const std::string& word) {
  const bool program = word.ends_with(".py");
  return {
      .status = 2,
      .err =
          program
              ? fmt::format("nanscope: {0} is not a verb. To watch it: nanscope run {0}\n", word)
          : word.starts_with('-')
              ? fmt::format("nanscope: there is no option {}. `nanscope -h` lists what there is.\n",
                            word)
              : fmt::format("nanscope: there is no verb {}. `nanscope -h` lists them.\n", word)};
}

Outcome dispatch(const std::vector<std::string>& argv, const Terminal& terminal) {
  if (argv.size() < 2) return {.status = 2, .out = help()};
  const std::string& word = argv[1];
  if (word == "-h" || word == "--help") return {.out = help()};
  if (word == "--version") return {.out = fmt::format("nanscope {}\n", version())};
  for (const Verb* verb : kVerbs)
    if (word == verb->name) return verb->carry_out({argv.begin() + 2, argv.end()}, terminal);
  return unknown_verb(word);
}

// The last part of a path, without .py; only what is safe in a file name.
std::string stem_of(const std::string& target) {
  std::string path = target;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  std::string stem = path.substr(path.rfind('/') + 1);
  if (stem.ends_with(".py")) stem.resize(stem.size() - 3);
  std::replace_if(
      stem.begin(), stem.end(), [](unsigned char c) { return std::iscntrl(c) || c == '/'; }, '_');
  return stem.empty() ? "program" : stem;
}

}  // namespace

Outcome command_line(const std::vector<std::string>& argv, const Terminal& terminal) {
  try {
    return dispatch(argv, terminal);
  } catch (const std::exception& error) {
    return {.status = 125, .err = fmt::format("nanscope: a fault of its own: {}\n", error.what())};
  }
}

std::string default_capture_name(const RunRequest& request, std::int64_t pid) {
  const std::string stem =
      request.kind == RunRequest::Kind::kCode ? "code" : stem_of(request.target);
  return fmt::format("nanscope-{}.{}.nsc", stem, pid);
}

const char* version() { return NANSCOPE_VERSION; }

}  // namespace nanscope
