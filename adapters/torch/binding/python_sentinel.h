// The sentinel's looks, as Python directs them: what is asked of Python at each moment.
#pragma once

#include "adapters/torch/binding/python_objects.h"
#include "adapters/torch/sentinel/sentinel.h"

namespace nanscope::torch_adapter {

// Something is bad: Python has the exception to raise, or none.
void answer(const Alarm& alarm);
void snapshot_if_due();
// What the optimizers wrote that are due for a look, this one perhaps among them.
[[nodiscard]] Alarm look_at_written(nb::handle optimizer);

void add_sentinel(nb::module_& module);

}  // namespace nanscope::torch_adapter
