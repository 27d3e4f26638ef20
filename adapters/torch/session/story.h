// From a verdict to a finding: places get their source text, inputs their names.
#pragma once

#include "adapters/torch/program/frames.h"
#include "origin/judge.h"
#include "records/finding.h"

struct _object;

namespace nanscope::torch_adapter {

// The Python functions that read source and name parameters (story.py). With the GIL held.
void configure_story(_object* describe, _object* name);

// What no watched op made may have been computed before the watch began; it is no data then.
void made_before_the_watch(bool may) noexcept;

// These take the GIL.
[[nodiscard]] Finding tell_story(const Verdict& verdict);
[[nodiscard]] Finding tell_note(const Note& note);
// `weight`: of the parameter that the warning is about; 0: of none.
[[nodiscard]] Finding tell_warning(Forewarning warning, const std::string& op, StackId stack,
                                   StorageId weight);

}  // namespace nanscope::torch_adapter
