#include "report/picture_json.h"

#include <string>

#include "report/json_number.h"

namespace nanscope::report {
namespace {

// What is not known is left out: a model may have thousands of modules.
Json module_json(const ModuleFacts& module) {
  Json json{{"path", module.path}, {"type", module.type}};
  const auto add = [&](const char* key, const std::optional<double>& value) {
    if (value) json[key] = number_json(*value);
  };
  add("activation", module.activation);
  add("weight", module.weight);
  add("gradient", module.gradient);
  if (module.activation) json["activation_dtype"] = module.activation_dtype;
  if (module.weight || module.gradient) json["weight_dtype"] = module.weight_dtype;
  return json;
}

}  // namespace

void add_pictures(const TensorFacts& tensor, Json& json) {
  if (const auto& exponents = tensor.exponents)
    json["exponents"] = {{"first", exponents->first},
                         {"width", exponents->width},
                         {"bins", exponents->bins},
                         {"looked_at", exponents->looked_at}};
  if (const auto& map = tensor.bad_map)
    json["bad_map"] = {{"rows", map->rows}, {"columns", map->columns}, {"cells", map->cells}};
}

void add_modules(const Finding& finding, Json& json) {
  if (finding.modules.empty()) return;
  Json modules = Json::array();
  for (const ModuleFacts& module : finding.modules) modules.push_back(module_json(module));
  json["modules"] = std::move(modules);
  if (finding.modules_left_out > 0) json["modules_left_out"] = finding.modules_left_out;
}

}  // namespace nanscope::report
