// Rule V: which results need no scan.
//
// Note [Rule V]
// An op may be passed over if NaN comes out of it only when NaN goes in, and Inf only
// when Inf or NaN goes in. Then a bad value in its output was made by an op that is
// scanned, or came from outside; in both cases an input tells: its storage is in the
// ledger, or no watched op ever wrote it, and such an input is looked at. Bounded ops
// that make NaN of a legal Inf (silu, sin, softmax, mish) are passed over only where a
// watched op wrote every input and the ledger knows of nothing in it. Of a softmax one element
// of each row is read: a bad one makes the sum under its row NaN, and so the row. Dropout is
// scanned: it multiplies.
#pragma once

#include <cstdint>

namespace nanscope::torch_adapter {

enum class ScanRule : std::uint8_t {
  kScan,          // look at every result
  kPasses,        // rule V holds
  kCasts,         // rule V holds unless the range of the type shrinks
  kMultiplies,    // rule V holds for a number 0 < |s| <= 1
  kDivides,       // rule V holds for a number |s| >= 1
  kPuts,          // rule V holds unless it accumulates
  kPools,         // rule V holds unless a window may lie outside of what goes in: it gives -Inf
  kBounded,       // finite of whatever is finite: rule V holds where every input is known to be
  kAllocates,     // memory nobody wrote: remembered, not scanned
  kReadsHost,     // gives a number to Python: the input is what matters
  kLifts,         // a tensor built from Python values
  kReinterprets,  // reads the bits of one type as another: looked at, though nothing is written
  kBorrows,       // takes a storage that somebody else made and filled: a file, a pickle
};

// A rule by which results are left out of the scan.
[[nodiscard]] constexpr bool is_proof(ScanRule rule) {
  return rule == ScanRule::kPasses || rule == ScanRule::kCasts || rule == ScanRule::kMultiplies ||
         rule == ScanRule::kDivides || rule == ScanRule::kPuts || rule == ScanRule::kPools ||
         rule == ScanRule::kBounded;
}

}  // namespace nanscope::torch_adapter
