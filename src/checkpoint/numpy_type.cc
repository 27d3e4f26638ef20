#include "checkpoint/numpy_type.h"

namespace nanscope::checkpoint {
namespace {

struct NumpyName {
  std::string_view numpy;
  std::string_view torch;
};

constexpr NumpyName kNumpyNames[] = {{"f2", "float16"},   {"f4", "float32"},     {"f8", "float64"},
                                     {"c8", "complex64"}, {"c16", "complex128"}, {"i1", "int8"},
                                     {"i2", "int16"},     {"i4", "int32"},       {"i8", "int64"},
                                     {"u1", "uint8"},     {"u2", "uint16"},      {"u4", "uint32"},
                                     {"u8", "uint64"},    {"b1", "bool"}};

}  // namespace

std::optional<ElementType> type_of_numpy(std::string_view description) {
  bool big_endian = false;
  if (!description.empty() &&
      std::string_view("<>|=").find(description[0]) != std::string_view::npos) {
    big_endian = description[0] == '>';
    description.remove_prefix(1);
  }
  if (description.starts_with("M8") || description.starts_with("m8"))  // dates: whole numbers
    return type_named("int64");
  for (const NumpyName& name : kNumpyNames) {
    if (name.numpy != description) continue;
    std::optional<ElementType> type = type_named(name.torch);
    if (type) type->big_endian = big_endian && type->width > 1;
    return type;
  }
  return std::nullopt;
}

}  // namespace nanscope::checkpoint
