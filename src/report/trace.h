// The steps and hits of captures in the Trace Event Format, for Perfetto and chrome://tracing.
//
// A capture holds no clock: a training step is drawn one millisecond long, and the ops of a way
// stand inside their step in the order in which they ran.
#pragma once

#include <string>
#include <vector>

#include "report/diagnosed.h"

namespace nanscope {

[[nodiscard]] std::string trace_report(const std::vector<Diagnosed>& captures);

}  // namespace nanscope
