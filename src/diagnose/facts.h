// A finding as the rules ask about it: which op, which operand, what it held at
// the failing element, and what that proves.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "origin/op_families.h"
#include "records/finding.h"

namespace nanscope::diagnosis {

// What the recorded numbers say about a condition at the first failing element.
enum class Proof { kNo, kPossible, kYes };

// A tensor or number that went into the op.
struct Operand {
  std::string name;                     // `p`, or a description: the divisor
  const TensorFacts* tensor = nullptr;  // null for a number
  std::vector<Value> values;            // at the failing elements; empty if unknown
  std::string argument = {};            // its name in the op's schema: other
  bool in_source = false;               // `name` is the program's own text, no description

  [[nodiscard]] Proof is_zero() const;
  [[nodiscard]] Proof is_negative() const;
  // All that feeds the failing element is finite.
  [[nodiscard]] bool is_finite() const;
  [[nodiscard]] std::optional<double> value() const;  // the first, if real
};

class Facts {
 public:
  explicit Facts(const Finding& finding);

  [[nodiscard]] const Finding& finding() const { return finding_; }
  [[nodiscard]] const Origin& origin() const { return finding_.origin; }
  // The bare name: div of aten::div_.Tensor, aten::_foreach_div_ and aten::div.out.
  [[nodiscard]] const std::string& op() const { return op_; }
  [[nodiscard]] bool op_is(OpFamily family) const;
  // LogBackward0, Log2Backward0: inside the backward of this forward op?
  [[nodiscard]] bool in_backward_of(OpFamily family) const;
  [[nodiscard]] bool in_backward_of(std::string_view op) const;
  [[nodiscard]] bool is_nan() const;  // the first failing element

  // By the schema's name where it was recorded, else by its place among the tensors; a
  // number by its name alone. `description` stands in for a missing name.
  [[nodiscard]] std::optional<Operand> operand(std::string_view argument, std::size_t position,
                                               std::string_view description) const;
  [[nodiscard]] std::optional<double> scalar(std::string_view name) const;
  // The op's own tensors; what a backward node saved in forward is apart.
  [[nodiscard]] std::vector<Operand> tensors() const;
  [[nodiscard]] std::vector<Operand> saved() const;
  // The operand a backward node saved under this name in the forward.
  [[nodiscard]] std::optional<Operand> saved(std::string_view name) const;
  // The op that made an operand, or what a backward node differentiates, known by its node: sum,
  // softmax; null if it is another or unknown.
  [[nodiscard]] const Maker* maker(std::string_view op, std::int64_t links_back = 0) const;
  [[nodiscard]] const Maker* maker(OpFamily family, std::int64_t links_back = 0) const;
  // The loss of the failing step, if it was seen.
  [[nodiscard]] std::optional<double> loss() const;
  // There are some (tensors or numbers), and all that feeds the failing element is finite.
  [[nodiscard]] bool inputs_finite() const;

  [[nodiscard]] std::optional<DType> output_dtype() const;
  [[nodiscard]] std::string output_dtype_name() const;
  [[nodiscard]] const TensorFacts* output() const;

  // For sentences.
  [[nodiscard]] std::string at() const;          // " at [2, 5]", or nothing for a single value
  [[nodiscard]] std::string value() const;       // -inf
  [[nodiscard]] std::string expression() const;  // `torch.log(p)`, else the op's name

 private:
  [[nodiscard]] Operand operand_of(const TensorFacts& tensor, std::string_view argument,
                                   std::string_view description) const;

  const Finding& finding_;
  std::string op_;
};

// An operand of a maker: what its node saved under this name.
[[nodiscard]] std::optional<Operand> kept_by(const Maker& maker, std::string_view name);
[[nodiscard]] std::optional<double> number_of(const Maker& maker, std::string_view name);

[[nodiscard]] bool is_finite(const Value& value);

// "`p` is 0 at [2, 5] (3 of 64 elements are zero)"
[[nodiscard]] std::string is_zero_here(const Facts& facts, const Operand& operand);
// "`p` is 0.5 at [2, 5]"; its name alone where the value is not known.
[[nodiscard]] std::string value_here(const Facts& facts, const Operand& operand);
[[nodiscard]] std::string is_negative_here(const Facts& facts, const Operand& operand);
// "`p` is 0.5 at [2, 5], not 0": why a suspect is innocent.
[[nodiscard]] std::string is_not(const Facts& facts, const Operand& operand,
                                 std::string_view expected);
// "at the failing elements [2, 5], [3, 1], `p` is 0, 0"; empty if unknown.
[[nodiscard]] std::string values_here(const Facts& facts, const Operand& operand);
// "`x` is finite everywhere: 64 elements from -1 to 3.5"; empty if it is not.
[[nodiscard]] std::string finite_range(const Operand& operand);

}  // namespace nanscope::diagnosis
