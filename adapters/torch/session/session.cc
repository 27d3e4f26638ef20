#include "adapters/torch/session/session.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>

#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/program/frames.h"
#include "adapters/torch/session/story.h"
#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/locks.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"
#include "capture/writer.h"

namespace nanscope::torch_adapter {
namespace {

struct Session {
  Lock lock{LockRank::kSession};
  SessionOptions options;
  std::string layer;
  std::string file;
  std::optional<CaptureWriter> writer;
  std::optional<Error> no_writer;  // why there is none
  std::vector<Finding> findings;
  std::vector<Finding> warnings;
  std::int64_t left_out = 0;  // findings outside the chosen layer or file
  std::vector<std::string> complaints;
  Counters before;  // what earlier sessions of this process had watched
  // By id, stack and weight, in all sessions of the process.
  std::set<std::tuple<std::string, StackId, std::uint64_t>> warned;
};

Session& session() {
  static auto& one = *new Session;
  return one;
}

constexpr std::size_t kMostNotes = 50;
constexpr std::size_t kMostWarnings = 20;

bool is_below(const std::string& path, const std::string& root) {
  return path == root || path.starts_with(root + ".");
}

bool is_chosen(const Session& all, const Finding& finding) {
  const Origin& origin = finding.origin;
  if (!all.layer.empty() && !(origin.module && is_below(*origin.module, all.layer))) return false;
  return all.file.empty() || origin.site.file == all.file;
}

void complain(Session& all, const Error& error) {
  if (std::find(all.complaints.begin(), all.complaints.end(), error.message) ==
      all.complaints.end()) {
    all.complaints.push_back(error.message);
  }
}

// The first thing to do on this thread when it is back from the judge. An exception of the
// program's own is on its way already.
void want_stop(const Session& all, const Verdict& verdict, std::size_t finding) {
  if (all.options.on_error == OnError::kGoOn) return;
  if (!verdict.harmless && verdict.harm == HarmKind::kException) return;
  this_thread().stop_wanted = true;
  this_thread().stop_for = finding;
}

// Called by the judge, on the thread that did harm. The error is on disk before the program runs
// on.
void on_verdict(const Verdict& verdict) {
  Session& all = session();
  if (all.options.on_error == OnError::kStop && error_found()) return;  // the first is the answer
  Finding finding = tell_story(verdict);
  const std::lock_guard guard(all.lock);
  if (!is_chosen(all, finding)) {
    ++all.left_out;
    return;
  }
  if (all.writer) {
    const Status written = all.writer->append(finding);
    if (!written) complain(all, written.error());
  }
  all.findings.push_back(std::move(finding));
  if (all.findings.size() == 1)
    announce(all.writer && all.writer->exists() ? all.writer->path() : std::string());
  want_stop(all, verdict, all.findings.size() - 1);
}

// --raise and --strict guard every step, not the first alone.
void on_the_same_again(const Verdict& verdict) {
  Session& all = session();
  if (all.options.on_error != OnError::kRaise) return;
  const std::lock_guard guard(all.lock);
  if (verdict.number < all.findings.size()) want_stop(all, verdict, verdict.number);
}

// The capture is made when there is something to write.
void open_writer(Session& all) {
  all.writer.reset();
  all.no_writer.reset();
  if (all.options.capture_path.empty()) return;
  Result<CaptureWriter> writer =
      CaptureWriter::create(all.options.capture_path, all.options.overwrite);
  if (writer) {
    all.writer.emplace(std::move(writer.value()));
    (void)all.writer->append(all.options.program);
  } else {
    all.no_writer = writer.error();
  }
}

Counters difference(Counters now, const Counters& before) {
  now.ops -= before.ops;
  now.bytes -= before.bytes;
  for (std::size_t i = 0; i < std::size(now.unseen); ++i) now.unseen[i] -= before.unseen[i];
  return now;
}

Coverage coverage_now(const std::vector<NotWatched>& also) {
  const Watcher& watcher = Watcher::get();
  const Counters counters = difference(Threads::get().counters(), session().before);
  Coverage coverage;
  coverage.ops_watched = static_cast<std::int64_t>(counters.ops);
  coverage.bytes_scanned = static_cast<std::int64_t>(counters.bytes);
  coverage.steps = watcher.judge.steps();
  auto add = [&](std::uint64_t count, const char* what, const char* why) {
    if (count != 0) coverage.not_watched.push_back({what, why, static_cast<std::int64_t>(count)});
  };
  auto unseen = [&](Sight sight) { return counters.unseen[static_cast<int>(sight)]; };
  add(unseen(Sight::kSparse), "sparse results", "the values of sparse tensors are not scanned");
  add(unseen(Sight::kQuantized), "quantized results", "quantized tensors are not scanned");
  add(unseen(Sight::kOtherDevice), "results on another device", "only the CPU is watched");
  add(unseen(Sight::kOpaque), "opaque results", "nested and mkldnn tensors show no elements");
  add(unseen(Sight::kWrapped), "tensor subclasses",
      "losses, gradients or parameters that do not say which tensors they wrap "
      "(__tensor_flatten__)");
  add(watcher.judge.evicted(), "evicted records",
      "more non-finite tensors were alive than are remembered");
  add(stacks_lost(), "unknown sites", "more distinct call stacks than are remembered");
  if (const std::string reason = Watcher::get().disarming.reason(); !reason.empty()) {
    coverage.not_watched.push_back({"everything after a fault of nanscope's own", reason, 1});
  }
  const Session& all = session();
  if (all.left_out != 0) {
    const bool layer = !all.layer.empty();
    coverage.not_watched.push_back({"errors outside " + (layer ? all.layer : all.file),
                                    layer ? "--layer" : "--file", all.left_out});
  }
  coverage.not_watched.insert(coverage.not_watched.end(), also.begin(), also.end());
  return coverage;
}

}  // namespace

void keep_to(const std::string& layer, const std::string& file) {
  session().layer = layer;
  session().file = file;
}

void begin_session(SessionOptions options) {
  Session& all = session();
  all.options = std::move(options);
  all.findings.clear();
  all.warnings.clear();
  all.complaints.clear();
  all.left_out = 0;
  all.before = Threads::get().counters();
  open_writer(all);
  if (all.options.strict) Watcher::get().judge.be_strict();
  Watcher::get().judge.on_error(on_verdict, on_the_same_again);
}

// Written by children only: the process that began the run reads it when it ends.
void announce(const std::string& capture_path) {
  const SessionOptions& options = session().options;
  if (options.news.empty()) return;
  const int fd = ::open(options.news.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return;  // the run is gone; the capture is there
  const std::string line = std::to_string(options.program.pid) + " " +
                           (capture_path.empty() ? "-" : capture_path) + "\n";
  const auto written = ::write(fd, line.data(), line.size());
  (void)written;
  ::close(fd);
}

void session_forked(std::string capture_path, std::string news, std::int64_t pid) {
  Session& all = session();
  all.findings.clear();
  all.complaints.clear();
  all.before = {};
  all.options.capture_path = std::move(capture_path);
  all.options.overwrite = all.options.keep_capture = false;
  all.options.news = std::move(news);
  all.options.program.pid = pid;
  open_writer(all);  // the parent's file is closed here, and goes on there
}

bool error_found() {
  Session& all = session();
  const std::lock_guard guard(all.lock);
  return !all.findings.empty();
}

std::optional<Finding> error_number(std::size_t number) {
  Session& all = session();
  const std::lock_guard guard(all.lock);
  return number < all.findings.size() ? std::optional(all.findings[number]) : std::nullopt;
}

void add_warning(Forewarning warning, const std::string& op, StackId stack, StorageId weight) {
  Session& all = session();
  {
    const std::lock_guard guard(all.lock);
    if (!all.warned.insert({warning.id, stack, weight.value}).second) return;
  }
  Finding finding = tell_warning(std::move(warning), op, stack, weight);
  const std::lock_guard guard(all.lock);
  if (all.warnings.size() < kMostWarnings && is_chosen(all, finding))
    all.warnings.push_back(std::move(finding));
}

SessionEnd end_session(int exit_status, Ended ended, const std::vector<NotWatched>& also) {
  Session& all = session();
  std::vector<Note> notes;
  Coverage coverage;
  {
    const WithoutGil without_gil;  // a thread may be with the judge, and need Python
    notes = Watcher::get().judge.notes();
    coverage = coverage_now(also);
  }
  std::vector<Finding> notes_and_warnings;
  for (std::size_t i = 0; i < notes.size() && i < kMostNotes; ++i)
    notes_and_warnings.push_back(tell_note(notes[i]));
  std::erase_if(notes_and_warnings, [&](const Finding& note) { return !is_chosen(all, note); });

  const std::lock_guard guard(all.lock);
  notes_and_warnings.insert(notes_and_warnings.begin(), all.warnings.begin(), all.warnings.end());
  std::stable_sort(notes_and_warnings.begin(), notes_and_warnings.end(),
                   [](const Finding& a, const Finding& b) { return a.level < b.level; });
  SessionEnd end;
  end.capture.program = all.options.program;
  end.capture.program.exit_status = exit_status;
  end.capture.program.ended = ended;
  end.capture.findings = all.findings;
  end.capture.findings.insert(end.capture.findings.end(), notes_and_warnings.begin(),
                              notes_and_warnings.end());
  end.capture.coverage = std::move(coverage);
  const bool wanted = !all.findings.empty() || all.options.keep_capture;
  if (wanted && all.no_writer) complain(all, *all.no_writer);
  if (wanted && all.writer) {
    auto note = [&](const Status& status) {
      if (!status) complain(all, status.error());
    };
    note(all.writer->append(end.capture.program));
    note(all.writer->append(end.capture.coverage));
    for (const Finding& finding : notes_and_warnings) note(all.writer->append(finding));
    note(all.writer->keep());
    note(all.writer->finish());
    if (all.writer->exists()) end.capture_path = all.writer->path();
  }
  end.complaints = all.complaints;
  if (const std::string reason = Watcher::get().disarming.reason(); !reason.empty()) {
    end.complaints.push_back("nanscope switched itself off, a fault of its own: " + reason + ".");
  }
  return end;
}

}  // namespace nanscope::torch_adapter
