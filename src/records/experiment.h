// What was tried at the hit: the failing element computed again, with one thing changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/kinds.h"
#include "scan/statistics.h"

namespace nanscope {

struct Experiment {
  ExperimentKind kind = ExperimentKind::kMended;
  // Mended: the argument of the op that got another value; empty: all that were not finite.
  std::string argument;
  std::optional<Value> given;  // what took its place
  Value result;                // the first failing element, computed with it
  // Made again in float64, from what the source computes the argument of.
  std::string code;  // (x * x).mean() - x.mean() ** 2
  // The part of it in which the value was lost, and how; empty if nothing was.
  std::string lost_at;
  std::int64_t lost_line = 0;
  Loss loss = Loss::kNothing;
  std::string guard;            // the number that vanished: 1e-6
  std::optional<Value> before;  // what went into that part, and what came out in float64
  std::optional<Value> exactly;
};

}  // namespace nanscope
