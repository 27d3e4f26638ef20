#include "checkpoint/pickled_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "checkpoint/pickled_arrays.h"

namespace nanscope::checkpoint {
namespace {

constexpr std::size_t kDeepest = 500;     // containers inside each other
constexpr std::size_t kLongestKey = 256;  // of a dictionary, in a name
constexpr std::size_t kMostOddNumbers = 100;

struct StorageClass {
  std::string_view name;
  std::string_view type;
};

constexpr StorageClass kStorageClasses[] = {{"DoubleStorage", "float64"},
                                            {"FloatStorage", "float32"},
                                            {"HalfStorage", "float16"},
                                            {"BFloat16Storage", "bfloat16"},
                                            {"ComplexDoubleStorage", "complex128"},
                                            {"ComplexFloatStorage", "complex64"},
                                            {"ComplexHalfStorage", "complex32"},
                                            {"LongStorage", "int64"},
                                            {"IntStorage", "int32"},
                                            {"ShortStorage", "int16"},
                                            {"CharStorage", "int8"},
                                            {"ByteStorage", "uint8"},
                                            {"BoolStorage", "bool"},
                                            {"QInt8Storage", "qint8"},
                                            {"QUInt8Storage", "quint8"},
                                            {"QInt32Storage", "qint32"},
                                            {"QUInt4x2Storage", "quint4x2"},
                                            {"QUInt2x4Storage", "quint2x4"}};

class TensorWalk {
 public:
  TensorWalk(const Pickle& pickle, const FindStorage& find, bool big_endian, Contents& contents)
      : pickle_(pickle), find_(find), big_endian_(big_endian), contents_(contents) {}

  Status walk() {
    enter(pickle_.root());
    while (!frames_.empty() && ok_) {
      Frame& frame = frames_.back();
      name_.resize(frame.name_size);
      if (frame.next >= frame.items.size()) {
        frames_.pop_back();
        continue;
      }
      const std::size_t at = frame.next;
      frame.next += frame.pairs ? 2 : 1;
      if (frame.pairs && at + 1 >= frame.items.size()) continue;
      if (frame.pairs)
        add_key(frame.items[at]);
      else if (frame.numbered)
        add_label(std::to_string(at - frame.first));
      enter(frame.items[frame.pairs ? at + 1 : at]);
    }
    return ok_ ? Status(Done{}) : Status(error_);
  }

 private:
  struct Frame {
    std::span<const Ref> items;
    std::size_t next = 0;
    std::size_t first = 0;
    bool pairs = false;
    bool numbered = true;
    std::size_t name_size = 0;
  };

  // ------------------------------------------------------------ names
  void add_label(std::string_view label) {
    if (!name_.empty()) name_ += '.';
    name_ += label.substr(0, kLongestKey);
  }

  // The words by which a module keeps its parts are not part of their names.
  void add_key(Ref key) {
    const std::string_view text = pickle_.text(key);
    if (text == "_parameters" || text == "_buffers" || text == "_modules") return;
    if (pickle_.is(key, PickleKind::kText))
      add_label(text);
    else if (pickle_.is(key, PickleKind::kInteger))
      add_label(std::to_string(pickle_.integer(key)));
    else
      add_label("?");
  }

  // ------------------------------------------------------------ values
  void enter(Ref ref) {
    switch (pickle_.kind(ref)) {
      case PickleKind::kFloat:
        return note_number(pickle_.number(ref));
      case PickleKind::kList:
      case PickleKind::kTuple:
        return open(ref, {.items = pickle_.items(ref)});
      case PickleKind::kDict:
        return open(ref, {.items = pickle_.items(ref), .pairs = true});
      case PickleKind::kPersistent:
        return enter_storage(ref);
      case PickleKind::kCall:
        return enter_call(ref);
      default:
        return;
    }
  }

  void note_number(double number) {
    if (std::isfinite(number) || contents_.odd_numbers.size() >= kMostOddNumbers) return;
    contents_.odd_numbers.push_back({name_, number});
  }

  bool is_new(Ref ref) {
    if (seen_.size() <= ref) seen_.resize(ref + 1);
    if (seen_[ref]) return false;
    return seen_[ref] = true;
  }

  void open(Ref ref, Frame frame) {
    if (!is_new(ref)) return;
    if (frames_.size() >= kDeepest) return leave_out("it is nested too deeply");
    frame.name_size = name_.size();
    frames_.push_back(frame);
  }

  // A parameter is the tensor it is made of.
  Ref inside_of_parameter(Ref call) const {
    for (int depth = 0; depth < 2; ++depth) {
      const std::span<const Ref> given = pickle_.arguments(call);
      const bool is_parameter = pickle_.callee(call).starts_with("torch._utils._rebuild_parameter");
      if (is_parameter && !given.empty() && pickle_.is(given[0], PickleKind::kCall))
        call = given[0];
    }
    return call;
  }

  void enter_call(Ref call) {
    call = inside_of_parameter(call);
    const std::string_view callee = pickle_.callee(call);
    if (callee.starts_with("torch._utils._rebuild_tensor") ||
        callee == "torch._utils._rebuild_qtensor")
      return enter_tensor(pickle_.items(call)[0], pickle_.arguments(call));
    if (callee == "torch._tensor._rebuild_from_type_v2" && pickle_.arguments(call).size() >= 3)
      return enter_rebuilt(call);
    if (callee.starts_with("torch._utils._rebuild_meta_tensor"))
      return leave_out("a meta tensor has no elements");
    if (callee == "torch.storage._load_from_bytes")
      return leave_out("a tensor pickled inside of a pickle is not decoded");
    if (callee == "torch.Size" || callee == "_codecs.encode") return;
    if (const std::optional<double> number = numpy_number(pickle_, call))
      return note_number(*number);
    if (is_numpy_array(pickle_, call)) return enter_array(call);
    enter_object(call);
  }

  // Anything else: what it was made of, what it was given, and what was put into it. The last
  // frame is looked at first.
  void enter_object(Ref call) {
    if (!is_new(call)) return;
    const std::span<const Ref> all = pickle_.items(call);
    const std::span<const Ref> inside = all.subspan(Pickle::kCallHead);
    const bool pairs =
        inside.size() % 2 == 0 && !inside.empty() &&
        (pickle_.is(inside[0], PickleKind::kText) || pickle_.is(inside[0], PickleKind::kInteger));
    if (frames_.size() + 3 > kDeepest) return leave_out("it is nested too deeply");
    const std::size_t name_size = name_.size();
    const std::span<const Ref> given = pickle_.arguments(call);
    frames_.push_back({.items = given, .numbered = given.size() > 1, .name_size = name_size});
    frames_.push_back({.items = all.subspan(2, 1), .numbered = false, .name_size = name_size});
    frames_.push_back({.items = inside, .pairs = pairs, .name_size = name_size});
  }

  // A tensor of another class, or with attributes: (function, class, arguments, state).
  void enter_rebuilt(Ref call) {
    const std::span<const Ref> given = pickle_.arguments(call);
    const std::string_view function = pickle_.text(given[0]);
    if (function.starts_with("torch._utils._rebuild_tensor") &&
        pickle_.is(given[2], PickleKind::kTuple))
      return enter_tensor(given[0], pickle_.items(given[2]));
    enter_object(call);
  }

  void enter_array(Ref call) {
    std::optional<StoredTensor> array = numpy_array(pickle_, call, array_bytes_);
    if (!array) {
      leave_out("a NumPy array of objects, texts or records is not decoded");
      return enter_object(call);
    }
    add(std::move(*array));
  }

  // ------------------------------------------------------------ tensors
  Result<Storage> storage_of(Ref persistent) {
    if (!pickle_.is(persistent, PickleKind::kPersistent))
      return damaged("a tensor has no storage.");
    const Ref id = pickle_.items(persistent)[0];
    const std::span<const Ref> parts = pickle_.items(id);
    if (!pickle_.is(id, PickleKind::kTuple) || parts.size() < 5 ||
        pickle_.text(parts[0]) != "storage")
      return damaged("the name of a storage makes no sense.");
    Result<Storage> storage = find_(pickle_, parts);
    if (storage) storage.value().type = type_of_storage(pickle_.text(parts[1]));
    return storage;
  }

  // (storage, offset, sizes, strides, ...); the third version has its type at the seventh place.
  void enter_tensor(Ref function, std::span<const Ref> given) {
    if (given.size() < 4 || !pickle_.is(given[1], PickleKind::kInteger))
      return fail("a tensor is not described as torch does.");
    Result<Storage> storage = storage_of(given[0]);
    std::optional<std::vector<std::int64_t>> sizes = integers(pickle_, given[2]);
    std::optional<std::vector<std::int64_t>> strides = integers(pickle_, given[3]);
    if (!storage) return fail(storage.error().message);
    const std::int64_t offset = pickle_.integer(given[1]);
    if (!sizes || !strides || offset < 0) return fail("a tensor's shape makes no sense.");
    std::optional<ElementType> type = storage.value().type;
    if (pickle_.text(function).ends_with("_v3") && given.size() >= 7)
      type = type_of_global(given[6]);
    if (!type) return leave_out("its type of elements is not known");
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<std::uint64_t>(offset), type->width, &bytes))
      return fail("a tensor's offset makes no sense.");
    add({.type = *type,
         .sizes = std::move(*sizes),
         .strides = std::move(*strides),
         .storage = std::move(storage.value().bytes),
         .offset = bytes});
    // The scales of a quantised tensor.
    if (pickle_.text(function).ends_with("_rebuild_qtensor") && given.size() >= 5 && ok_) {
      add_label("quantizer");
      frames_.push_back(
          {.items = given.subspan(4, 1), .numbered = false, .name_size = name_.size()});
    }
  }

  std::optional<ElementType> type_of_global(Ref ref) const {
    const std::string_view name = pickle_.text(ref);
    return name.starts_with("torch.") ? type_named(name.substr(6)) : std::nullopt;
  }

  // A storage that no tensor looks at.
  void enter_storage(Ref ref) {
    if (!is_new(ref)) return;
    Result<Storage> storage = storage_of(ref);
    if (!storage) return;  // an id of another kind
    const std::optional<ElementType> type = storage.value().type;
    if (!type) return leave_out("a storage without a type of elements is not decoded");
    const auto count = static_cast<std::int64_t>(storage.value().bytes->size() / type->width);
    add({.type = *type,
         .sizes = {count},
         .strides = {1},
         .storage = std::move(storage.value().bytes)});
  }

  void add(StoredTensor tensor) {
    tensor.name = name_;
    tensor.type.big_endian |= big_endian_ && tensor.type.width > 1;
    if (const std::optional<std::string> problem = place_problem(tensor))
      return fail(fmt::format("{}: {}.", name_, *problem));
    if (!contents_.add(std::move(tensor))) fail("it holds more tensors or longer names than any.");
  }

  void leave_out(std::string why) {
    if (!contents_.leave_out(name_, std::move(why))) fail("it holds more tensors than any.");
  }

  void fail(std::string why) {
    if (ok_) error_ = damaged(std::move(why));
    ok_ = false;
  }

  const Pickle& pickle_;
  const FindStorage& find_;
  bool big_endian_;
  Contents& contents_;
  std::vector<Frame> frames_;
  std::vector<bool> seen_;
  ArrayBytes array_bytes_;
  std::string name_;
  bool ok_ = true;
  Error error_{};
};

}  // namespace

std::optional<ElementType> type_of_storage(std::string_view storage_class) {
  const std::string_view name = storage_class.substr(storage_class.rfind('.') + 1);
  for (const StorageClass& each : kStorageClasses)
    if (each.name == name) return type_named(each.type);
  return std::nullopt;
}

Status add_tensors(const Pickle& pickle, const FindStorage& find, bool big_endian,
                   Contents& contents) {
  return TensorWalk(pickle, find, big_endian, contents).walk();
}

}  // namespace nanscope::checkpoint
