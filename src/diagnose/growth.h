// How a number grew over the last steps, or through the layers: what "diverges" is measured by.
#pragma once

#include <optional>
#include <vector>

#include "diagnose/facts.h"

namespace nanscope::diagnosis {

struct Growth {
  double per_step = 1;  // the mean factor
  int steps = 0;        // over this many of them, each of which grew
  double first = 0;
  double last = 0;
};

// The longest run of growth that reaches the end; of finite, positive numbers. Nothing if the
// last step did not grow.
[[nodiscard]] std::optional<Growth> growth_of(const std::vector<double>& values);
// One column of the history, without the steps in which it is not known or not finite.
[[nodiscard]] std::vector<double> column(const std::vector<StepRecord>& history,
                                         std::optional<double> StepRecord::*field);

}  // namespace nanscope::diagnosis
