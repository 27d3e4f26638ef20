// How near each module came to the largest number of its type.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/finding.h"

namespace nanscope::report {

struct ModuleRoom {
  std::string path;
  const char* what = "";  // activation, weight, gradient: where it came nearest
  std::string dtype;
  double largest = 0;  // NaN or Inf where there is one
  double bits = 0;     // doublings that are left; 0 where there is none
};

// Doublings until the type overflows; nothing for zeros and unknown types. What is not finite has
// none left.
[[nodiscard]] std::optional<double> doublings_left(const std::string& dtype, double largest);

// One for each module that holds something, the least first; a module that several findings saw
// counts where it came nearest.
[[nodiscard]] std::vector<ModuleRoom> module_rooms(const std::vector<Finding>& findings);
// Picks the least of each type.
[[nodiscard]] std::vector<ModuleRoom> least_of_each_type(const std::vector<ModuleRoom>& rooms);

}  // namespace nanscope::report
