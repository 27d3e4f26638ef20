// Warnings before the fact: nothing is non-finite yet, but a measured number says that it
// soon may be.

#include <fmt/format.h>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

std::string sentence_of(const Forewarning& w) {
  const std::string name = in_backticks(w.name);
  if (w.id == "eps_underflow")
    return fmt::format("The guard {} in {} is rounded to 0 in {}: it guards nothing.",
                       number(w.value), name, w.dtype);
  if (w.id == "little_headroom")
    return fmt::format("{} reaches {} in {}, which ends at {}: x {:.2g} more and it overflows.",
                       w.goes_in ? "What goes into " + name : name, number(w.value), w.dtype,
                       number(w.limit), w.limit / w.value);
  if (w.id == "extreme_weights" && w.value > w.limit)
    return fmt::format("The weights of {} reach {} after {}.", name, number(w.value),
                       plural(w.steps, "step"));
  if (w.id == "extreme_weights")
    return fmt::format("No weight of {} is above {} after {}: the layer passes nothing on.", name,
                       number(w.value), plural(w.steps, "step"));
  if (w.id == "untrained_weights")
    return fmt::format("{} was given to an optimizer and has not changed in {}.", name,
                       plural(w.steps, "step"));
  return fmt::format("The gradient norm grew from {} to {} over {}, and grows on.", number(w.limit),
                     number(w.value), plural(w.steps, "step"));
}

}  // namespace

void forewarning(const Facts& facts, Opinions& opinions) {
  const std::optional<Forewarning>& warning = facts.finding().forewarning;
  if (!warning) return;
  opinions.push_back({Opinion::Stand::kCertain, warning->id, sentence_of(*warning), {}});
}

}  // namespace nanscope::diagnosis
