// The facts of one event that may become an origin: the numeric part of its finding, taken by the
// adapter at the hit, while the op's inputs are alive.
//
// The judge keeps them with the event and hands them back in the verdict; of what is inside it asks
// only what no loss scale makes.
// Source text and names are filled in when the verdict becomes a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "origin/host_numbers.h"
#include "records/finding.h"

namespace nanscope {

struct EventFacts {
  Finding finding;
  // Which argument of the op each input of the finding is.
  struct Argument {
    std::string schema_name;  // "other"
    int item = -1;            // place in a list argument
    bool saved = false;       // saved by the forward for this backward node
    bool transposed = false;  // a matrix whose columns lie side by side in memory
    bool shown = true;        // an input of the finding; others help to tell the names apart
    // Which of them is the same tensor, saved by the forward: its name is known there.
    std::optional<std::size_t> saved_as = {};
  };
  std::vector<Argument> arguments;
  // Per maker of the finding.
  struct MadeAt {
    std::uint32_t stack = 0;  // see Place::stack
    std::vector<Argument> arguments;
  };
  std::vector<MadeAt> made_at;
  // The largest |value| kept by one op of this forward.
  struct Activation {
    std::uint32_t stack = 0;
    std::string node;
    DType dtype = DType::kFloat32;
    double largest = 0;
    bool goes_in = false;  // an operand of the op, not its result
  };
  std::vector<Activation> activations;
  // What the ops behind it kept for the backward, one entry for each place of the program.
  struct Kept {
    std::uint32_t stack = 0;
    DType dtype = DType::kFloat32;
    double largest = 0;  // NaN or Inf where there is one
  };
  std::vector<Kept> kept_by_modules;
  // Of a value that came in: which elements of its memory are bad; how often NumPy had made
  // something non-finite by then, and how many batches a data loader had fetched.
  BadPattern pattern;
  std::uint64_t numpy_births = 0;
  std::uint64_t batches = 0;
  // Of a constant: the text of the program does not spell the number, something computed it.
  bool not_spelled = false;
  // Born of an operand that is exactly 0, in any precision: no loss scale makes it.
  bool born_of_zero = false;
};

}  // namespace nanscope
