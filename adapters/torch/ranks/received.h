// What a collective brought: which one, and who gave it. Note [Collectives have a far side].
#pragma once

#include <Python.h>

#include "origin/verdict.h"
#include "origin/world.h"
#include "records/finding.h"

namespace nanscope::torch_adapter {

// The Python functions that speak with other ranks (nanscope/ranks/board.py), each kept until
// another is given, or null. With the GIL held.
class BoardOfRanks {
 public:
  void configure(PyObject* join, PyObject* give, PyObject* ask) {
    keep(join_, join);
    keep(give_, give);
    keep(ask_, ask);
  }
  [[nodiscard]] PyObject* join() const noexcept { return join_; }
  [[nodiscard]] PyObject* give() const noexcept { return give_; }
  [[nodiscard]] PyObject* ask() const noexcept { return ask_; }

 private:
  static void keep(PyObject*& held, PyObject* given) {
    Py_XINCREF(given);
    Py_XSETREF(held, given);
  }
  PyObject* join_ = nullptr;
  PyObject* give_ = nullptr;
  PyObject* ask_ = nullptr;
};
[[nodiscard]] BoardOfRanks& board_of_ranks();

// The receipt of memory that a collective wrote; without the GIL, which is taken to ask.
[[nodiscard]] std::optional<World::Receipt> receipt_of(const TensorState& state);

// Which collective brought the origin, who gave it, and what those say; what this rank gave on.
void tell_of_ranks(const EventView& origin, Finding& finding);

}  // namespace nanscope::torch_adapter
