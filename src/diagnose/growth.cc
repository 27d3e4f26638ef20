#include "diagnose/growth.h"

#include <cmath>

namespace nanscope::diagnosis {

std::optional<Growth> growth_of(const std::vector<double>& values) {
  constexpr double kGrows = 1.2;  // a tenth more is noise
  if (values.size() < 2) return std::nullopt;
  std::size_t begin = values.size() - 1;
  while (begin > 0 && values[begin - 1] > 0 && values[begin] > kGrows * values[begin - 1]) --begin;
  Growth growth;
  growth.steps = static_cast<int>(values.size() - 1 - begin);
  if (growth.steps == 0) return std::nullopt;
  growth.first = values[begin];
  growth.last = values.back();
  growth.per_step = std::pow(growth.last / growth.first, 1.0 / growth.steps);
  return growth;
}

std::vector<double> column(const std::vector<StepRecord>& history,
                           std::optional<double> StepRecord::*field) {
  std::vector<double> values;
  for (const StepRecord& record : history) {
    const std::optional<double>& value = record.*field;
    if (value && std::isfinite(*value)) values.push_back(std::abs(*value));
  }
  return values;
}

}  // namespace nanscope::diagnosis
