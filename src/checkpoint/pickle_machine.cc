#include "checkpoint/pickle_machine.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

#include "checkpoint/bytes.h"

namespace nanscope::checkpoint {
namespace {

constexpr std::size_t kLongestName = 512;  // of a module or a class
constexpr const char* kEmptyStack = "takes more from its stack than there is.";

}  // namespace

Result<Pickle> read_pickle(std::string_view bytes, bool* cut_off, std::size_t most_values) {
  PickleMachine machine(bytes, most_values);
  const bool whole = machine.run();
  if (cut_off != nullptr) *cut_off = machine.cut_off();
  if (!whole) return damaged(std::string("its pickle ") + machine.fault());
  return machine.take_result();
}

PickleMachine::PickleMachine(std::string_view bytes, std::size_t most_values)
    : bytes_(bytes), most_values_(most_values) {
  pickle_.values_.emplace_back();  // None
  pickle_.values_.push_back({.kind = PickleKind::kBool, .integer = 1});
  pickle_.values_.push_back({.kind = PickleKind::kBool, .integer = 0});
  pickle_.items_.emplace_back();  // no items
}

bool PickleMachine::run() {
  while (at_ < bytes_.size()) {
    const auto opcode = static_cast<Opcode>(bytes_[at_++]);
    if (opcode == Opcode::kStop) {
      pickle_.consumed_ = at_;
      return pop(pickle_.root_);
    }
    if (!step(opcode)) return false;
  }
  return ended();
}

bool PickleMachine::failed(const char* why) {
  fault_ = why;
  return false;
}

bool PickleMachine::ended() {
  cut_off_ = true;
  return failed("ends too early.");
}

bool PickleMachine::step(Opcode opcode) {
  std::string_view skipped;
  switch (opcode) {
    case Opcode::kProto:
      return take(1, skipped);
    case Opcode::kFrame:
      return take(8, skipped);
    case Opcode::kNone:
      return push(0);
    case Opcode::kNewTrue:
    case Opcode::kNewFalse:
      return push(opcode == Opcode::kNewTrue ? kTrue : kFalse);
    case Opcode::kReadOnlyBuffer:
      return true;
    case Opcode::kNextBuffer:
      return failed("keeps its data outside of itself.");
    case Opcode::kFloat:
    case Opcode::kInt:
    case Opcode::kBinInt:
    case Opcode::kBinInt1:
    case Opcode::kBinInt2:
    case Opcode::kLong:
    case Opcode::kLong1:
    case Opcode::kLong4:
    case Opcode::kBinFloat:
      return step_number(opcode);
    case Opcode::kGet:
    case Opcode::kBinGet:
    case Opcode::kLongBinGet:
    case Opcode::kPut:
    case Opcode::kBinPut:
    case Opcode::kLongBinPut:
    case Opcode::kMemoize:
      return step_memo(opcode);
    case Opcode::kString:
    case Opcode::kBinString:
    case Opcode::kShortBinString:
    case Opcode::kUnicode:
    case Opcode::kBinUnicode:
    case Opcode::kShortBinUnicode:
    case Opcode::kBinUnicode8:
    case Opcode::kBinBytes:
    case Opcode::kShortBinBytes:
    case Opcode::kBinBytes8:
    case Opcode::kByteArray8:
      return step_text(opcode);
    default:
      return step_container(opcode);
  }
}

// ---------------------------------------------------------------- what stands behind the opcode
bool PickleMachine::take(std::uint64_t size, std::string_view& bytes) {
  if (size > bytes_.size() - at_) return ended();
  bytes = bytes_.substr(at_, static_cast<std::size_t>(size));
  at_ += bytes.size();
  return true;
}

template <class Number>
bool PickleMachine::take_number(Number& number) {
  std::string_view bytes;
  if (!take(sizeof number, bytes)) return false;
  std::memcpy(&number, bytes.data(), sizeof number);
  return true;
}

bool PickleMachine::take_line(std::string_view& line) {
  const std::size_t end = bytes_.find('\n', at_);
  if (end == std::string_view::npos) return ended();
  line = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return true;
}

// ---------------------------------------------------------------- the stack
bool PickleMachine::push(Ref ref) {
  stack_.push_back(ref);
  return true;
}

bool PickleMachine::pop(Ref& ref) {
  if (!top(ref)) return false;
  stack_.pop_back();
  return true;
}

bool PickleMachine::top(Ref& ref) {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= floor) return failed(kEmptyStack);
  ref = stack_.back();
  return true;
}

bool PickleMachine::pop_to_mark(std::vector<Ref>& items) {
  if (marks_.empty()) return failed("looks for a mark that is not there.");
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  items.assign(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return true;
}

// ---------------------------------------------------------------- new values
bool PickleMachine::make(PickleValue value) {
  if (pickle_.values_.size() >= most_values_) return failed("holds too many values.");
  pickle_.values_.push_back(value);
  return push(static_cast<Ref>(pickle_.values_.size() - 1));
}

bool PickleMachine::make_of(PickleKind kind, std::uint32_t items) {
  PickleValue value;
  value.kind = kind;
  value.items = items;
  return make(value);
}

bool PickleMachine::make_integer(std::int64_t integer) {
  return make({.kind = PickleKind::kInteger, .integer = integer});
}

bool PickleMachine::make_text(PickleKind kind, std::string_view text) {
  return make({.kind = kind, .text = {text.data(), text.size()}});
}

template <class Size>
bool PickleMachine::make_sized_text(PickleKind kind) {
  Size size;
  std::string_view text;
  return take_number(size) && take(size, text) && make_text(kind, text);
}

bool PickleMachine::make_items(PickleKind kind, std::vector<Ref> items) {
  if (items.empty()) return make_of(kind);
  pickle_.items_.push_back(std::move(items));
  return make_of(kind, static_cast<std::uint32_t>(pickle_.items_.size() - 1));
}

bool PickleMachine::make_tuple(std::span<const Ref> items) {
  std::vector<Ref>& all = pickle_.tuple_items_;
  if (all.size() + items.size() > UINT32_MAX) return failed("holds too many values.");
  const auto begin = static_cast<std::uint32_t>(all.size());
  all.insert(all.end(), items.begin(), items.end());
  return make({.kind = PickleKind::kTuple,
               .items = begin,
               .integer = static_cast<std::int64_t>(items.size())});
}

bool PickleMachine::make_short_tuple(std::size_t count) {
  Ref items[3];
  for (std::size_t i = count; i-- > 0;)
    if (!pop(items[i])) return false;
  return make_tuple({items, count});
}

bool PickleMachine::make_long(std::string_view little_endian) {
  if (little_endian.size() > 8) return make_of(PickleKind::kOpaque);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < little_endian.size(); ++i)
    bits |= std::uint64_t{static_cast<unsigned char>(little_endian[i])} << (8 * i);
  const bool negative = !little_endian.empty() && (little_endian.back() & 0x80) != 0;
  if (negative && little_endian.size() < 8) bits |= ~std::uint64_t{0} << (8 * little_endian.size());
  return make_integer(static_cast<std::int64_t>(bits));
}

// "12", "01" (True), or "12L".
bool PickleMachine::make_integer_line() {
  std::string_view line;
  if (!take_line(line)) return false;
  if (line == "00" || line == "01") return push(line == "01" ? kTrue : kFalse);
  if (line.ends_with('L')) line.remove_suffix(1);
  std::int64_t integer = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), integer);
  if (error != std::errc() || end != line.data() + line.size()) return make_of(PickleKind::kOpaque);
  return make_integer(integer);
}

bool PickleMachine::make_float_line() {
  std::string_view line;
  if (!take_line(line)) return false;
  double number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || end != line.data() + line.size()) return make_of(PickleKind::kOpaque);
  return make({.kind = PickleKind::kFloat, .number = number});
}

bool PickleMachine::make_global(std::string_view module, std::string_view name) {
  if (module.size() > kLongestName || name.size() > kLongestName)
    return failed("names something at too great a length.");
  const std::string full = std::string(module) + "." + std::string(name);
  if (const auto known = globals_.find(full); known != globals_.end()) return push(known->second);
  pickle_.names_.push_back(full);
  if (!make_text(PickleKind::kGlobal, pickle_.names_.back())) return false;
  globals_.emplace(pickle_.names_.back(), stack_.back());
  return true;
}

// ---------------------------------------------------------------- opcodes by family
bool PickleMachine::step_number(Opcode opcode) {
  std::uint8_t byte = 0;
  std::uint16_t two_bytes = 0;
  std::int32_t four_bytes = 0;
  std::uint64_t big_endian = 0;
  std::string_view bytes;
  switch (opcode) {
    case Opcode::kBinInt1:
      return take_number(byte) && make_integer(byte);
    case Opcode::kBinInt2:
      return take_number(two_bytes) && make_integer(two_bytes);
    case Opcode::kBinInt:
      return take_number(four_bytes) && make_integer(four_bytes);
    case Opcode::kLong1:
      return take_number(byte) && take(byte, bytes) && make_long(bytes);
    case Opcode::kLong4:
      return take_number(four_bytes) && take(static_cast<std::uint32_t>(four_bytes), bytes) &&
             make_long(bytes);
    case Opcode::kBinFloat:
      return take_number(big_endian) &&
             make({.kind = PickleKind::kFloat,
                   .number = std::bit_cast<double>(__builtin_bswap64(big_endian))});
    case Opcode::kFloat:
      return make_float_line();
    default:
      return make_integer_line();
  }
}

bool PickleMachine::step_text(Opcode opcode) {
  std::string_view line;
  switch (opcode) {
    case Opcode::kBinString:
    case Opcode::kBinUnicode:
      return make_sized_text<std::uint32_t>(PickleKind::kText);
    case Opcode::kShortBinString:
    case Opcode::kShortBinUnicode:
      return make_sized_text<std::uint8_t>(PickleKind::kText);
    case Opcode::kBinUnicode8:
      return make_sized_text<std::uint64_t>(PickleKind::kText);
    case Opcode::kBinBytes:
      return make_sized_text<std::uint32_t>(PickleKind::kBytes);
    case Opcode::kShortBinBytes:
      return make_sized_text<std::uint8_t>(PickleKind::kBytes);
    case Opcode::kBinBytes8:
    case Opcode::kByteArray8:
      return make_sized_text<std::uint64_t>(PickleKind::kBytes);
    default:  // a line of protocol 0; the quotes of a string are not part of it
      if (!take_line(line)) return false;
      if (opcode == Opcode::kString && line.size() >= 2) line = line.substr(1, line.size() - 2);
      return make_text(PickleKind::kText, line);
  }
}

bool PickleMachine::remember(std::uint64_t id) {
  Ref ref = 0;
  if (!top(ref)) return false;
  if (id < memo_.size())
    memo_[id] = ref;
  else if (id == memo_.size())
    memo_.push_back(ref);
  else
    odd_memo_[id] = ref;
  return true;
}

bool PickleMachine::recall(std::uint64_t id) {
  if (id < memo_.size()) return push(memo_[id]);
  const auto found = odd_memo_.find(id);
  return found != odd_memo_.end() ? push(found->second)
                                  : failed("recalls what it never remembered.");
}

bool PickleMachine::step_memo(Opcode opcode) {
  std::uint8_t byte = 0;
  std::uint32_t four_bytes = 0;
  std::uint64_t id = 0;
  std::string_view line;
  switch (opcode) {
    case Opcode::kMemoize:
      return remember(memo_.size());
    case Opcode::kBinPut:
      return take_number(byte) && remember(byte);
    case Opcode::kLongBinPut:
      return take_number(four_bytes) && remember(four_bytes);
    case Opcode::kBinGet:
      return take_number(byte) && recall(byte);
    case Opcode::kLongBinGet:
      return take_number(four_bytes) && recall(four_bytes);
    default:
      if (!take_line(line)) return false;
      if (std::from_chars(line.data(), line.data() + line.size(), id).ec != std::errc())
        return failed("has a memo without a number.");
      return opcode == Opcode::kPut ? remember(id) : recall(id);
  }
}

bool PickleMachine::step_container(Opcode opcode) {
  std::vector<Ref> items;
  Ref ref = 0;
  switch (opcode) {
    case Opcode::kMark:
      marks_.push_back(stack_.size());
      return true;
    case Opcode::kPop:
      if (!marks_.empty() && marks_.back() == stack_.size()) {
        marks_.pop_back();
        return true;
      }
      return pop(ref);
    case Opcode::kPopMark:
      return pop_to_mark(items);
    case Opcode::kDup:
      return top(ref) && push(ref);
    case Opcode::kEmptyList:
    case Opcode::kEmptySet:
      return make_of(PickleKind::kList);
    case Opcode::kEmptyTuple:
      return make_tuple({});
    case Opcode::kEmptyDict:
      return make_of(PickleKind::kDict);
    case Opcode::kTuple1:
    case Opcode::kTuple2:
    case Opcode::kTuple3:
      return make_short_tuple(static_cast<std::size_t>(opcode) -
                              static_cast<std::size_t>(Opcode::kTuple1) + 1);
    case Opcode::kTuple:
      return pop_to_mark(items) && make_tuple(items);
    case Opcode::kList:
    case Opcode::kFrozenSet:
      return pop_to_mark(items) && make_items(PickleKind::kList, std::move(items));
    case Opcode::kDict:
      return pop_to_mark(items) && make_items(PickleKind::kDict, std::move(items));
    case Opcode::kAppend:
      items.resize(1);
      return pop(items[0]) && put_into_top(items, false);
    case Opcode::kSetItem:
      items.resize(2);
      return pop(items[1]) && pop(items[0]) && put_into_top(items, true);
    case Opcode::kAppends:
    case Opcode::kAddItems:
      return pop_to_mark(items) && put_into_top(items, false);
    case Opcode::kSetItems:
      return pop_to_mark(items) && put_into_top(items, true);
    default:
      return step_object(opcode);
  }
}

bool PickleMachine::put_into_top(const std::vector<Ref>& items, bool pairs) {
  Ref ref = 0;
  if (!top(ref)) return false;
  PickleValue& value = pickle_.values_[ref];
  const PickleKind wanted = pairs ? PickleKind::kDict : PickleKind::kList;
  if (value.kind != wanted && value.kind != PickleKind::kCall)
    return failed("puts something into what holds nothing.");
  if (items.empty()) return true;
  if (value.items == 0) {
    pickle_.items_.emplace_back();
    value.items = static_cast<std::uint32_t>(pickle_.items_.size() - 1);
  }
  std::vector<Ref>& into = pickle_.items_[value.items];
  if (pairs && items.size() % 2 != 0) return failed("has a key without a value.");
  into.insert(into.end(), items.begin(), items.end());
  return true;
}

// ---------------------------------------------------------------- where Python would import and
// call
bool PickleMachine::make_call(Ref callee, Ref arguments) {
  return make_items(PickleKind::kCall, {callee, arguments, 0});
}

// INST names the class itself; OBJ has it on the stack, before the arguments.
bool PickleMachine::make_call_from_mark(bool class_is_named) {
  std::string_view module, name;
  std::vector<Ref> items;
  Ref callee = 0;
  Ref arguments = 0;
  if (class_is_named && !(take_line(module) && take_line(name))) return false;
  if (!pop_to_mark(items)) return false;
  if (class_is_named) {
    if (!make_global(module, name) || !pop(callee)) return false;
  } else {
    if (items.empty()) return failed(kEmptyStack);
    callee = items.front();
    items.erase(items.begin());
  }
  return make_tuple(items) && pop(arguments) && make_call(callee, arguments);
}

bool PickleMachine::build() {
  Ref state = 0;
  Ref ref = 0;
  if (!pop(state) || !top(ref)) return false;
  const PickleValue& value = pickle_.values_[ref];
  if (value.kind == PickleKind::kCall) pickle_.items_[value.items][2] = state;
  return true;  // of any other value the state does not matter
}

bool PickleMachine::step_object(Opcode opcode) {
  std::string_view module, name;
  Ref callee = 0;
  Ref arguments = 0;
  Ref extra = 0;
  switch (opcode) {
    case Opcode::kGlobal:
      return take_line(module) && take_line(name) && make_global(module, name);
    case Opcode::kStackGlobal:
      return pop(extra) && pop(callee) && make_global(pickle_.text(callee), pickle_.text(extra));
    case Opcode::kReduce:
    case Opcode::kNewObj:
      return pop(arguments) && pop(callee) && make_call(callee, arguments);
    case Opcode::kNewObjEx:
      return pop(extra) && pop(arguments) && pop(callee) && make_call(callee, arguments);
    case Opcode::kObj:
      return make_call_from_mark(false);
    case Opcode::kInst:
      return make_call_from_mark(true);
    case Opcode::kBuild:
      return build();
    case Opcode::kPersId:
      return take_line(name) && make_text(PickleKind::kText, name) && pop(extra) &&
             make_items(PickleKind::kPersistent, {extra});
    case Opcode::kBinPersId:
      return pop(extra) && make_items(PickleKind::kPersistent, {extra});
    case Opcode::kExt1:
      return take(1, name) && make_of(PickleKind::kOpaque);
    case Opcode::kExt2:
      return take(2, name) && make_of(PickleKind::kOpaque);
    case Opcode::kExt4:
      return take(4, name) && make_of(PickleKind::kOpaque);
    default:
      return failed("has an operation that nanscope does not know.");
  }
}

}  // namespace nanscope::checkpoint
