#include "adapters/torch/session/session.h"

#include <ATen/Parallel.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>
#include <optional>

#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/program/frames.h"
#include "adapters/torch/session/story.h"
#include "adapters/torch/session/warnings.h"
#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/locks.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"
#include "capture/writer.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::size_t kMostNotes = 50;
constexpr std::size_t kMostSpoilt = 1 << 16;
constexpr std::size_t kLeftOut = std::numeric_limits<std::size_t>::max();  // no finding was made

bool is_below(const std::string& path, const std::string& root) {
  return path == root || path.starts_with(root + ".");
}

Counters difference(Counters now, const Counters& before) {
  now.ops -= before.ops;
  now.bytes -= before.bytes;
  now.own_ticks -= before.own_ticks;
  for (std::size_t i = 0; i < std::size(now.unseen); ++i) now.unseen[i] -= before.unseen[i];
  return now;
}

// What may be put back: state, and what a step is about to write.
bool can_be_undone(const Verdict& verdict, bool in_step) {
  if (verdict.harmless) return false;
  switch (verdict.harm) {
    case HarmKind::kParameter:
    case HarmKind::kBuffer:
    case HarmKind::kOptimizerState:
      return true;
    case HarmKind::kGradient:
    case HarmKind::kLoss:
      return in_step;
    default:
      return false;
  }
}

// The parameters and buffers that lie in this storage.
std::vector<WeakTensor> targets_in(StorageId storage) {
  std::vector<WeakTensor> found;
  if (storage == StorageId{}) return found;
  for (const auto& value : Watcher::get().world().live_targets()) {
    for (const at::Tensor& part : parts_of(value.tensor)) {
      if (storage_id(*part.unsafeGetTensorImpl()) != storage) continue;
      found.emplace_back(value.tensor.getIntrusivePtr());
      break;
    }
  }
  return found;
}

double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
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
  [[nodiscard]] SessionEnd end(int exit_status, Ended ended, const std::vector<NotWatched>& also,
                               const std::vector<Allowance>& allowed);

  void announce(const std::string& capture_path) const;
  void add_warning(Forewarning warning, const std::string& op, StackId stack, StorageId weight);
  [[nodiscard]] bool error_found();
  [[nodiscard]] std::optional<Finding> error_number(std::size_t number);
  [[nodiscard]] Capture so_far();

  // ---- what may still be undone
  [[nodiscard]] std::uint64_t open_harm() const noexcept { return open_harm_; }
  [[nodiscard]] std::uint64_t harms() const noexcept { return harms_; }
  void step_is_under_way(bool is) noexcept { in_step_ = is; }
  [[nodiscard]] std::vector<WeakTensor> take_spoilt();
  [[nodiscard]] std::optional<Finding> first_open();
  void withdraw_open(const std::string& how);
  void stop_for_open();
  void open_for_replay(bool expected);
  [[nodiscard]] bool replay_was_undone() const noexcept { return replay_was_undone_; }
  // What a replay said of the source; nothing: the error is this session's own.
  [[nodiscard]] std::optional<bool> replay_expects() const { return replay_expects_; }

  // Called by the judge, on the thread that did harm.
  void on_verdict(const Verdict& verdict);
  void on_the_same_again(const Verdict& verdict);

 private:
  void open_writer();
  void complain(const Error& error);
  void complain_of(const Status& status);
  void want_stop(const Verdict& verdict, std::size_t finding) const;
  [[nodiscard]] bool may_be_undone(const Verdict& verdict) const;
  void add_spoilt(const Verdict& verdict);
  void open(std::size_t finding);
  void stand_again(std::size_t finding);
  void close_open();
  [[nodiscard]] bool an_error_stands() const;
  [[nodiscard]] bool is_chosen(const Finding& finding) const;
  [[nodiscard]] Coverage coverage(const std::vector<NotWatched>& also) const;
  [[nodiscard]] std::optional<double> own_seconds(double seconds) const;
  [[nodiscard]] std::vector<Finding> tell_notes(const std::vector<Note>& notes) const;
  [[nodiscard]] std::string write_end(const Capture& capture, const std::vector<Finding>& others);

  Lock lock_{LockRank::kSession};
  SessionOptions options_;
  std::chrono::steady_clock::time_point began_;
  std::uint64_t began_ticks_ = 0;
  std::string layer_;
  std::string file_;
  std::optional<CaptureWriter> writer_;
  std::optional<Error> no_writer_;  // why there is none
  std::vector<Finding> findings_;
  std::map<std::size_t, std::size_t> finding_of_;  // by the number of the verdict
  std::vector<std::size_t> open_;                  // findings that may still be undone
  std::vector<WeakTensor> spoilt_;
  std::optional<bool> replay_expects_;
  std::atomic<std::uint64_t> open_harm_{0};
  std::atomic<bool> replay_was_undone_{false};
  std::atomic<std::uint64_t> harms_{0};
  std::atomic<bool> in_step_{false};
  Warnings warnings_;
  std::int64_t left_out_ = 0;  // findings outside the chosen layer or file
  std::vector<std::string> complaints_;
  Counters before_;  // what earlier sessions of this process had watched
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

// Not in a child: whoever waits for its result or status is to learn at once that it is none.
bool Session::may_be_undone(const Verdict& verdict) const {
  const bool is_child = !options_.news.empty();
  return options_.on_error != OnError::kRaise && !is_child && can_be_undone(verdict, in_step_);
}

// An optimizer says itself, when its step is over, what it has spoilt.
void Session::add_spoilt(const Verdict& verdict) {
  ++harms_;
  if (in_step_) return;
  std::vector<WeakTensor> found = targets_in(verdict.name.storage);
  const std::lock_guard guard(lock_);
  for (WeakTensor& tensor : found) {
    if (spoilt_.size() < kMostSpoilt) spoilt_.push_back(std::move(tensor));
  }
}

// Under the lock.
bool Session::an_error_stands() const {
  return std::any_of(findings_.begin(), findings_.end(),
                     [](const Finding& finding) { return finding.level == Level::kError; });
}

// Under the lock.
void Session::open(std::size_t finding) {
  if (open_.empty()) open_harm_ = harms_ + 1;
  if (std::find(open_.begin(), open_.end(), finding) == open_.end()) open_.push_back(finding);
}

// Under the lock.
void Session::close_open() {
  open_.clear();
  spoilt_.clear();
  replay_expects_.reset();
  open_harm_ = 0;
}

// The error is on disk before the program runs on.
void Session::on_verdict(const Verdict& verdict) {
  const bool opens = may_be_undone(verdict);
  if (opens) add_spoilt(verdict);
  // The first is the answer, unless it is undone.
  if (options_.on_error == OnError::kStop && error_found()) return;
  Finding finding = tell_story(verdict);
  const std::lock_guard guard(lock_);
  if (!is_chosen(finding)) {
    ++left_out_;
    finding_of_[verdict.number] = kLeftOut;
    return;
  }
  if (!finding.allowed.empty()) {
    warnings_.keep(std::move(finding));
    finding_of_[verdict.number] = kLeftOut;
    if (open_.empty()) spoilt_.clear();
    return;
  }
  if (writer_) complain_of(writer_->append(finding));
  findings_.push_back(std::move(finding));
  finding_of_[verdict.number] = findings_.size() - 1;
  if (findings_.size() == 1)
    announce(writer_ && writer_->exists() ? writer_->path() : std::string());
  if (opens) open(findings_.size() - 1);
  if (!opens || options_.on_error != OnError::kStop) want_stop(verdict, findings_.size() - 1);
}

// --raise and --strict guard every step, not the first alone. Elsewhere an error that was undone
// stands again, and one that was covered by another, which was undone since, is told now.
void Session::on_the_same_again(const Verdict& verdict) {
  const bool opens = may_be_undone(verdict);
  if (opens) add_spoilt(verdict);
  {
    const std::lock_guard guard(lock_);
    const auto known = finding_of_.find(verdict.number);
    const bool is_known = known != finding_of_.end();
    if (is_known && known->second == kLeftOut) return;
    if (options_.on_error == OnError::kRaise) {
      if (is_known) want_stop(verdict, known->second);
      return;
    }
    if (options_.on_error == OnError::kStop && an_error_stands()) return;
    if (is_known) {
      stand_again(known->second);
      if (opens) open(known->second);
      if (!opens) want_stop(verdict, known->second);
      return;
    }
  }
  on_verdict(verdict);
}

// Under the lock.
void Session::stand_again(std::size_t finding) {
  if (findings_[finding].undone.empty()) return;
  findings_[finding].level = Level::kError;
  findings_[finding].undone.clear();
  if (writer_) complain_of(writer_->append(Withdrawal{static_cast<std::int64_t>(finding), {}}));
  announce(writer_ && writer_->exists() ? writer_->path() : std::string());
}

void Session::open_for_replay(bool expected) {
  const std::lock_guard guard(lock_);
  ++harms_;
  replay_expects_ = expected;
  replay_was_undone_ = false;
  open_harm_ = harms_ + 1;
}

std::vector<WeakTensor> Session::take_spoilt() {
  const std::lock_guard guard(lock_);
  return std::exchange(spoilt_, {});
}

std::optional<Finding> Session::first_open() {
  const std::lock_guard guard(lock_);
  return open_.empty() ? std::nullopt : std::optional(findings_[open_.front()]);
}

void Session::withdraw_open(const std::string& how) {
  const std::lock_guard guard(lock_);
  for (const std::size_t number : open_) {
    findings_[number].level = Level::kNote;
    findings_[number].undone = how;
    if (writer_) complain_of(writer_->append(Withdrawal{static_cast<std::int64_t>(number), how}));
  }
  if (replay_expects_) replay_was_undone_ = true;
  close_open();
  if (!an_error_stands()) announce("!");
}

void Session::stop_for_open() {
  const std::lock_guard guard(lock_);
  if (open_.empty() && !replay_expects_) return;
  const std::size_t first = open_.empty() ? 0 : open_.front();
  close_open();
  if (options_.on_error == OnError::kStop) this_thread().want_stop(first);
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

// An estimate, so only where it was made of many calls; in mode sentinel none is watched.
std::optional<double> Session::own_seconds(double seconds) const {
  constexpr std::uint64_t kEnough = 2048;
  const Counters counters = difference(Threads::get().counters(), before_);
  const std::uint64_t all = __rdtsc() - began_ticks_;
  if (counters.ops < kEnough || all == 0) return std::nullopt;
  return seconds * static_cast<double>(counters.own_ticks) / static_cast<double>(all);
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
  const std::string why_not = watcher.readable_devices().why_not();
  add(unseen(Sight::kOtherDevice), "results on another device",
      why_not.empty() ? "they cannot be looked into, or NANSCOPE_DEVICES does not name the device"
                      : why_not.c_str());
  add(unseen(Sight::kUntriedDevice), "results on an untried kind of device",
      "they were looked at there, but nanscope has not been seen to work on such a device");
  add(unseen(Sight::kOpaque), "opaque results", "nested and mkldnn tensors show no elements");
  add(unseen(Sight::kWrapped), "tensor subclasses",
      "losses, gradients or parameters that do not say which tensors they wrap "
      "(__tensor_flatten__)");
  add(unseen(Sight::kOfOtherThread), "parameters, buffers and gradients of other threads",
      "threads that still ran when the watch ended could be writing them");
  add(watcher.new_ops().unwatched(), "kernels that came late",
      "a library in C++ put them in the place of watched ones, or in front of them");
  add(watcher.judge().evicted(), "evicted records",
      "more non-finite tensors were alive than are remembered");
  add(stacks_lost(), "unknown sites", "more distinct call stacks than are remembered");
  if (const std::string reason = Watcher::get().disarming().reason(); !reason.empty()) {
    coverage.not_watched.push_back({"everything after a fault of nanscope's own", reason, 1});
  }
  if (left_out_ != 0) {
    const bool layer = !layer_.empty();
    coverage.not_watched.push_back({"errors outside " + (layer ? layer_ : file_),
                                    layer ? "--layer" : "--file", left_out_, GapKind::kNotChosen});
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
    began_ = std::chrono::steady_clock::now();
    began_ticks_ = __rdtsc();
    findings_.clear();
    finding_of_.clear();
    close_open();
    in_step_ = false;
    warnings_.begin_anew();
    complaints_.clear();
    left_out_ = 0;
    before_ = Threads::get().counters();
    open_writer();
  }
  handed().open(options_.handed, options_.program.pid);
  if (options_.strict) judge.be_strict();
  judge.on_error([](const Verdict& verdict) { get().on_verdict(verdict); },
                 [](const Verdict& verdict) { get().on_the_same_again(verdict); });
  judge.on_other_read([] { this_thread().want_look(); });
}

// Written by children only: the process that began the run reads it when it ends.
// Note [Lines of the news] in run/news.py.
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
  finding_of_.clear();
  close_open();
  in_step_ = false;
  complaints_.clear();
  before_ = {};
  options_.capture_path = std::move(capture_path);
  options_.overwrite = options_.keep_capture = false;
  began_ = std::chrono::steady_clock::now();
  options_.news = std::move(news);
  options_.program.pid = pid;
  handed().open(options_.handed, pid);
  open_writer();  // the parent's file is closed here, and goes on there
}

bool Session::error_found() {
  const std::lock_guard guard(lock_);
  return an_error_stands();
}

std::optional<Finding> Session::error_number(std::size_t number) {
  const std::lock_guard guard(lock_);
  return number < findings_.size() ? std::optional(findings_[number]) : std::nullopt;
}

Capture Session::so_far() {
  Capture capture;
  {
    const WithoutGil without_gil;
    capture.coverage = coverage({});
  }
  const std::lock_guard guard(lock_);
  capture.program = options_.program;
  capture.findings = findings_;
  std::stable_sort(capture.findings.begin(), capture.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.level < b.level; });
  return capture;
}

void Session::add_warning(Forewarning warning, const std::string& op, StackId stack,
                          StorageId weight) {
  {
    const std::lock_guard guard(lock_);
    if (!warnings_.is_news(warning.id, stack, weight)) return;
  }
  Finding finding = tell_warning(std::move(warning), op, stack, weight);
  const std::lock_guard guard(lock_);
  if (is_chosen(finding)) warnings_.keep(std::move(finding));
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
  if (!an_error_stands() && !options_.keep_capture) {
    if (writer_) writer_->discard();  // what was found was undone
    return {};
  }
  if (no_writer_) complain(*no_writer_);
  if (!writer_) return {};
  complain_of(writer_->append(capture.program));
  complain_of(writer_->append(capture.coverage));
  for (const Finding& finding : others) complain_of(writer_->append(finding));
  complain_of(writer_->keep());
  complain_of(writer_->finish());
  return writer_->exists() ? writer_->path() : std::string();
}

SessionEnd Session::end(int exit_status, Ended ended, const std::vector<NotWatched>& also,
                        const std::vector<Allowance>& allowed) {
  SessionEnd end;
  std::vector<Note> notes;
  std::vector<Note> intended;
  {
    const WithoutGil without_gil;  // a thread may be with the judge, and need Python
    notes = Watcher::get().judge().notes();
    end.capture.coverage = coverage(also);
    end.capture.coverage.allowed = allowed;
    end.capture.coverage.intended_more = Watcher::get().judge().intended_more();
    intended = Watcher::get().judge().intended();
  }
  for (const Note& one : intended) end.capture.coverage.intended.push_back(tell_intended(one));
  std::vector<Finding> others = tell_notes(notes);

  const std::lock_guard guard(lock_);
  others.insert(others.begin(), warnings_.all().begin(), warnings_.all().end());
  std::stable_sort(others.begin(), others.end(),
                   [](const Finding& a, const Finding& b) { return a.level < b.level; });
  end.capture.program = options_.program;
  end.capture.program.exit_status = exit_status;
  end.capture.program.ended = ended;
  end.capture.program.seconds = seconds_since(began_);
  end.capture.program.own_seconds = own_seconds(*end.capture.program.seconds);
  const int threads = at::get_num_threads();
  end.capture.program.devices = {"cpu, " + std::to_string(threads) +
                                 (threads == 1 ? " thread" : " threads")};
  end.capture.findings = findings_;
  end.capture.findings.insert(end.capture.findings.end(), others.begin(), others.end());
  std::stable_sort(end.capture.findings.begin(), end.capture.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.level < b.level; });
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

SessionEnd end_session(int exit_status, Ended ended, const std::vector<NotWatched>& also,
                       const std::vector<Allowance>& allowed) {
  return Session::get().end(exit_status, ended, also, allowed);
}

bool error_found() { return Session::get().error_found(); }

Capture capture_so_far() { return Session::get().so_far(); }

std::optional<Finding> error_number(std::size_t number) {
  return Session::get().error_number(number);
}

std::uint64_t open_harm() noexcept { return Session::get().open_harm(); }
std::uint64_t harms_so_far() noexcept { return Session::get().harms(); }
std::vector<WeakTensor> take_spoilt() { return Session::get().take_spoilt(); }
void step_is_under_way(bool is) noexcept { Session::get().step_is_under_way(is); }
void withdraw_open(const std::string& how) { Session::get().withdraw_open(how); }
void stop_for_open() { Session::get().stop_for_open(); }

void open_for_replay(bool expected) { Session::get().open_for_replay(expected); }
bool replay_was_undone() noexcept { return Session::get().replay_was_undone(); }

bool source_tests_for_it() {
  if (const std::optional<bool> said = Session::get().replay_expects()) return *said;
  const std::optional<Finding> finding = Session::get().first_open();
  return finding && source_tests_for_nonfinite(*finding);
}

void tell_of_handed(const Verdict& verdict, const BadPattern& pattern, Kinds kinds) {
  if (!handed().is_open()) return;
  const EventView& origin = verdict.origin;
  const std::uint64_t line = origin.place.line != 0 ? origin.place.line : origin.place.stack;
  const std::uint64_t key = reinterpret_cast<std::uintptr_t>(origin.op) * 31 + line;
  std::optional<Finding> finding;
  if (!handed().knows(key)) finding = tell_story(verdict);
  handed().add(pattern, kinds, key, finding ? &*finding : nullptr);
}

void announce(const std::string& capture_path) { Session::get().announce(capture_path); }

void add_warning(Forewarning warning, const std::string& op, StackId stack, StorageId weight) {
  Session::get().add_warning(std::move(warning), op, stack, weight);
}

}  // namespace nanscope::torch_adapter
