// A finding as plain records, in the words of its JSON.
//
// Written by the adapter at a hit, read by `diagnose` and `report`, which know
// nothing else. Everything a report needs is here: no tensor, no program and no
// source file is looked at again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/forewarning.h"
#include "records/harm.h"
#include "records/kinds.h"
#include "records/maker.h"
#include "records/origin.h"
#include "records/step.h"
#include "records/tensor_facts.h"
#include "scan/statistics.h"

namespace nanscope {

// The failing elements computed again from the same operands in a wider type.
struct Recomputed {
  std::string dtype;          // float64
  std::vector<Value> values;  // in the order of Origin::indices
};

struct Finding {
  Level level = Level::kError;
  Origin origin;
  std::optional<Harm> harm;  // notes may have none
  std::vector<Link> chain;   // birth first
  bool chain_truncated = false;
  std::vector<TensorFacts> inputs;
  std::vector<TensorFacts> outputs;
  std::vector<ScalarFact> scalars;
  std::int64_t count = 1;  // how often this site did the same (notes)
  std::string fate;        // of a note, what became of it: cleaned, handled, not used
  std::optional<Value>
      exact;  // the first failing element, computed in float64 from the same inputs
  std::int64_t inputs_left_out = 0;  // inputs beyond those kept (an op over lists of tensors)
  std::vector<Recomputed> recomputed;
  std::string not_recomputed;  // why not, where that is worth a word
  std::vector<Maker> makers;   // nearest first
  std::vector<StepRecord> history;
  std::vector<Magnitude> magnitudes;
  std::optional<Forewarning> forewarning;
};

}  // namespace nanscope
