// How the program stands when it ends, and how it stood when the watch began.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "origin/host_numbers.h"
#include "origin/place.h"
#include "origin/target.h"
#include "origin/world.h"
#include "watch/tensor_state.h"

namespace nanscope {

// A tensor the program still holds when it ends.
struct Held {
  TensorState state;
  TargetName name;
};

struct Ending {
  bool abnormal = false;  // an uncaught exception or a non-zero exit
  bool exception = false;
  bool about_values = false;  // the exception's words are about NaN or Inf
  bool blunder = false;       // a KeyError, a TypeError, Ctrl-C: not for a value's sake
  std::string text;
  Place place;
  std::vector<TensorState> locals;  // bad tensors in the last frames of an uncaught exception
  // What the code that ended the program was given, or a test on the way there looked at: bad
  // tensors, numbers, and memory of others (an array of NumPy).
  std::vector<TensorState> handed;
  NumberKinds handed_numbers;
  std::vector<BadPattern> handed_memory;
  // After a test of such a number a loop was left before it was done, or a trainer was told to
  // stop.
  bool left_early = false;
  bool may_have_left_early = false;             // nobody could look
  std::vector<LeafGrad> leaves;                 // every live leaf that has a gradient
  std::vector<TensorState> gradients;           // live results of autograd.grad()
  std::vector<World::Replaced> written_unseen;  // parameters and buffers that no op wrote last
  std::vector<Held> state;                      // of optimizers
  std::vector<Held> held;                       // names of __main__ first, then everything alive
};

// What the program did before the watch began: counted by others, and all of it went well.
struct Past {
  std::int64_t backwards = 0;
  std::int64_t steps = 0;          // of optimizers
  std::int64_t healthy_steps = 0;  // those, and one that has just begun
};

}  // namespace nanscope
