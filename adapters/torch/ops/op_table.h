// What is known about each op of torch, by its name: the one table to touch for an op.
//
// A line says whether its results are scanned (Note [Rule V] in scan_rule.h) and, by flags, what
// else is to be known of it. An op without a line is scanned and is nothing special. Beside this
// table: the proofs by size (ceiling_rule.cc) and by sign (sign_rule.cc), which are functions;
// numbers that a function writes itself (own_numbers.cc); what torch's functions do inside
// (composites.py) and by their names (functions.py); and, for the core, what an op is to the
// verdict (src/origin/op_traits) and to the causes (src/origin/op_families).
//
// Knows no header of torch, so that the table is tested without it.
#pragma once

#include <cstdint>
#include <string_view>

#include "adapters/torch/ops/scan_rule.h"

namespace nanscope::torch_adapter {

enum class OpFlags : std::uint32_t {
  kPlain = 0,
  kUnwatched = 1 << 0,        // moves no numbers of the program: gets no wrapper
  kReadsShapeOnly = 1 << 1,   // the argument gives a shape and a type; its values are not read
  kPointwise = 1 << 2,        // element by element, though torch has no tag on it
  kDestroys = 1 << 3,         // in place, and able to make a NaN of what it destroys
  kWritesPartly = 1 << 4,     // bad elements it leaves alone were not read
  kUpdatesWeights = 1 << 5,   // an optimizer's update: what breaks it are its other operands
  kUpdatesScale = 1 << 6,     // tells the loss scale of mixed precision
  kAddsGuard = 1 << 7,        // where an eps comes in
  kRowByRow = 1 << 8,         // an element of the result depends on one row of the first input
  kRowsAlike = 1 << 9,        // one NaN makes all of its row NaN
  kTakesFromFirst = 1 << 10,  // only the first argument's values come out; others are indices
  kDividesByOther = 1 << 11,  // divides its first operand by its second
  kDividesOne = 1 << 12,      // the dividend is 1
  // Asked of nodes of the graph:
  kOnlyMoves = 1 << 13,    // neither a value nor an element is changed, only where it lies
  kCopies = 1 << 14,       // element by element, perhaps in another type
  kElementwise = 1 << 15,  // what a node keeps has the elements of its result
  // A composite that writes its result by a loop of its own, and by no op, if no gradient is asked:
  kWritesItself = 1 << 16,
};

constexpr OpFlags operator|(OpFlags a, OpFlags b) {
  return static_cast<OpFlags>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
[[nodiscard]] constexpr bool has(OpFlags flags, OpFlags flag) {
  return (static_cast<std::uint32_t>(flags) & static_cast<std::uint32_t>(flag)) != 0;
}

struct KnownOp {
  std::string_view name;  // without namespace and overload; a first or last * stands for anything
  ScanRule scan = ScanRule::kScan;
  OpFlags flags = OpFlags::kPlain;
  std::string_view overloads = "*";  // to which the scan rule applies; see is_listed
};

// All lines that hold for this name, taken together. `name` without namespace and overload.
[[nodiscard]] KnownOp known_op(std::string_view name);
// The scan rule of one overload.
[[nodiscard]] ScanRule scan_rule_of(std::string_view name, std::string_view overload);
// The flags of a node of the graph, by its name without Backward0: UnsafeView for _unsafe_view.
[[nodiscard]] OpFlags flags_of_node(std::string_view forward);
// `overloads` are separated by blanks; "" is the one without a name, "*" any.
[[nodiscard]] bool is_listed(std::string_view overloads, std::string_view overload);

// Given lists of tensors; by its full name. It stands for a loop over the ops of single tensors,
// unless a device has a kernel of its own for it.
[[nodiscard]] constexpr bool is_list_op(std::string_view full_name) {
  return full_name.starts_with("aten::_foreach_");
}

// --- ops of other libraries, by their full name

// Moves no numbers of the program, or is in flight when it returns.
[[nodiscard]] bool is_plumbing(std::string_view full_name);
// Its memory is written by others after it has returned.
[[nodiscard]] bool is_collective(std::string_view full_name);

// --- arguments, by their name in the schema

// Written although the schema does not say so: BatchNorm's running statistics, and scratch memory
// of a recurrent layer's backward. Found by tests/watch/test_hidden_writes.py.
[[nodiscard]] bool is_hidden_write(std::string_view argument);
// An op with such an argument draws random numbers.
[[nodiscard]] bool draws_random(std::string_view argument);
// Multiplies the other operand before the op's own work: add(x, y, alpha=2).
[[nodiscard]] bool is_factor(std::string_view argument);
// Says how a result is stored, not what it is.
[[nodiscard]] bool says_how_stored(std::string_view argument);
// What went through a layer, among all that its node keeps: no weight, mask or statistic.
[[nodiscard]] bool is_kept_activation(std::string_view saved);

}  // namespace nanscope::torch_adapter
