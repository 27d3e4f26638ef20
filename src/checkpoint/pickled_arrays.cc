#include "checkpoint/pickled_arrays.h"

#include <algorithm>
#include <utility>

#include "checkpoint/numpy_type.h"
#include "scan/statistics.h"

namespace nanscope::checkpoint {
namespace {

// numpy.dtype("f8", False, True), given (3, "<", ...).
std::optional<ElementType> pickled_numpy_type(const Pickle& pickle, Ref ref) {
  if (pickle.callee(ref) != "numpy.dtype" || pickle.arguments(ref).empty()) return std::nullopt;
  const Ref name = pickle.arguments(ref)[0];
  if (pickle.is(name, PickleKind::kGlobal)) {  // ml_dtypes.bfloat16
    const std::string_view full = pickle.text(name);
    return type_named(full.substr(full.rfind('.') + 1));
  }
  const std::span<const Ref> state = pickle.items(pickle.state(ref));
  const std::string_view order = state.size() > 1 ? pickle.text(state[1]) : "<";
  return type_of_numpy(std::string(order.substr(0, 1)) + std::string(pickle.text(name)));
}

// Protocols before 3 have no bytes: they are written as text, each byte a character.
std::optional<std::string> bytes_from_latin1(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      bytes.push_back(text[i]);
    } else if ((lead == 0xc2 || lead == 0xc3) && i + 1 < text.size()) {
      const auto tail = static_cast<unsigned char>(text[++i]);
      bytes.push_back(static_cast<char>((lead & 0x03) << 6 | (tail & 0x3f)));
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

bool has_bytes(const Pickle& pickle, Ref ref) {
  return pickle.is(ref, PickleKind::kBytes) || pickle.is(ref, PickleKind::kText);
}

// Bytes, or bytes as text: _codecs.encode(text, "latin1"), maybe inside bytearray(...).
std::optional<std::string> raw_bytes(const Pickle& pickle, Ref ref) {
  const std::string_view outer = pickle.callee(ref);
  const bool wrapped = outer.ends_with(".bytearray") || outer.ends_with(".bytes");
  if (wrapped && !pickle.arguments(ref).empty()) ref = pickle.arguments(ref)[0];
  if (has_bytes(pickle, ref)) return std::string(pickle.text(ref));
  const std::span<const Ref> arguments = pickle.arguments(ref);
  if (pickle.callee(ref) == "_codecs.encode" && arguments.size() == 2 &&
      pickle.text(arguments[1]) == "latin1")
    return bytes_from_latin1(pickle.text(arguments[0]));
  return std::nullopt;
}

// What a call wraps at last: the same text is never copied twice.
Ref key_of_bytes(const Pickle& pickle, Ref ref) {
  for (int depth = 0; depth < 2 && !pickle.arguments(ref).empty(); ++depth)
    ref = pickle.arguments(ref)[0];
  return ref;
}

BytesPtr bytes_of_array(const Pickle& pickle, Ref data, ArrayBytes& known) {
  BytesPtr& bytes = known[key_of_bytes(pickle, data)];
  if (bytes != nullptr) return bytes;
  if (std::optional<std::string> raw = raw_bytes(pickle, data)) bytes = in_memory(std::move(*raw));
  return bytes;
}

struct ArrayParts {
  Ref shape = 0;
  Ref type = 0;
  Ref data = 0;
  bool fortran = false;
};

// _reconstruct(...) given (1, shape, dtype, fortran, data), or _frombuffer(data, dtype, shape,
// order).
std::optional<ArrayParts> parts_of_array(const Pickle& pickle, Ref call) {
  if (pickle.callee(call).ends_with("._frombuffer")) {
    const std::span<const Ref> given = pickle.arguments(call);
    if (given.size() < 4) return std::nullopt;
    return ArrayParts{given[2], given[1], given[0], pickle.text(given[3]) == "F"};
  }
  const std::span<const Ref> state = pickle.items(pickle.state(call));
  if (!pickle.is(pickle.state(call), PickleKind::kTuple) || state.size() < 5) return std::nullopt;
  const bool fortran = pickle.is(state[3], PickleKind::kBool) && pickle.integer(state[3]) != 0;
  return ArrayParts{state[1], state[2], state[4], fortran};
}

}  // namespace

std::optional<std::vector<std::int64_t>> integers(const Pickle& pickle, Ref ref) {
  if (pickle.callee(ref) == "torch.Size" && pickle.arguments(ref).size() == 1)
    ref = pickle.arguments(ref)[0];
  if (!pickle.is(ref, PickleKind::kTuple) && !pickle.is(ref, PickleKind::kList))
    return std::nullopt;
  std::vector<std::int64_t> numbers;
  if (pickle.items(ref).size() > 64) return std::nullopt;
  for (const Ref item : pickle.items(ref)) {
    if (!pickle.is(item, PickleKind::kInteger)) return std::nullopt;
    numbers.push_back(pickle.integer(item));
  }
  return numbers;
}

bool is_numpy_array(const Pickle& pickle, Ref call) {
  const std::string_view callee = pickle.callee(call);
  return callee.starts_with("numpy.") &&
         (callee.ends_with(".multiarray._reconstruct") || callee.ends_with(".numeric._frombuffer"));
}

std::optional<StoredTensor> numpy_array(const Pickle& pickle, Ref call, ArrayBytes& known) {
  const std::optional<ArrayParts> parts = parts_of_array(pickle, call);
  if (!parts) return std::nullopt;
  const std::optional<ElementType> type = pickled_numpy_type(pickle, parts->type);
  std::optional<std::vector<std::int64_t>> sizes = integers(pickle, parts->shape);
  if (!type || !sizes) return std::nullopt;
  BytesPtr data = bytes_of_array(pickle, parts->data, known);
  if (data == nullptr) return std::nullopt;
  StoredTensor tensor{.type = *type, .sizes = std::move(*sizes), .storage = std::move(data)};
  if (parts->fortran) {
    std::vector<std::int64_t> reversed(tensor.sizes.rbegin(), tensor.sizes.rend());
    tensor.strides = row_major(reversed);
    std::reverse(tensor.strides.begin(), tensor.strides.end());
  } else {
    tensor.strides = row_major(tensor.sizes);
  }
  return tensor;
}

std::optional<double> numpy_number(const Pickle& pickle, Ref call) {
  const std::span<const Ref> arguments = pickle.arguments(call);
  if (!pickle.callee(call).ends_with(".multiarray.scalar") || arguments.size() != 2)
    return std::nullopt;
  const std::optional<ElementType> type = pickled_numpy_type(pickle, arguments[0]);
  if (!type || pickle.text(arguments[1]).size() > 64) return std::nullopt;
  const std::optional<std::string> data = raw_bytes(pickle, arguments[1]);
  if (!data || data->size() != type->width || !is_scannable(type->dtype) || type->big_endian)
    return std::nullopt;
  return value_at({.data = data->data(), .dtype = type->dtype, .sizes = {}, .strides = {}}, {})
      .real;
}

}  // namespace nanscope::checkpoint
