// The way to the other ranks, which is Python's: nanscope/ranks/board.py.
#pragma once

#include <nanobind/nanobind.h>

#include "adapters/torch/watch/kept_function.h"
#include "records/collective.h"

struct _object;

namespace nanscope::torch_adapter {

// The Python functions that speak with other ranks (nanscope/ranks/board.py), each kept until
// another is given, or null. With the GIL held.
class BoardOfRanks {
 public:
  void configure(_object* join, _object* give, _object* ask, _object* leave) {
    join_.keep(join);
    give_.keep(give);
    ask_.keep(ask);
    leave_.keep(leave);
  }
  [[nodiscard]] _object* join() const noexcept { return join_.get(); }
  [[nodiscard]] _object* give() const noexcept { return give_.get(); }
  [[nodiscard]] _object* ask() const noexcept { return ask_.get(); }
  [[nodiscard]] _object* leave() const noexcept { return leave_.get(); }

 private:
  KeptFunction join_;
  KeptFunction give_;
  KeptFunction ask_;
  KeptFunction leave_;
};

// The fields of Call in nanscope/ranks/calls.py, in its order.
[[nodiscard]] nanobind::tuple call_for_board(const Collective& call);

}  // namespace nanscope::torch_adapter
