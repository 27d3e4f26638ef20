// A pickle as plain values; read by checkpoint/pickle_machine.h. Nothing is imported, called or
// executed.
//
// The pickle machine moves values between a stack, a memo and containers; that much is done. Where
// it would import or call, the name and the arguments are kept as a value of their own: whoever
// reads a format knows the few names it needs, and all others stay what they are.
//
// Note [A pickle costs what it weighs]
// A value is named by its number, so that copies, the memo and cycles cost four bytes each. Texts
// are views into the pickle. What a pickle can make of each byte is bounded, there is no recursion,
// and there are at most kMostValues values; fewer where the pickle was deflated, and may have been
// next to nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nanscope::checkpoint {

using Ref = std::uint32_t;

enum class PickleKind : std::uint8_t {
  kNone,
  kBool,
  kInteger,
  kFloat,
  kText,
  kBytes,
  kList,  // sets too
  kTuple,
  kDict,        // items: key, value, key, value, ...
  kGlobal,      // text: "module.name"
  kCall,        // items: callee, arguments, state (0: none), then what was put into it
  kPersistent,  // items: the id
  kOpaque,      // something this reader has no value for: an integer of 100 digits, an extension
};

struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  std::uint32_t items = 0;  // of a tuple: where its items begin; else which list of items, 0: empty
  union {
    std::int64_t integer = 0;  // and kBool; of a tuple: how many items
    double number;
    struct {
      const char* data;
      std::uint64_t size;
    } text;
  };
};

class Pickle {
 public:
  static constexpr std::size_t kMostValues = 8'000'000;
  // How many values a pickle may hold that lies deflated in so many bytes.
  [[nodiscard]] static constexpr std::size_t most_values_of(std::uint64_t packed_size) {
    constexpr std::size_t kAllowed = 100'000;
    constexpr std::size_t kPerByte = 4;  // a state dict has one, deflated ever so well
    if (packed_size >= kMostValues / kPerByte) return kMostValues;
    return std::min(kMostValues, kAllowed + kPerByte * static_cast<std::size_t>(packed_size));
  }

  [[nodiscard]] Ref root() const { return root_; }
  [[nodiscard]] std::size_t size_in_bytes() const { return consumed_; }
  // How many values there are: the numbers below it name them.
  [[nodiscard]] Ref count() const { return static_cast<Ref>(values_.size()); }

  [[nodiscard]] PickleKind kind(Ref ref) const { return values_[ref].kind; }
  // What a kInteger or kBool is; else 0.
  [[nodiscard]] std::int64_t integer(Ref ref) const;
  // What a kFloat is; else 0.
  [[nodiscard]] double number(Ref ref) const;
  // What a kText, kBytes or kGlobal says; else empty.
  [[nodiscard]] std::string_view text(Ref ref) const;
  [[nodiscard]] std::span<const Ref> items(Ref ref) const;
  [[nodiscard]] bool is(Ref ref, PickleKind kind) const { return this->kind(ref) == kind; }

  // Finds it in a dictionary, or in a call whose object was filled like one; 0 (None) if it is not
  // there.
  [[nodiscard]] Ref entry(Ref dictionary, std::string_view key) const;
  // What a call calls, if that has a name; its arguments; what its object was given.
  [[nodiscard]] std::string_view callee(Ref call) const;
  [[nodiscard]] std::span<const Ref> arguments(Ref call) const;
  [[nodiscard]] Ref state(Ref call) const;

  static constexpr std::size_t kCallHead = 3;  // items of a call before what was put into it

 private:
  friend class PickleMachine;

  std::deque<PickleValue> values_;      // [0] is None
  std::vector<Ref> tuple_items_;        // tuples do not grow: they lie one behind the other
  std::deque<std::vector<Ref>> items_;  // of what grows; [0] is empty
  std::deque<std::string> names_;       // of globals that are made of two texts
  Ref root_ = 0;
  std::size_t consumed_ = 0;
};

}  // namespace nanscope::checkpoint
