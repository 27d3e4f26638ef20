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

#include "records/kinds.h"
#include "records/site.h"
#include "scan/statistics.h"

namespace nanscope {

// An input or output of the op that failed.
struct TensorFacts {
  std::string name;  // in the source: `p`, `mask.sum()`
  std::string dtype;
  std::vector<std::int64_t> shape;
  Statistics statistics;
  std::vector<Value> at_index;  // at the failing elements, in their order; empty if unknown
  std::string remark;           // e.g. "as it was before the op overwrote it"
  // Its name in the op's schema: self, other, tensors[2]; "saved self" for what a backward node
  // kept since forward; empty if unknown.
  std::string argument;
  // Of the elements that feed the first failing one, where they are several: the row of a
  // softmax, what a reduction summed.
  std::optional<Statistics> feeding;
  bool parameter = false;  // a trained weight, or a view of one
};

// A scalar argument of the op: eps, exponent, dim.
struct ScalarFact {
  std::string name;
  std::string value;
};

// An op that made an input of the one that failed, known by the autograd node it left behind.
struct Maker {
  std::string node;  // SoftmaxBackward0
  Site site;
  std::vector<TensorFacts> tensors;  // what the node kept: operands, or its result
  std::vector<ScalarFact> scalars;   // exponent, dim, min
  // Its place on the way back: 0 made an input itself, 1 made an input of that one, ...
  std::int64_t links_back = 0;
  std::string makes;  // the argument of the op (or of the maker behind it) that it made: self
};

// The failing elements computed again from the same operands in a wider type.
struct Recomputed {
  std::string dtype;          // float64
  std::vector<Value> values;  // in the order of Origin::indices
};

// One training step, as it stood when the optimizer was about to act. What is not known is null.
struct StepRecord {
  std::int64_t step = 0;
  std::optional<double> loss;
  std::optional<double> gradient_norm;      // estimated from a fixed sample of each gradient
  std::optional<double> largest_parameter;  // |w|, of the same sample of each parameter
  std::optional<double> update_ratio;       // |change of w| / |w| by the step before
  std::optional<double> learning_rate;
  std::optional<double> loss_scale;
};

// The largest |value| at one place of the failing step, in the order of the forward.
struct Magnitude {
  std::string name;  // `self.fc2(h)`, or of a gradient the parameter's name
  double largest = 0;
  bool gradient = false;
};

// What a warning is about, where nothing non-finite has happened yet.
struct Forewarning {
  std::string id;  // of the cause
  std::string name;
  std::string dtype;
  double value = 0;
  double limit = 0;
  std::int64_t steps = 0;
  bool goes_in = false;  // the value goes into what is named, and is not its result
};

struct Origin {
  OriginKind kind = OriginKind::kBirth;
  Phase phase = Phase::kForward;
  std::string op;                   // aten::log
  std::optional<std::string> node;  // LogBackward0
  Site site;                        // the user's own code, innermost frame
  bool in_backward_code = false;    // the site is run by the backward; else it is the forward's
  std::optional<Site> library_site;
  std::vector<Frame> stack;  // innermost first
  std::optional<std::string> module;
  std::int64_t step = 0;
  std::optional<int> rank;
  std::optional<int> worker;
  int output = 0;
  std::vector<Index> indices;  // failing elements, at most eight; the first is the JSON's `index`
  Value value;                 // at the first of them
  std::int64_t nan = 0;
  std::int64_t pos_inf = 0;
  std::int64_t neg_inf = 0;
  std::int64_t numel = 0;
  bool per_element = false;  // judged element by element; else for the tensor as a whole
  bool was_finite = false;   // unwatched: a watched op wrote it before
  bool discarded = false;    // the program replaced it on purpose: where, a mask, nan_to_num
};

struct Harm {
  HarmKind kind = HarmKind::kGradient;
  std::optional<Site> site;
  std::int64_t step = 0;
  std::optional<std::string> name;  // net.head.weight
  std::string text;                 // e.g. the exception's own words
};

struct Link {
  std::string op;
  Site site;
  Phase phase = Phase::kForward;
  Role role = Role::kCarrier;
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
};

// A patch of the source that may be the right one.
struct Fix {
  std::string id;    // clamp_before_log
  std::string diff;  // unified, for patch -p1; of all files
  std::vector<std::string> files;
  std::string explanation;
  bool changes_training = false;
  bool workaround = false;  // it hides the fault, and is all there is
  bool applied = false;
};

}  // namespace nanscope
