// The machine that reads a pickle: one method for each family of opcodes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "checkpoint/pickle.h"
#include "checkpoint/pickle_opcodes.h"

namespace nanscope::checkpoint {

// Reads one pickle from the beginning of `bytes`, which must outlive the result. A pickle that is
// not whole there is an error with `cut_off` set; so is one of more than `most_values`, without it.
[[nodiscard]] Result<Pickle> read_pickle(std::string_view bytes, bool* cut_off = nullptr,
                                         std::size_t most_values = Pickle::kMostValues);

class PickleMachine {
 public:
  explicit PickleMachine(std::string_view bytes, std::size_t most_values = Pickle::kMostValues);

  // Runs to the STOP of the pickle. False: `fault` says why.
  [[nodiscard]] bool run();
  [[nodiscard]] Pickle take_result() { return std::move(pickle_); }
  [[nodiscard]] const char* fault() const { return fault_; }
  [[nodiscard]] bool cut_off() const { return cut_off_; }

 private:
  bool step(Opcode opcode);
  bool step_number(Opcode opcode);
  bool step_text(Opcode opcode);
  bool step_memo(Opcode opcode);
  bool step_container(Opcode opcode);
  bool step_object(Opcode opcode);

  // What stands behind the opcode.
  bool take(std::uint64_t size, std::string_view& bytes);
  template <class Number>
  bool take_number(Number& number);
  bool take_line(std::string_view& line);

  // The stack.
  bool push(Ref ref);
  bool pop(Ref& ref);
  bool pop_to_mark(std::vector<Ref>& items);
  // What is on top above the last mark.
  bool top(Ref& ref);

  // New values; each is pushed.
  bool make(PickleValue value);
  bool make_of(PickleKind kind, std::uint32_t items = 0);
  bool make_integer(std::int64_t integer);
  bool make_long(std::string_view little_endian);
  bool make_integer_line();
  bool make_float_line();
  bool make_text(PickleKind kind, std::string_view text);
  template <class Size>
  bool make_sized_text(PickleKind kind);
  bool make_items(PickleKind kind, std::vector<Ref> items);
  bool make_tuple(std::span<const Ref> items);
  bool make_short_tuple(std::size_t count);
  bool make_global(std::string_view module, std::string_view name);
  bool make_call(Ref callee, Ref arguments);
  bool make_call_from_mark(bool class_is_named);

  bool remember(std::uint64_t id);
  bool recall(std::uint64_t id);
  bool put_into_top(const std::vector<Ref>& items, bool pairs);
  bool build();
  bool failed(const char* why);
  bool ended();

  static constexpr Ref kTrue = 1;
  static constexpr Ref kFalse = 2;

  std::string_view bytes_;
  std::size_t most_values_;
  std::size_t at_ = 0;
  Pickle pickle_;
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
  std::vector<Ref> memo_;  // of ids in the order they come
  std::unordered_map<std::uint64_t, Ref> odd_memo_;
  std::unordered_map<std::string_view, Ref> globals_;
  const char* fault_ = nullptr;
  bool cut_off_ = false;
};

}  // namespace nanscope::checkpoint
