// What a command line asks for, and what comes of it: plain values between the verbs, the parser
// and its caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nanscope {

// What the caller knows about where the output goes.
struct Terminal {
  int columns = 0;  // 0: unknown
  bool stdout_is_tty = false;
  bool stderr_is_tty = false;
  bool no_color = false;  // NO_COLOR is set, or TERM is dumb
};

struct RunRequest {
  enum class Kind { kScript, kModule, kCode };

  Kind kind = Kind::kScript;
  std::string target;                 // path, module name, or code
  std::vector<std::string> args;      // the program's own, untouched
  std::optional<std::string> output;  // -o; absent: default_capture_name
  bool force = false;
  std::optional<std::string> json;  // "-" is stdout
  std::optional<std::string> html;
  bool keep_going = false;
  bool raise = false;
  bool strict = false;
  bool pdb = false;
  bool eager = false;  // every torch.compile off
  std::optional<std::int64_t> steps;
  bool sentinel = false;                 // --mode sentinel
  bool mode_given = false;               // on the command line
  std::vector<std::string> allow;        // FILE or FILE:LINE, whose non-finite values are meant
  std::optional<std::string> bad_batch;  // a folder
  std::vector<std::string> notify;       // who is told of an error, besides the terminal
  double snapshot_every_s = 0;           // 0: as nanscope thinks best
  std::string layer;                     // empty: all
  std::optional<std::int64_t> nproc;     // so many ranks, by torch.distributed.run
  bool no_follow = false;                // other Pythons that the program starts are not watched
  std::string file;
  bool quiet = false;
  bool verbose = false;
  bool color = false;  // on stderr
};

// Absent numbers: the defaults of docs/fix.md.
struct FixRequest {
  RunRequest run;  // its target is empty if the capture's own program is meant
  std::optional<std::string> from;
  std::optional<std::int64_t> verify;
  std::optional<std::int64_t> max_runs;
  std::optional<std::int64_t> max_time;
  std::optional<std::int64_t> max_fixes;
  bool yes = false;
  bool apply = false;
  bool in_packages = false;  // `apply` may write into installed packages, too
};

struct ReplayRequest {
  std::string folder;  // of `run --bad-batch`
  RunRequest run;      // its target is empty if the kept command is meant
  bool yes = false;
};

struct Outcome {
  int status = 0;
  std::string out{};  // for stdout
  std::string err{};  // for stderr
  std::optional<RunRequest> run{};
  std::optional<FixRequest> fix{};
  std::optional<ReplayRequest> replay{};
  bool doctor = false;
  bool self_test = false;  // of `doctor`
  std::string device{};    // of `doctor`: one to be tried
  bool mcp = false;
  // The common options, for `doctor`.
  bool quiet = false;
  bool verbose = false;
  bool color = false;
};

}  // namespace nanscope
