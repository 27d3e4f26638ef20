// Which experiments were made at the hit, what they say, and whether they prove a cause.
//
// Note [Certain means proved]
// A rule says what is to blame. That is certain only if the failing element becomes finite when
// the blamed operand is mended, or (for what is too large or too small for its type) in a wider
// type. What no op computed needs no experiment: there the unbroken way is the proof.
#pragma once

#include <optional>
#include <vector>

#include "diagnose/cause.h"
#include "diagnose/facts.h"
#include "diagnose/family.h"

namespace nanscope::diagnosis {

[[nodiscard]] bool is_proved(const Facts& facts, const Opinion& opinion);
// What the experiments say of the operands, for the report.
[[nodiscard]] std::vector<Cause::Experiment> shown_experiments(const Facts& facts);
// The line of evidence by which the cause is certain; empty if there is none.
[[nodiscard]] std::string proof_of(const Facts& facts, const Opinion& opinion);

// The operand that decides, made again in float64 from what the source computes it of.
[[nodiscard]] const Experiment* made_again(const Facts& facts);
// What it is called: as the operand in the source.
[[nodiscard]] std::string remade_name(const Facts& facts, const Experiment& again);
// The same, if the failing element is finite so: what it lacks is precision on the way.
[[nodiscard]] const Experiment* lost_on_the_way(const Facts& facts);

}  // namespace nanscope::diagnosis
