// Non-finite numbers that went out of tensors into the program, and come back.
//
// Note [Through the host and back]
// item(), tolist() and float() make a Python number of a bad element; nobody can follow it from
// there. When a number of that kind is an operand of a later op, it keeps the origin of one that
// was read: a NaN that was computed is not "on purpose" because it went through Python. It is taken
// for the one that was read where the names on the op's line get their values; else for the last.
// Python makes a NaN of an Inf, and an Inf of one of the other sign: so where no number of its own
// kind was read, it is taken for such a one. Not so where the program's text spells the number,
// and, for infinities, where the program used one of the same sign before it had read any: masks
// are made of those.
//
// Memory that comes back (NumPy, a pickle, a file) is taken for what was handed out if its bad
// elements lie where they lay there. If they do not, it is data, but not with certainty: somebody
// may have cut it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "scan/correspond.h"
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

// How many elements, and which of them are bad.
struct BadPattern {
  std::uint64_t numel = 0;
  std::uint64_t bad = 0;
  std::uint64_t places = 0;  // a hash of them, and of their kinds

  [[nodiscard]] bool operator==(const BadPattern&) const = default;
};
[[nodiscard]] BadPattern pattern_of(const KindMap& map);

// What the host read of one tensor.
struct HostValues {
  NumberKinds kinds;
  BadPattern pattern;
};

class HostNumbers {
 public:
  // The host read them, on this line, from a tensor that these events made.
  void read(const HostValues& values, const std::vector<EventId>& events, std::uint32_t line);
  // Such a number is an operand: the events that it comes from, or none. `lines`: where the names
  // on the op's line get their values.
  [[nodiscard]] std::vector<EventId> given(NumberKinds kinds, bool spelled,
                                           const std::vector<std::uint32_t>& lines);
  // Memory that nobody knows holds something bad: the events of what was handed out, if it is that.
  [[nodiscard]] std::vector<EventId> brought(const BadPattern& pattern) const;
  // The last reads of numbers of these very kinds.
  [[nodiscard]] std::vector<EventId> last_read(NumberKinds kinds) const;
  // Numbers were read that memory with such elements may hold.
  [[nodiscard]] bool explains(Kinds kinds) const;
  // Kinds that may come back, as NumberKinds::bits().
  [[nodiscard]] std::uint8_t kinds_read() const;
  template <class Visit>
  void each_event(Visit visit) const {
    for (const Kind& kind : kinds_)
      for (const Read& read : kind.reads)
        for (const EventId id : read.events) visit(id);
    for (const HandedOut& memory : memory_)
      for (const EventId id : memory.events) visit(id);
  }
  void forget() { *this = {}; }

 private:
  struct Read {
    std::vector<EventId> events;
    std::uint32_t line = 0;
  };
  static constexpr std::size_t kMostReads = 16;
  struct Kind {
    std::vector<Read> reads;   // the last of each line, newest last
    bool used_before = false;  // by the program, on its own account
  };
  // The kinds of which Python makes numbers of this one, itself first.
  [[nodiscard]] static std::array<int, 3> made_of(int kind);
  // The read that explains a number of this kind.
  [[nodiscard]] std::vector<EventId> events_for(int kind,
                                                const std::vector<std::uint32_t>& lines) const;

  struct HandedOut {
    BadPattern pattern;
    std::vector<EventId> events;
  };
  static constexpr std::size_t kMostMemory = 16;

  std::array<Kind, 3> kinds_;
  std::array<HandedOut, kMostMemory> memory_;  // the last ones
  std::size_t next_ = 0;
};

}  // namespace nanscope
