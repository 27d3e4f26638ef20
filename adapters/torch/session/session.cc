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

constexpr std::size_t kMostNotes = 50;
constexpr std::size_t kMostWarnings = 20;

bool is_below(const std::string& path, const std::string& root) {
  return path == root || path.starts_with(root + ".");
}

Counters difference(Counters now, const Counters& before) {
  now.ops -= before.ops;
  now.bytes -= before.bytes;
  for (std::size_t i = 0; i < std::size(now.unseen); ++i) now.unseen[i] -= before.unseen[i];
  return now;
}

// What is being watched now; each member function takes the lock where it needs it.
class Session {
 public:
  static Session& get() {
    static auto& one = *new Session;
    return one;
  }

  void begin(SessionOptions options);
  void begin_in_child(std::string capture_path, std::string news, std::int64_t pid);
  void keep_to(const std::string& layer, const std::string& file);
  [[nodiscard]] SessionEnd end(int exit_status, Ended ended, const std::vector<NotWatched>& also);

  void announce(const std::string& capture_path) const;
  void add_warning(Forewarning warning, const std::string& op, StackId stack, StorageId weight);
  [[nodiscard]] bool error_found();
  [[nodiscard]] std::optional<Finding> error_number(std::size_t number);

  // Called by the judge, on the thread that did harm.
  void on_verdict(const Verdict& verdict);
  void on_the_same_again(const Verdict& verdict);

 private:
  void open_writer();
  void complain(const Error& error);
  void complain_of(const Status& status);
  void want_stop(const Verdict& verdict, std::size_t finding) const;
  [[nodiscard]] bool is_chosen(const Finding& finding) const;
  [[nodiscard]] Coverage coverage(const std::vector<NotWatched>& also) const;
  [[nodiscard]] std::vector<Finding> tell_notes(const std::vector<Note>& notes) const;
  [[nodiscard]] std::string write_end(const Capture& capture, const std::vector<Finding>& others);

  Lock lock_{LockRank::kSession};
  SessionOptions options_;
  std::string layer_;
  std::string file_;
  std::optional<CaptureWriter> writer_;
  std::optional<Error> no_writer_;  // why there is none
  std::vector<Finding> findings_;
  std::vector<Finding> warnings_;
  std::int64_t left_out_ = 0;  // findings outside the chosen layer or file
  std::vector<std::string> complaints_;
  Counters before_;  // what earlier sessions of this process had watched
  // By id, stack and weight, in all sessions of the process.
  std::set<std::tuple<std::string, StackId, std::uint64_t>> warned_;
};

bool Session::is_chosen(const Finding& finding) const {
  const Origin& origin = finding.origin;
  if (!layer_.empty() && !(origin.module && is_below(*origin.module, layer_))) return false;
  return file_.empty() || origin.site.file == file_;
}

void Session::complain(const Error& error) {
  if (std::find(complaints_.begin(), complaints_.end(), error.message) == complaints_.end())
    complaints_.push_back(error.message);
}

void Session::complain_of(const Status& status) {
  if (!status) complain(status.error());
}

// The first thing to do on this thread when it is back from the judge. An exception of the
// program's own is on its way already.
void Session::want_stop(const Verdict& verdict, std::size_t finding) const {
  if (options_.on_error == OnError::kGoOn) return;
  if (!verdict.harmless && verdict.harm == HarmKind::kException) return;
  this_thread().want_stop(finding);
}

// The error is on disk before the program runs on.
void Session::on_verdict(const Verdict& verdict) {
  // The first is the answer.
  if (options_.on_error == OnError::kStop && error_found()) return;
  Finding finding = tell_story(verdict);
  const std::lock_guard guard(lock_);
  if (!is_chosen(finding)) {
    ++left_out_;
    return;
  }
  if (writer_) complain_of(writer_->append(finding));
  findings_.push_back(std::move(finding));
  if (findings_.size() == 1)
    announce(writer_ && writer_->exists() ? writer_->path() : std::string());
  want_stop(verdict, findings_.size() - 1);
}

// --raise and --strict guard every step, not the first alone.
void Session::on_the_same_again(const Verdict& verdict) {
  if (options_.on_error != OnError::kRaise) return;
  const std::lock_guard guard(lock_);
  if (verdict.number < findings_.size()) want_stop(verdict, verdict.number);
}

// The capture is made when there is something to write.
void Session::open_writer() {
  writer_.reset();
  no_writer_.reset();
  if (options_.capture_path.empty()) return;
  Result<CaptureWriter> writer = CaptureWriter::create(options_.capture_path, options_.overwrite);
  if (writer) {
    writer_.emplace(std::move(writer.value()));
    (void)writer_->append(options_.program);
  } else {
    no_writer_ = writer.error();
  }
}

Coverage Session::coverage(const std::vector<NotWatched>& also) const {
  const Watcher& watcher = Watcher::get();
  const Counters counters = difference(Threads::get().counters(), before_);
  Coverage coverage;
  coverage.ops_watched = static_cast<std::int64_t>(counters.ops);
  coverage.bytes_scanned = static_cast<std::int64_t>(counters.bytes);
  coverage.steps = watcher.judge().steps();
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
  add(watcher.judge().evicted(), "evicted records",
      "more non-finite tensors were alive than are remembered");
  add(stacks_lost(), "unknown sites", "more distinct call stacks than are remembered");
  if (const std::string reason = Watcher::get().disarming().reason(); !reason.empty()) {
    coverage.not_watched.push_back({"everything after a fault of nanscope's own", reason, 1});
  }
  if (left_out_ != 0) {
    const bool layer = !layer_.empty();
    coverage.not_watched.push_back(
        {"errors outside " + (layer ? layer_ : file_), layer ? "--layer" : "--file", left_out_});
  }
  coverage.not_watched.insert(coverage.not_watched.end(), also.begin(), also.end());
  return coverage;
}

void Session::keep_to(const std::string& layer, const std::string& file) {
  const std::lock_guard guard(lock_);
  layer_ = layer;
  file_ = file;
}

void Session::begin(SessionOptions options) {
  Judge& judge = Watcher::get().judge();
  {
    const std::lock_guard guard(lock_);
    options_ = std::move(options);
    findings_.clear();
    warnings_.clear();
    complaints_.clear();
    left_out_ = 0;
    before_ = Threads::get().counters();
    open_writer();
  }
  if (options_.strict) judge.be_strict();
  judge.on_error([](const Verdict& verdict) { get().on_verdict(verdict); },
                 [](const Verdict& verdict) { get().on_the_same_again(verdict); });
}

// Written by children only: the process that began the run reads it when it ends.
void Session::announce(const std::string& capture_path) const {
  if (options_.news.empty()) return;
  const int fd = ::open(options_.news.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return;  // the run is gone; the capture is there
  const std::string line = std::to_string(options_.program.pid) + " " +
                           (capture_path.empty() ? "-" : capture_path) + "\n";
  const auto written = ::write(fd, line.data(), line.size());
  (void)written;
  ::close(fd);
}

void Session::begin_in_child(std::string capture_path, std::string news, std::int64_t pid) {
  const std::lock_guard guard(lock_);
  findings_.clear();
  complaints_.clear();
  before_ = {};
  options_.capture_path = std::move(capture_path);
  options_.overwrite = options_.keep_capture = false;
  options_.news = std::move(news);
  options_.program.pid = pid;
  open_writer();  // the parent's file is closed here, and goes on there
}

bool Session::error_found() {
  const std::lock_guard guard(lock_);
  return !findings_.empty();
}

std::optional<Finding> Session::error_number(std::size_t number) {
  const std::lock_guard guard(lock_);
  return number < findings_.size() ? std::optional(findings_[number]) : std::nullopt;
}

void Session::add_warning(Forewarning warning, const std::string& op, StackId stack,
                          StorageId weight) {
  {
    const std::lock_guard guard(lock_);
    if (!warned_.insert({warning.id, stack, weight.value}).second) return;
  }
  Finding finding = tell_warning(std::move(warning), op, stack, weight);
  const std::lock_guard guard(lock_);
  if (warnings_.size() < kMostWarnings && is_chosen(finding))
    warnings_.push_back(std::move(finding));
}

// Those that are wanted.
std::vector<Finding> Session::tell_notes(const std::vector<Note>& notes) const {
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < notes.size() && i < kMostNotes; ++i)
    findings.push_back(tell_note(notes[i]));
  std::erase_if(findings, [&](const Finding& note) { return !is_chosen(note); });
  return findings;
}

// Under the lock. What there is besides errors; returns the path, empty if no capture is kept.
std::string Session::write_end(const Capture& capture, const std::vector<Finding>& others) {
  if (findings_.empty() && !options_.keep_capture) return {};
  if (no_writer_) complain(*no_writer_);
  if (!writer_) return {};
  complain_of(writer_->append(capture.program));
  complain_of(writer_->append(capture.coverage));
  for (const Finding& finding : others) complain_of(writer_->append(finding));
  complain_of(writer_->keep());
  complain_of(writer_->finish());
  return writer_->exists() ? writer_->path() : std::string();
}

SessionEnd Session::end(int exit_status, Ended ended, const std::vector<NotWatched>& also) {
  SessionEnd end;
  std::vector<Note> notes;
  {
    const WithoutGil without_gil;  // a thread may be with the judge, and need Python
    notes = Watcher::get().judge().notes();
    end.capture.coverage = coverage(also);
  }
  std::vector<Finding> others = tell_notes(notes);

  const std::lock_guard guard(lock_);
  others.insert(others.begin(), warnings_.begin(), warnings_.end());
  std::stable_sort(others.begin(), others.end(),
                   [](const Finding& a, const Finding& b) { return a.level < b.level; });
  end.capture.program = options_.program;
  end.capture.program.exit_status = exit_status;
  end.capture.program.ended = ended;
  end.capture.findings = findings_;
  end.capture.findings.insert(end.capture.findings.end(), others.begin(), others.end());
  end.capture_path = write_end(end.capture, others);
  end.complaints = complaints_;
  if (const std::string reason = Watcher::get().disarming().reason(); !reason.empty()) {
    end.complaints.push_back("nanscope switched itself off, a fault of its own: " + reason + ".");
  }
  return end;
}

}  // namespace

void keep_to(const std::string& layer, const std::string& file) {
  Session::get().keep_to(layer, file);
}

void begin_session(SessionOptions options) { Session::get().begin(std::move(options)); }

void session_forked(std::string capture_path, std::string news, std::int64_t pid) {
  Session::get().begin_in_child(std::move(capture_path), std::move(news), pid);
}

SessionEnd end_session(int exit_status, Ended ended, const std::vector<NotWatched>& also) {
  return Session::get().end(exit_status, ended, also);
}

bool error_found() { return Session::get().error_found(); }

std::optional<Finding> error_number(std::size_t number) {
  return Session::get().error_number(number);
}

void announce(const std::string& capture_path) { Session::get().announce(capture_path); }

void add_warning(Forewarning warning, const std::string& op, StackId stack, StorageId weight) {
  Session::get().add_warning(std::move(warning), op, stack, weight);
}

}  // namespace nanscope::torch_adapter
