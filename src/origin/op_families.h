// What an op is to the causes, by its name: a division, a logarithm, a sum of products.
//
// The one table to touch when a rule of src/diagnose is to know another op; what an op is to
// the verdict is in op_traits. Names are bare: div stands for div_, div.out and _foreach_div_.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nanscope {

enum class OpFamily : std::uint8_t {
  // Divisions.
  kTrueDivision,    // the quotient as a real number
  kQuotient,        // the same in torch's own words; NumPy says divide
  kDivision,        // `self` by `other`
  kRemainder,       // what a division leaves over
  kReciprocal,      // divides by `self`, or by its root
  kDivisionByNorm,  // how a vector is brought to length 1
  kDecidedByOther,  // a pole or an edge is met with in `other`, not in `self`
  kGuardedSelf,     // a pole or an edge that people keep `self` away from by an eps

  // Functions with a domain, a pole or an edge.
  kLogarithm,
  kLogarithmOfSelf,   // of `self` or of 1 - self
  kLogarithmOfOther,  // self * log(other)
  kSlopeOfLogarithm,  // the backward divides by the argument
  kSquareRoot,
  kPower,
  kPowerBackward,  // what the backward of a power computes with
  kExponential,
  kHyperbolic,  // grows on both sides
  kBessel,      // so do these, as exp does
  kInverseTrigonometry,
  kSpecial,          // has poles or an edge, and no name for them that people know
  kSlopeOfNorm,      // a direction, x / |x|
  kOwnSlopeAtAPole,  // the backward divides by zero for a reason that has a name of its own
  kHasPole,
  kHasNoPole,  // of finite numbers it leaves the range only by overflow

  // Sums, products, casts.
  kAddsOrSubtracts,
  kArithmetic,  // with a number
  kMultipliesOrDivides,
  kSquare,  // x * x, however it is written
  kSumOfProducts,
  kLayer,  // a product with weights
  kCast,
  kKeepsSize,  // gives `self` or -self

  // Reductions and losses.
  kMean,  // of nothing it is nan
  kSpread,
  kCentred,  // subtracts a mean
  kNllLoss,  // divides by the weights of the targets that count
  kCtcLoss,
  kSoftmax,
  kAttention,

  // Matrices.
  kInverts,        // divides by pivots
  kMatrixIsA,      // the matrix is called `A`, not `self`
  kDecomposition,  // the backward divides by differences of singular values

  // Data and training.
  kLifts,          // makes a tensor of Python's numbers
  kWritesElement,  // x[i] = v
  kUpdatesScale,   // multiplies a loss scale
  kFusedOptimizer,
  kCount,
};

// `bare_name`: as bare_name gives it.
[[nodiscard]] bool is_in(OpFamily family, std::string_view bare_name);
// The same for an autograd node: LogBackward0 for log.
[[nodiscard]] bool is_backward_in(OpFamily family, std::string_view node);
[[nodiscard]] bool is_backward_of(std::string_view op, std::string_view node);

// div of aten::div_.Tensor, aten::_foreach_div_ and aten::div.out; mul of numpy::multiply.
[[nodiscard]] std::string bare_name(std::string_view op);
// How autograd calls the nodes of an op, without Backward0: LinalgVectorNorm, Log1P, Softmax.
[[nodiscard]] std::string node_name_of(std::string_view op);

}  // namespace nanscope
