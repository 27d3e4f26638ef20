// The tree of modules at the moment of an error: how large the numbers of each are.
#pragma once

#include <vector>

#include "origin/event_facts.h"
#include "records/finding.h"

struct _object;

namespace nanscope::torch_adapter {

// Weights and gradients as they are now, and what the ops of each module kept. `tree` is the
// Python function that names the modules (module_tree.py). With the GIL held.
void tell_modules(_object* tree, const std::vector<EventFacts::Kept>& kept, Finding& finding);

}  // namespace nanscope::torch_adapter
