// What a collective brought: which one, and who gave it. Note [Collectives have a far side].
#pragma once

#include <Python.h>

#include "adapters/torch/watch/kept_function.h"
#include "origin/verdict.h"
#include "origin/world.h"
#include "records/finding.h"

namespace nanscope::torch_adapter {

// The Python functions that speak with other ranks (nanscope/ranks/board.py), each kept until
// another is given, or null. With the GIL held.
class BoardOfRanks {
 public:
  void configure(PyObject* join, PyObject* give, PyObject* ask) {
    join_.keep(join);
    give_.keep(give);
    ask_.keep(ask);
  }
  [[nodiscard]] PyObject* join() const noexcept { return join_.get(); }
  [[nodiscard]] PyObject* give() const noexcept { return give_.get(); }
  [[nodiscard]] PyObject* ask() const noexcept { return ask_.get(); }

 private:
  KeptFunction join_;
  KeptFunction give_;
  KeptFunction ask_;
};
[[nodiscard]] BoardOfRanks& board_of_ranks();

// The receipt of memory that a collective wrote; without the GIL, which is taken to ask.
[[nodiscard]] std::optional<World::Receipt> receipt_of(const TensorState& state);

// Which collective brought the origin, who gave it, and what those say; what this rank gave on.
void tell_of_ranks(const EventView& origin, Finding& finding);

}  // namespace nanscope::torch_adapter
