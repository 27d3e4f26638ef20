// Numbers in strict JSON, which knows no NaN: those that are not finite are words.
#pragma once

#include <cmath>
#include <optional>

#include "report/json_value.h"

namespace nanscope::report {

inline Json number_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

inline Json number_json(const std::optional<double>& value) {
  return value ? number_json(*value) : Json(nullptr);
}

}  // namespace nanscope::report
