// The facts of a finding: statistics and values, taken while the op's inputs are alive.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "adapters/torch/hit/tensor_facts.h"
#include "adapters/torch/interpose/arguments.h"
#include "adapters/torch/program/frames.h"
#include "adapters/torch/watch/before.h"
#include "origin/event_facts.h"
#include "origin/op_record.h"
#include "records/experiment.h"

namespace nanscope::torch_adapter {

// Describes a tensor that holds something bad and that no watched op made.
[[nodiscard]] std::shared_ptr<Facts> facts_of_outsider(const at::Tensor& tensor);

class CallFacts final : public FactsMaker {
 public:
  CallFacts(const Wrapper& wrapper, const Call& call, void* result, const Before* before)
      : wrapper_(wrapper), call_(call), result_(result), before_(before) {}

  std::shared_ptr<const EventFacts> facts(std::optional<std::size_t> read) override;
  std::shared_ptr<const Made> made(bool born) override;

  // Filled in as the record is built.
  std::vector<at::Tensor> read_tensors;  // one per OpRecord::Read
  std::optional<at::Tensor> result;      // the first bad one, or the first
  std::vector<std::vector<std::int64_t>>
      elements;  // failing elements, if known from the correspondence
  bool per_element = false;
  bool in_backward = false;
  bool forward_discarded =
      false;  // in backward: what the forward made here was replaced on purpose
  std::optional<Experiment> made_again;  // asked before the judge was told
  // A constant written here: the facts of its first time stand for all (a causal mask).
  std::optional<StackId> declared_at;
  // The numbers of such a constant, or of a tensor that was built from Python values.
  std::optional<NumberKinds> numbers;

 private:
  [[nodiscard]] std::shared_ptr<const EventFacts> take_facts(std::optional<std::size_t> read) const;
  void describe_output(Finding& finding) const;
  // The tensors that were described, in their order.
  std::vector<at::Tensor> describe_inputs(Facts& facts) const;
  void describe_numbers(Finding& finding) const;
  void describe_saved_tensors(Facts& facts, const std::vector<at::Tensor>& inputs) const;
  void describe_way_here(Facts& facts) const;

  const Wrapper& wrapper_;
  const Call& call_;
  void* result_;
  const Before* before_;
};

}  // namespace nanscope::torch_adapter
