// What every verb's file gives. A verb is one file and one line in
// the list of cli.cc.
#pragma once

#include <string>
#include <vector>

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

}  // namespace nanscope::cli
