// Non-finite numbers that went out of tensors into the program, and come back as numbers.
//
// Note [Through the host and back]
// item(), tolist() and float() make a Python number of a bad element; nobody can follow it from
// there. When a number of that kind is an operand of a later op, it is taken for the one that was
// read last, and keeps its origin: a NaN that was computed is not "on purpose" because it went
// through Python. Not so where the text of the line spells such a number, and, for infinities,
// where the program used one of the same sign before it had read any: masks are made of those.
#pragma once

#include <cstdint>
#include <vector>

#include "watch/ledger.h"

namespace nanscope {

struct NumberKinds {
  bool nan = false;
  bool pos_inf = false;
  bool neg_inf = false;

  [[nodiscard]] bool any() const { return nan || pos_inf || neg_inf; }
  [[nodiscard]] std::uint8_t bits() const {
    return static_cast<std::uint8_t>(nan | pos_inf << 1 | neg_inf << 2);
  }
  void add(double number);
};

class HostNumbers {
 public:
  // The host read such numbers from tensors that these events made.
  void read(NumberKinds kinds, const std::vector<EventId>& events);
  // Such a number is an operand: the events that it comes from, or none.
  [[nodiscard]] std::vector<EventId> given(NumberKinds kinds, bool spelled);
  // Kinds that were read, as NumberKinds::bits().
  [[nodiscard]] std::uint8_t kinds_read() const;
  template <class Visit>
  void each_event(Visit visit) const {
    for (const Kind& kind : kinds_)
      for (const EventId id : kind.events) visit(id);
  }
  void forget() { *this = {}; }

 private:
  struct Kind {
    std::vector<EventId> events;  // of the last read
    bool used_before = false;     // by the program, on its own account
  };
  Kind kinds_[3];
};

}  // namespace nanscope
