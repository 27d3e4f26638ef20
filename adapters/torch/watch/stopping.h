// Stopping the program: on the thread that did harm, by an exception that Python chooses.
//
// A verdict only asks for the stop (ThreadWatch::want_stop): it is reached under the judge's
// lock, in the middle of an op. The thread throws when it is back at a place where it may.
#pragma once

#include <atomic>
#include <cstdint>

#include "adapters/torch/watch/kept_function.h"

struct _object;

namespace nanscope::torch_adapter {

class Stopping {
 public:
  // `exception_for` takes the number of a finding, or None where the steps are done; 0 steps: no
  // limit. With the GIL held.
  void configure(_object* exception_for, std::int64_t steps);
  // Called, with the GIL, where the program runs on after it has read a bad number that no gradient
  // flows through (ThreadWatch::want_look); None: nobody.
  void tell_of_reads(_object* callback);

  // Stops the program here, if a verdict wants it: throws the exception that Python gives for the
  // finding, and goes on if it gives none.
  void stop_if_wanted();
  // The same when the steps that were asked for are done.
  void stop_after_steps(std::int64_t done);
  // Raises this exception, as a stop.
  [[noreturn]] void raise(_object* exception);

  // Ctrl-C, or what a signal handler of the program raised, while Python code of ours ran on this
  // thread: it is the program's, and `stop_if_wanted` throws it there. Takes the reference.
  static void keep_interrupt(_object* exception) noexcept;

  // Calls Python code of ours in the middle of the program's, with the GIL held. What comes out of
  // it once and not twice is the program's (Ctrl-C, a timeout of its own), and so is what is no
  // `Exception`: that is kept for it. A new reference, or null; leaves no exception.
  [[nodiscard]] static _object* ask(_object* function, _object* arguments) noexcept;

  // How often the program was stopped: it may catch it.
  [[nodiscard]] int count() const noexcept { return thrown_; }
  // In the child of a fork.
  void begin_anew() noexcept;

 private:
  void throw_exception_for(_object* finding);

  KeptFunction exception_for_;
  KeptFunction on_read_;
  std::int64_t most_steps_ = 0;
  std::atomic<int> thrown_{0};
};

}  // namespace nanscope::torch_adapter
