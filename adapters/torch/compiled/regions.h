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
// work of something unwatched, with the reason why nothing better is known.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <string>
#include <vector>

namespace nanscope::torch_adapter {

// Which of the results are bad. The finite ones are known from here on as any op's result is.
[[nodiscard]] std::vector<std::size_t> look_at_region(const std::vector<at::Tensor>& results);

// Something bad is known of the memory of one of these.
[[nodiscard]] bool is_any_known_bad(const std::vector<at::Tensor>& tensors);

// What `from` held is in `to` as well: the copy of an input that the region writes.
void carry_over(const at::Tensor& from, const at::Tensor& to);

struct RegionResult {
  at::Tensor result;
  at::Tensor replayed;  // the same result of the replay; undefined where there is none
  at::Tensor before;    // of an input that the region wrote: what it held; undefined for others
  std::string why;      // what is known where the replay does not show it
};
// A bad result: whence it is, and whether a parameter or buffer became bad by it.
void tell_region(const RegionResult& told);

}  // namespace nanscope::torch_adapter
