// One watched run: findings to the capture as they happen, the whole at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapters/torch/program/frames.h"
#include "adapters/torch/watch/world.h"
#include "origin/verdict.h"
#include "records/capture.h"
#include "watch/tensor_state.h"

namespace nanscope::torch_adapter {

// What happens on the thread that did harm.
enum class OnError : std::uint8_t {
  kStop,   // the program is stopped at the first error
  kGoOn,   // --keep-going
  kRaise,  // --raise, --strict, --pdb: Python is asked, at every error
};

struct SessionOptions {
  std::string capture_path;
  bool overwrite = false;
  bool keep_capture = false;  // the user named it: written even without a finding
  OnError on_error = OnError::kStop;
  bool strict = false;  // every birth is an error
  std::string news;     // a file where a child announces its first finding to the run
  std::string handed;   // a file where its processes tell of what they hand to each other
  Program program;
};

// Keeps only findings of this module (and what is inside it), or of this file, from now on, and
// counts the others. Empty: keeps all.
void keep_to(const std::string& layer, const std::string& file);

// Makes the verdicts of the judge findings of this session: a run, or one watch() block.
void begin_session(SessionOptions options);

struct SessionEnd {
  Capture capture;
  std::string capture_path;             // empty if none was kept
  std::vector<std::string> complaints;  // what could not be written, a sentence each
};
[[nodiscard]] SessionEnd end_session(int exit_status, Ended ended,
                                     const std::vector<NotWatched>& also_not_watched,
                                     const std::vector<Allowance>& allowed);
[[nodiscard]] bool error_found();
// One error of this session, in the order in which they were found.
[[nodiscard]] std::optional<Finding> error_number(std::size_t number);
// What a session that goes on has so far: its program, its coverage and its errors.
[[nodiscard]] Capture capture_so_far();

// Tells the run that this process, a child of it, found an error; "": there is no capture of it.
void announce(const std::string& capture_path);

// A tensor with these bad elements is about to be handed to another process of the run.
void tell_of_handed(const Verdict& verdict, const BadPattern& pattern, Kinds kinds);

// The child of a fork begins a session of its own.
void session_forked(std::string capture_path, std::string news, std::int64_t pid);

// ---- errors that may still be undone (Note [Undone harm] in undoing.h); any thread
// The number of the harm that is open: 0, none.
[[nodiscard]] std::uint64_t open_harm() noexcept;
[[nodiscard]] std::uint64_t harms_so_far() noexcept;
// What an op has spoilt since this was last asked.
[[nodiscard]] std::vector<WeakTensor> take_spoilt();
// An optimizer is at work: it says afterwards what it has spoilt.
void step_is_under_way(bool is) noexcept;
// The source of the program tests for NaN or Inf. With the GIL held.
[[nodiscard]] bool source_tests_for_it();
void withdraw_open(const std::string& how);
// An error that a replay of the run has found may be undone by the run.
void open_for_replay(bool source_tests_for_it);
// What it opened was put back; not: it was used.
[[nodiscard]] bool replay_was_undone() noexcept;
// It is used: the error stands, and this thread is to stop.
void stop_for_open();

// A warning of this session; takes the GIL. `stack` is where the program stands. The same one is
// given once in the life of the process.
void add_warning(Forewarning warning, const std::string& op, StackId stack, StorageId weight = {});

}  // namespace nanscope::torch_adapter
