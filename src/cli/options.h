// The options of a verb: what they share, how they are read, what -h prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/option_list.h"
#include "cli/verb.h"

namespace nanscope::cli {

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

// The answer to what went wrong.
[[nodiscard]] Outcome failed(const Error& error);

}  // namespace nanscope::cli
