// What an op is to the verdict, by its name.
//
// The one table to touch when an op turns out to be a test, a repair, a write of a
// constant. An op that is not in it is plain arithmetic. What an op is to the causes
// is in op_families.
#pragma once

#include <string_view>

namespace nanscope {

struct OpTraits {
  bool allocates = false;   // empty, resize_, set_: whatever lies there is nobody's doing
  bool overwrites = false;  // fill_, copy_, normal_: the target is written, not read
  bool lifts = false;       // lift_fresh: a tensor built from Python values
  bool fills = false;     // masked_fill, fill_, where, index_fill: can write a constant beside data
  bool tests = false;     // isnan, isinf, isfinite, ...
  bool compares = false;  // eq, ne: a test when the operands are the same, or one is non-finite
  bool orders = false;    // lt, ge, ...: of one NaN the answer is no, whatever was asked
  bool deliberate =
      false;  // where, nan_to_num, clamp, max, indexing: bad in, finite out on purpose
  bool leaves_nan_out =
      false;             // nanmedian: its NaN means that nothing was left, not that one went in
  bool absorbs = false;  // div, mul, pow, ...: x / inf = 0, nobody asked for that
  bool is_log = false;   // -inf of an exact zero is the right logarithm
  bool looks_through = false;  // abs, clone, casts: a test of the result tests the operand
  bool reads_host = false;     // item()
  bool validates = false;      // multinomial, cholesky: may raise because of a NaN it was given
  bool zeroes = false;         // zero_
  bool amp_check = false;      // _amp_foreach_non_finite_check_and_unscale_
  bool views = false;          // view, slice, detach: shares the storage, makes nothing
};

// `base_name`: without namespace and overload, as in "masked_fill_".
[[nodiscard]] OpTraits traits_of(std::string_view base_name);

}  // namespace nanscope
