// A finding as plain records, in the words of its JSON.
//
// Written by the adapter at a hit, read by `diagnose` and `report`, which know
// nothing else. Everything a report needs is here: no tensor, no program and no
// source file is looked at again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/experiment.h"
#include "records/forewarning.h"
#include "records/harm.h"
#include "records/kinds.h"
#include "records/maker.h"
#include "records/module.h"
#include "records/only_compiled.h"
#include "records/origin.h"
#include "records/rank.h"
#include "records/step.h"
#include "records/tensor_facts.h"
#include "scan/statistics.h"

namespace nanscope {

// The failing elements computed again from the same operands in a wider type.
struct Recomputed {
  std::string dtype;          // float64
  std::vector<Value> values;  // in the order of Origin::indices
};

// Another process of the run had the value before.
struct HandedOver {
  std::int64_t pid = 0;
  std::optional<int> worker;  // of a data loader
  bool exact = false;         // the same tensor; else one of those that it handed over
};

struct Finding {
  Level level = Level::kError;
  Origin origin;
  std::optional<Harm> harm;  // notes may have none
  std::vector<Link> chain;   // birth first
  bool chain_truncated = false;
  std::vector<TensorFacts> inputs;
  std::vector<TensorFacts> outputs;
  std::vector<ScalarFact> scalars;
  std::int64_t count = 1;  // how often this site did the same (notes)
  std::string fate;        // of a note, what became of it: cleaned, handled, not used
  std::optional<Value>
      exact;  // the first failing element, computed in float64 from the same inputs
  std::int64_t inputs_left_out = 0;  // inputs beyond those kept (an op over lists of tensors)
  std::vector<Recomputed> recomputed;
  std::string not_recomputed;  // why not, where that is worth a word
  std::vector<Maker> makers;   // nearest first
  std::vector<StepRecord> history;
  std::vector<Magnitude> magnitudes;
  std::optional<Forewarning> forewarning;
  std::string undone;   // an error that was withdrawn to a note: how the harm was undone
  std::string allowed;  // a note that would be more, had the program not allowed it: why it did
  std::vector<Link> cleaned;         // where a part of it was cleaned, beside its way; at most 8
  std::int64_t cleaned_more = 0;     // further such places, as far as they were counted: 56
  std::vector<ModuleFacts> modules;  // parents before their children
  std::int64_t modules_left_out = 0;
  std::vector<Experiment> experiments;
  // In backward: what does not take this element in the forward (where, a mask), with its place if
  // that is known; nothing if nobody is known to leave it out.
  std::optional<Link> left_out_by;
  // How what was not made by torch in this process came here: sentences, and the last process that
  // handed it over. Where one of them is only likely, so is the finding.
  std::vector<std::string> arrival;
  std::optional<HandedOver> handed_by;
  bool arrival_is_likely = false;
  std::optional<OnlyCompiled> only_compiled;  // eagerly the value is finite
  // Of what was received: the findings of the ranks that gave it, nearest first, lowest rank first;
  // those that received it themselves are followed by the ones that gave it to them. None of them
  // has such a list of its own.
  std::vector<Finding> elsewhere;
  std::vector<Collective> given;  // into which it was given by this rank since; at most kMostGiven
  // Of a merged capture, and in no file: its way on the ranks that received it, lowest rank first.
  std::vector<RankWay> received_by;
  std::int64_t received_by_more = 0;  // ranks beyond those kept

  static constexpr std::size_t kMostElsewhere = 8;
  static constexpr std::size_t kMostGiven = 8;
  static constexpr std::size_t kMostReceivers = 16;
};

// Calls `change` with each tensor that a finding has facts of: inputs, outputs, those of makers.
template <class F>
void for_each_tensor(Finding& finding, F change) {
  for (TensorFacts& tensor : finding.inputs) change(tensor);
  for (TensorFacts& tensor : finding.outputs) change(tensor);
  for (Maker& maker : finding.makers)
    for (TensorFacts& tensor : maker.tensors) change(tensor);
}

}  // namespace nanscope
