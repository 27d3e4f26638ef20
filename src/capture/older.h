// What older captures wrote otherwise, read into the fields of today.
//
// Each of these is called with a record whose own keys were read, and with the map that they came
// from. Nothing is taken from an old key where the new one is there.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "records/collective.h"
#include "records/coverage.h"
#include "records/tensor_facts.h"

namespace nanscope {

// `way`, a text: "1>0 tag 3", "any>0 tag 3".
void read_older(const nlohmann::json& json, Collective& collective);
// No `saved`: that was a part of the argument, "saved self", or of the remark.
void read_older(const nlohmann::json& json, TensorFacts& tensor);
// No `kind`: it was the beginning of `what`.
void read_older(const nlohmann::json& json, NotWatched& gap);
inline void read_older(const nlohmann::json& /*json*/, auto& /*record*/) {}

}  // namespace nanscope
