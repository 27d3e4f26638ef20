// What only a picture shows, as JSON: histograms, maps, the tree of modules.
#pragma once

#include "records/finding.h"
#include "report/json_value.h"

namespace nanscope::report {

// Adds `exponents` and `bad_map`, where they are known.
void add_pictures(const TensorFacts& tensor, Json& json);
// Adds `modules`, and how many were left out.
void add_modules(const Finding& finding, Json& json);

}  // namespace nanscope::report
