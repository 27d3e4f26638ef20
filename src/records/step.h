// How the training went: the steps until here, and the sizes inside the last one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nanscope {

// One training step, as it stood when the optimizer was about to act. What is not known is null.
struct StepRecord {
  std::int64_t step = 0;
  std::optional<double> loss;
  std::optional<double> gradient_norm;      // estimated from a fixed sample of each gradient
  std::optional<double> largest_parameter;  // |w|, of the same sample of each parameter
  std::optional<double> update_ratio;       // |change of w| / |w| by the step before
  std::optional<double> learning_rate;
  std::optional<double> loss_scale;
};

// The largest |value| at one place of the failing step, in the order of the forward.
struct Magnitude {
  std::string name;  // `self.fc2(h)`, or of a gradient the parameter's name
  double largest = 0;
  bool gradient = false;
};

}  // namespace nanscope
