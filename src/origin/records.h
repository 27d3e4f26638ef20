// What the adapter tells the judge: plain records, no torch.
//
// The adapter tells of an op only if something non-finite went in or came out, or
// the ledger knows one of its inputs or written arguments; healthy ops never get here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "origin/target.h"
#include "records/kinds.h"
#include "scan/correspond.h"
#include "watch/ledger.h"
#include "watch/tensor_state.h"

namespace nanscope {

// Where and when an op ran. `line` names the user's own line that led there (for a
// backward node: the line of its forward expression); equal lines have equal numbers.
struct Place {
  std::uint32_t stack = 0;        // interned by the adapter: site, library site, frames
  std::uint32_t line = 0;         // 0: unknown
  Phase phase = Phase::kForward;  // of the call: never kData
  std::string node;               // SqrtBackward0, or empty
  std::uint32_t call_stack = 0;   // in backward: where backward() itself was called
  std::int64_t step = 0;
  bool in_scaler = false;  // inside torch.amp.GradScaler
  bool printing = false;   // inside torch's tensor printing
};

// What the op is to the verdict (see op_traits.h for the table).
struct OpTraits {
  bool allocates = false;   // empty, resize_, set_: whatever lies there is nobody's doing
  bool overwrites = false;  // fill_, copy_, normal_: the target is written, not read
  bool lifts = false;       // lift_fresh: a tensor built from Python values
  bool fills = false;     // masked_fill, fill_, where, index_fill: can write a constant beside data
  bool tests = false;     // isnan, isinf, isfinite, ...
  bool compares = false;  // eq, ne: a test when the operands are the same, or one is non-finite
  bool deliberate =
      false;             // where, nan_to_num, clamp, max, indexing: bad in, finite out on purpose
  bool absorbs = false;  // div, mul, pow, ...: x / inf = 0, nobody asked for that
  bool is_log = false;   // -inf of an exact zero is the right logarithm
  bool looks_through = false;  // abs, clone, casts: a test of the result tests the operand
  bool reads_host = false;     // item()
  bool validates = false;      // multinomial, cholesky: may raise because of a NaN it was given
  bool zeroes = false;         // zero_
  bool amp_check = false;      // _amp_foreach_non_finite_check_and_unscale_
  bool views = false;          // view, slice, detach: shares the storage, makes nothing
};

// An op as registered once; the address stays valid for ever.
struct OpInfo {
  std::string name;  // aten::log
  OpTraits traits;
};

struct OpRecord {
  struct Read {
    TensorState state;  // before the call
    std::vector<EventId>
        known;  // what the ledger said of it before the call (see Judge::events_of)
    std::optional<Correspondence::Feed> feed;  // element by element, where that is known
    // Bad, unknown to the ledger, and its storage came from `empty`: never written by anyone.
    struct Allocation {
      const OpInfo* op = nullptr;
      Place place;
    };
    std::optional<Allocation> allocation;
    // Bad and unknown to the ledger, but a watched op wrote it, finite: an unwatched one did since.
    bool was_finite = false;
  };
  struct Write {
    TensorState state;     // after the call
    Kinds before;          // of a tensor that existed before the call
    bool existed = false;  // an argument that was written (also by a write the schema hides)
    TensorId tensor;
    Target target = Target::kNone;
    TargetName target_name;
    // Filled in only where an Inf went in and this came out finite: it divided everything away,
    // or something.
    bool all_zero = false;
    bool some_zero = false;
  };

  const OpInfo* op = nullptr;
  Place place;
  bool grad = false;              // grad mode on, and an input required grad
  bool nonfinite_scalar = false;  // a number argument is NaN or Inf (a wrapped number too)
  bool same_operands = false;     // x != x
  std::vector<Read>
      reads;  // inputs that are bad or might be; `out=` and overwritten targets left out
  std::vector<Write> writes;  // outputs and written arguments of floating types
  // Element by element, where the correspondence is known.
  bool elementwise = false;
  bool fresh_nan = false;
  bool fresh_inf = false;
};

struct EventFacts;  // event_facts.h

// Facts for the report, made only when an event may become an origin.
class FactsMaker {
 public:
  virtual ~FactsMaker() = default;
  // Of the op itself; or, for an imported value, of the input `read` that brought it.
  virtual std::shared_ptr<const EventFacts> facts(std::optional<std::size_t> read) = 0;
};

// A leaf tensor and its gradient.
struct LeafGrad {
  TensorId leaf;
  TensorId grad;  // 0: none
  std::uint64_t version = 0;
  TensorState state;  // of the gradient
  bool in_optimizer = false;
  TargetName name;
};

// The living program, asked back by the judge.
class World : public StorageKeeper {
 public:
  // Nothing if the leaf died.
  virtual std::optional<LeafGrad> leaf(TensorId leaf) = 0;
  // The same without a scan: only `grad` and `version` are looked at. Asked at every op
  // told while a gradient is pending.
  virtual std::optional<LeafGrad> peek(TensorId leaf) { return this->leaf(leaf); }
  // Leaves whose values now lie in another storage than when they were last looked at: the
  // program assigned `.data`, which no op shows.
  struct Replaced {
    TensorState state;
    TargetName name;
  };
  virtual std::vector<Replaced> replaced_leaves() { return {}; }
  // Facts of a tensor that nobody made and no op has read: of one that was told of just now.
  virtual std::shared_ptr<const EventFacts> facts_of(const TensorState&) { return nullptr; }
};

}  // namespace nanscope
