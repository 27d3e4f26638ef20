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
  void configure(PyObject* join, PyObject* give, PyObject* ask, PyObject* leave) {
    join_.keep(join);
    give_.keep(give);
    ask_.keep(ask);
    leave_.keep(leave);
  }
  [[nodiscard]] PyObject* join() const noexcept { return join_.get(); }
  [[nodiscard]] PyObject* give() const noexcept { return give_.get(); }
  [[nodiscard]] PyObject* ask() const noexcept { return ask_.get(); }
  [[nodiscard]] PyObject* leave() const noexcept { return leave_.get(); }

 private:
  KeptFunction join_;
  KeptFunction give_;
  KeptFunction ask_;
  KeptFunction leave_;
};
[[nodiscard]] BoardOfRanks& board_of_ranks();

// This rank is not watched any more; takes the GIL.
void tell_ranks_of_leaving() noexcept;

// The receipt of memory that a collective wrote; without the GIL, which is taken to ask.
[[nodiscard]] std::optional<World::Receipt> receipt_of(const TensorState& state);

// Which collective brought the origin, who gave it, and what those say; what this rank gave on.
void tell_of_ranks(const EventView& origin, Finding& finding);

}  // namespace nanscope::torch_adapter
