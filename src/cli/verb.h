// What every verb's file gives, and what they share. A verb is one file and one line in
// the list of cli.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/option_list.h"
#include "cli/request.h"

namespace nanscope::cli {

using Arguments = std::vector<std::string>;

struct Verb {
  const char* name;
  const char* summary;  // for the list of verbs
  Outcome (*carry_out)(const Arguments& arguments, const Terminal& terminal);
};

extern const Verb kRun;
extern const Verb kFix;
extern const Verb kShow;
extern const Verb kDump;
extern const Verb kReport;
extern const Verb kStats;
extern const Verb kMerge;
extern const Verb kExplain;
extern const Verb kDoctor;
extern const Verb kScan;
extern const Verb kReplay;
extern const Verb kAgentCommand;
extern const Verb kMcp;

// -q, -v, --no-color: every verb has them.
struct Manner {
  bool quiet = false;
  bool verbose = false;
  bool no_color = false;
};

// A verb's options, its -h, and what -h prints.
class Options {
 public:
  // `usage` has one line per form, without the leading "nanscope".
  Options(const Verb& verb, std::vector<std::string> usage, std::string example);

  OptionList& app() { return app_; }
  // What -q and -v mean to this verb.
  void manner_means(const char* quiet, const char* verbose);
  [[nodiscard]] const Manner& manner() const { return manner_; }
  // Nothing if the arguments are fine; else the answer: help, or what is wrong.
  [[nodiscard]] std::optional<Outcome> parse(const Arguments& arguments);
  [[nodiscard]] Outcome bad_usage(const std::string& sentence) const;

 private:
  [[nodiscard]] std::string help() const;

  const Verb& verb_;
  std::vector<std::string> usage_;
  std::string example_;
  OptionList app_;
  bool help_wanted_ = false;
  Manner manner_;
};

[[nodiscard]] Outcome failed(const Error& error);

}  // namespace nanscope::cli
