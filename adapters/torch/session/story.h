// From a verdict to a finding: places get their source text, inputs their names.
#pragma once

#include "adapters/torch/program/frames.h"
#include "adapters/torch/session/handed.h"
#include "origin/judge.h"
#include "records/coverage.h"
#include "records/finding.h"

struct _object;

namespace nanscope::torch_adapter {

// The Python functions behind a story: each is kept until another is given, or null.
struct StoryTellers {
  _object* describe = nullptr;  // reads source (story.py)
  _object* name = nullptr;      // names parameters (story.py)
  _object* modules = nullptr;   // the tree of modules (module_tree.py)
  _object* whence = nullptr;    // what is known of a value from outside torch (arrivals.py)
  _object* tests = nullptr;     // whether source tests for NaN (intent.py)
  _object* allows = nullptr;    // why the program allows it (allowances.py)
};
// With the GIL held.
void configure_story(const StoryTellers& given);

// What no watched op made may have been computed before the watch began; it is no data then.
void made_before_the_watch(bool may) noexcept;

// Where what other processes of the run handed over is told of.
[[nodiscard]] Handed& handed();

// These take the GIL.
[[nodiscard]] Finding tell_story(const Verdict& verdict);
[[nodiscard]] Finding tell_note(const Note& note);
[[nodiscard]] Intended tell_intended(const Note& note);
// Whether the source of the program around it tests for NaN or Inf.
[[nodiscard]] bool source_tests_for_nonfinite(const Finding& finding);
// `weight`: of the parameter that the warning is about; 0: of none.
[[nodiscard]] Finding tell_warning(Forewarning warning, const std::string& op, StackId stack,
                                   StorageId weight);

}  // namespace nanscope::torch_adapter
