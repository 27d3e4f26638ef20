// nanscope scan: NaN and Inf in checkpoints and arrays on disk. Nothing in them is executed.

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "checkpoint/compare_text.h"
#include "checkpoint/scan_json.h"
#include "checkpoint/scan_result.h"
#include "checkpoint/scan_text.h"
#include "cli/options.h"
#include "report/unicode.h"

namespace nanscope::cli {
namespace {

// Python's handler of Ctrl-C would wait until we return: while we read, it ends the process.
class InterruptsEndUs {
 public:
  InterruptsEndUs() {
    struct sigaction plain {};
    plain.sa_handler = SIG_DFL;
    ::sigaction(SIGINT, nullptr, &before_);
    if (before_.sa_handler != SIG_IGN) ::sigaction(SIGINT, &plain, nullptr);
  }
  ~InterruptsEndUs() { ::sigaction(SIGINT, &before_, nullptr); }
  InterruptsEndUs(const InterruptsEndUs&) = delete;
  InterruptsEndUs& operator=(const InterruptsEndUs&) = delete;

 private:
  struct sigaction before_ {};
};

// A model may lie in more files than a process may open by default.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// One line on the terminal, taken away when it is done.
class ProgressLine {
 public:
  ProgressLine(bool on, std::string_view what) : on_(on), what_(what) {}
  ~ProgressLine() {
    if (shown_) write("\r\x1b[K");
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::uint64_t done, std::uint64_t all) {
    if (!on_ || all == 0) return;
    shown_ = true;
    write(fmt::format("\r\x1b[K{}{:3.0f} % of {:.1f} GB", what_,
                      100.0 * static_cast<double>(done) / static_cast<double>(all),
                      static_cast<double>(all) / 1e9));
  }

 private:
  static void write(const std::string& text) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  }

  bool on_;
  std::string_view what_;
  bool shown_ = false;
};

checkpoint::ScanTextOptions text_options(const Manner& manner, const Terminal& terminal) {
  checkpoint::ScanTextOptions options;
  options.color = terminal.stdout_is_tty && !terminal.no_color && !manner.no_color;
  options.quiet = manner.quiet;
  options.verbose = manner.verbose;
  if (terminal.columns > 0) options.columns = static_cast<std::size_t>(terminal.columns);
  return options;
}

checkpoint::ScanResult look_at(const std::vector<std::string>& paths, bool with_progress) {
  ProgressLine line(with_progress, "");
  return checkpoint::scan_checkpoints(
      paths,
      {.progress = [&line](std::uint64_t done, std::uint64_t all) { line.show(done, all); }});
}

void complain(const std::vector<Error>& errors, Outcome& outcome) {
  for (const Error& error : errors) {
    outcome.err += "nanscope: " + report::safe(error.message) + "\n";
    outcome.status = 2;
  }
}

checkpoint::Comparison set_beside(const checkpoint::ScanResult& now,
                                  const checkpoint::ScanResult& then, bool with_progress) {
  ProgressLine line(with_progress, "compared: ");
  return checkpoint::compare(
      now, then, [&line](std::uint64_t done, std::uint64_t all) { line.show(done, all); });
}

Outcome conclusion(const checkpoint::ScanResult& now, const checkpoint::ScanResult* then,
                   const std::string& against, bool json,
                   const checkpoint::ScanTextOptions& options, bool with_progress) {
  Outcome outcome;
  outcome.status = checkpoint::exit_status(now);
  complain(now.opened.errors, outcome);
  if (then == nullptr) {
    outcome.out = json ? checkpoint::scan_json(now) : checkpoint::scan_text(now, options);
    return outcome;
  }
  complain(then->opened.errors, outcome);
  const checkpoint::Comparison comparison = set_beside(now, *then, with_progress);
  complain(comparison.errors, outcome);
  outcome.out = json ? checkpoint::compare_json(now, comparison, against)
                     : checkpoint::scan_text(now, options) +
                           checkpoint::compare_text(comparison, against, options);
  return outcome;
}

Outcome carry_out_scan(const Arguments& arguments, const Terminal& terminal) {
  std::vector<std::string> paths;
  std::string against;
  bool json = false;
  Options options(kScan, {"scan [options] PATH..."},
                  "  nanscope scan checkpoints/last.ckpt\n"
                  "  nanscope scan step_900.pt --against step_800.pt");
  options.manner_means("the answer alone, in a line", "every tensor");
  options.app().add_option("PATH", paths, "files or folders")->required();
  options.app()
      .add_option("--against", against,
                  "an older checkpoint: which tensors went bad since, which moved most")
      ->type_name("OTHER");
  options.app().add_flag("--json", json, "print JSON instead of text");
  if (std::optional<Outcome> answer = options.parse(arguments)) return *answer;

  allow_many_files();
  const InterruptsEndUs interrupts;
  const bool with_progress = terminal.stderr_is_tty && !options.manner().quiet;
  const checkpoint::ScanResult now = look_at(paths, with_progress);
  std::optional<checkpoint::ScanResult> then;
  if (!against.empty()) then = look_at({against}, with_progress);
  return conclusion(now, then ? &*then : nullptr, against, json,
                    text_options(options.manner(), terminal), with_progress);
}

}  // namespace

const Verb kScan{"scan", "Looks for NaN and Inf in checkpoints and arrays on disk.",
                 carry_out_scan};

}  // namespace nanscope::cli
