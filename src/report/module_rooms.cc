#include "report/module_rooms.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/dtype.h"

namespace nanscope::report {
namespace {

void consider(std::optional<ModuleRoom>& nearest, const ModuleFacts& module, const char* what,
              const std::string& dtype, const std::optional<double>& largest) {
  if (!largest) return;
  const std::optional<double> bits = doublings_left(dtype, *largest);
  if (bits && (!nearest || *bits < nearest->bits))
    nearest = ModuleRoom{module.path, what, dtype, *largest, *bits};
}

std::optional<ModuleRoom> nearest_of(const ModuleFacts& module) {
  std::optional<ModuleRoom> nearest;
  consider(nearest, module, "activation", module.activation_dtype, module.activation);
  consider(nearest, module, "gradient", module.weight_dtype, module.gradient);
  consider(nearest, module, "weight", module.weight_dtype, module.weight);
  return nearest;
}

}  // namespace

std::optional<double> doublings_left(const std::string& dtype, double largest) {
  const std::optional<DType> known = scannable_named(dtype);
  if (!known || largest == 0) return std::nullopt;
  if (!std::isfinite(largest)) return 0;
  return std::max(std::log2(largest_of(*known)) - std::log2(std::fabs(largest)), 0.0);
}

std::vector<ModuleRoom> module_rooms(const std::vector<Finding>& findings) {
  std::map<std::string, ModuleRoom> least;
  for (const Finding& finding : findings) {
    for (const ModuleFacts& module : finding.modules) {
      const std::optional<ModuleRoom> room = nearest_of(module);
      if (!room) continue;
      const auto [place, is_new] = least.try_emplace(module.path, *room);
      if (!is_new && room->bits < place->second.bits) place->second = *room;
    }
  }
  std::vector<ModuleRoom> rooms;
  for (const auto& [path, room] : least) rooms.push_back(room);
  std::stable_sort(rooms.begin(), rooms.end(),
                   [](const ModuleRoom& a, const ModuleRoom& b) { return a.bits < b.bits; });
  return rooms;
}

std::vector<ModuleRoom> least_of_each_type(const std::vector<ModuleRoom>& rooms) {
  std::vector<ModuleRoom> least;
  std::set<std::string> seen;
  for (const ModuleRoom& room : rooms)
    if (seen.insert(room.dtype).second) least.push_back(room);
  return least;
}

}  // namespace nanscope::report
