// An op call as the adapter reports it to the judge: plain records, no torch.
//
// A call is reported only if something non-finite went in or came out, or the ledger knows one of
// its inputs or written arguments; healthy ops never get here.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "origin/host_numbers.h"
#include "origin/op_traits.h"
#include "origin/place.h"
#include "origin/target.h"
#include "scan/correspond.h"
#include "watch/ledger.h"
#include "watch/tensor_state.h"

namespace nanscope {

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
      bool in_extension = false;  // taken, and perhaps written, by code that nobody watches
    };
    std::optional<Allocation> allocation;
    // Bad and unknown to the ledger, but a watched op wrote it, finite: an unwatched one did since.
    bool was_finite = false;
    // Bad and unknown to the ledger: a device that is not watched computed it.
    bool from_other_device = false;
    BadPattern pattern;  // of what is bad and unknown to the ledger
  };
  struct Write {
    TensorState state;     // after the call
    Kinds before;          // of a tensor that existed before the call
    bool existed = false;  // an argument that was written (also by a write the schema hides)
    HostValues shared;     // bad, in memory that others can read: what they find there
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
  bool grad = false;                    // grad mode on, and an input required grad
  bool nonfinite_scalar = false;        // a number argument is NaN or Inf (a wrapped number too)
  NumberKinds numbers;                  // which
  HostValues host_values;               // of an op that reads for the host: what it read
  bool numbers_spelled = false;         // the text of the line spells them
  std::vector<std::uint32_t> given_at;  // lines on which the names in it get their values
  bool same_operands = false;           // x != x
  std::vector<Read>
      reads;  // inputs that are bad or might be; `out=` and overwritten targets left out
  std::vector<Write> writes;  // outputs and written arguments of floating types
  // Element by element, where the correspondence is known.
  bool elementwise = false;
  bool fresh_nan = false;
  bool fresh_inf = false;
  // The read is the write, computed another way: it is bad wherever the write is, as NaN where
  // that is Inf.
  bool inf_was_nan = false;
};

struct EventFacts;  // event_facts.h
struct Made;        // records/harm.h

// Facts for the report, made only when an event may become an origin.
class FactsMaker {
 public:
  virtual ~FactsMaker() = default;
  // Made of the op itself; or, for an imported value, of the input `read` that brought it.
  virtual std::shared_ptr<const EventFacts> facts(std::optional<std::size_t> read) = 0;
  // What the op gave, of any event on the way; null where nobody looked. `born`: something in it
  // was made by computing, so it may be on the way to a harm.
  virtual std::shared_ptr<const Made> made(bool /*born*/) { return nullptr; }
};

}  // namespace nanscope
