// The optimizers whose steps a sentinel has seen, and when to look at what they wrote.
//
// What a step wrote shows in the next loss, and to read it all takes as long as three or four looks
// at the gradients: so it is looked at after each of the first steps of an optimizer, then after
// every eighth, before a snapshot and at the end.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace nanscope::torch_adapter {

class SteppedOptimizers {
 public:
  using Optimizers = std::vector<nanobind::object>;

  // A step of this one is over: those to look at now. `all`: every one that wrote unseen.
  [[nodiscard]] Optimizers to_look_at(nanobind::handle optimizer, bool all);
  // A step of this one is over, which nobody looks at here.
  void note(nanobind::handle optimizer) { ++find(optimizer).steps; }
  // Every one that is alive.
  [[nodiscard]] Optimizers alive() const;
  // Every one that is alive and wrote unseen.
  [[nodiscard]] Optimizers unseen();
  void clear() { seen_.clear(); }

 private:
  struct Seen {
    nanobind::object reference;  // weak
    std::int64_t steps = 0;
    bool looked_at = false;  // what its last step wrote
  };
  Seen& find(nanobind::handle optimizer);

  std::unordered_map<const PyObject*, Seen> seen_;
};

}  // namespace nanscope::torch_adapter
