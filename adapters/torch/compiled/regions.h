// Regions that torch.compile made: looked at where their results come out, and told to the judge
// with what a replay of them showed.
//
// Note [Compiled regions]
// A compiled region is one call for the watch, as a kernel is: its ops are fused or muted (Busy),
// and only its results are scanned. On a bad one python/nanscope/compiled runs the same graph again
// eagerly, on the same inputs, under the watch; every op of that replay is an op of the program,
// with a frame at its line. The events of a replayed result are then carried over to the result
// that the program has: the judge is told of an op that read the one and wrote the other. Kinds
// that the replay did not show (a NaN where the replay is finite) are nobody's birth: they are the
// work of something unwatched, with the reason why nothing better is known. Where a replay that
// computes as the fused kernels do shows them (OnlyCompiled), its events are carried over instead.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "records/only_compiled.h"

namespace nanscope::torch_adapter {

struct RegionLook {
  std::vector<std::size_t> bad;
  std::vector<std::size_t> zero;  // all of it, or next to it: an Inf may have been divided away
};
// Which of the results are bad. The finite ones are known from here on as any op's result is.
[[nodiscard]] RegionLook look_at_region(const std::vector<at::Tensor>& results);

// Something bad is known of the memory of one of these, or what they are was lost to an Inf.
[[nodiscard]] bool is_any_known_bad(const std::vector<at::Tensor>& tensors);

// What `from` held is in `to` as well: the copy of an input that the region writes.
void carry_over(const at::Tensor& from, const at::Tensor& to);

struct RegionResult {
  at::Tensor result;
  at::Tensor replayed;       // the same result of the replay; undefined where there is none
  bool inf_was_nan = false;  // the replay is bad wherever the result is: as NaN where that is Inf
  at::Tensor before;  // of an input that the region wrote: what it held; undefined for others
  std::string why;    // what is known where the replay does not show it
  std::optional<OnlyCompiled> only;  // where only the compiled form gives it, and no replay does
};
// A bad result: whence it is, and whether a parameter or buffer became bad by it.
void tell_region(const RegionResult& outcome);

// What a finite result of a replay lost to an Inf is lost in the program's as well.
void carry_losses(const at::Tensor& replayed, const at::Tensor& result);

// A result of a replay that is bad, where the one that the program has is finite: a note.
void tell_only_eager(const at::Tensor& replayed);

}  // namespace nanscope::torch_adapter
