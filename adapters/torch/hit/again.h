// The op that failed, run again on copies: in a wider type, or with one operand changed.
//
// On the CPU, wherever the program computed it. Only the failing elements of a pointwise op are
// computed; other ops as a whole, if they are small. Nothing of the program's is written, and an op
// that draws random numbers is not run.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "adapters/torch/interpose/arguments.h"
#include "adapters/torch/watch/before.h"
#include "adapters/torch/watch/kernels_only.h"
#include "records/finding.h"

namespace nanscope::torch_adapter {

enum class Width { kAsItIs, kFloat32, kFloat64 };

// Gives an operand in another's place; the tensor is a copy, and may be changed. Nothing: the
// experiment cannot be made.
class Change {
 public:
  virtual ~Change() = default;
  [[nodiscard]] virtual std::optional<at::Tensor> changed(std::size_t argument,
                                                          at::Tensor copy) const = 0;
};

class Again {
 public:
  Again(const Wrapper& wrapper, const Call& call, const Before* before, const Finding& finding)
      : wrapper_(wrapper), call_(call), before_(before), finding_(finding) {}

  [[nodiscard]] bool may_run() const;
  // The failing elements; empty if they cannot be computed again, and `remark` may say why.
  std::vector<Value> compute(Width width, const Change* change, std::string& remark);

 private:
  [[nodiscard]] bool is_small_enough() const;
  std::optional<c10::IValue> argument(std::size_t i, std::string& remark);
  [[nodiscard]] std::optional<c10::IValue> by_default(const std::string& name) const;
  std::optional<at::Tensor> operand(const at::Tensor& given, std::size_t argument,
                                    std::string& remark);
  std::optional<at::Tensor> failing_elements_of(const OwnedView& view, c10::ScalarType type);
  [[nodiscard]] std::vector<Value> values_in(const at::Tensor& result) const;

  const Wrapper& wrapper_;
  const Call& call_;
  const Before* before_;
  const Finding& finding_;
  Width width_ = Width::kAsItIs;
  const Change* change_ = nullptr;
};

}  // namespace nanscope::torch_adapter
