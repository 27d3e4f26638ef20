#include "checkpoint/element_type.h"

#include <cstddef>

namespace nanscope::checkpoint {
namespace {

struct WholeNumbers {
  std::string_view name;
  std::uint32_t width;
};

// What cannot hold NaN or Inf. Of the packed kinds torch counts bytes as elements.
constexpr WholeNumbers kWholeNumbers[] = {
    {"uint8", 1},    {"int8", 1},    {"int16", 2},   {"uint16", 2},  {"int32", 4},
    {"uint32", 4},   {"int64", 8},   {"uint64", 8},  {"bool", 1},    {"qint8", 1},
    {"quint8", 1},   {"qint32", 4},  {"bits8", 1},   {"bits16", 2},  {"quint4x2", 1},
    {"quint2x4", 1}, {"bits1x8", 1}, {"bits2x4", 1}, {"bits4x2", 1}, {"float4_e2m1fn_x2", 1}};

}  // namespace

std::optional<ElementType> type_named(std::string_view torch_name) noexcept {
  if (const std::optional<DType> dtype = scannable_named(torch_name))
    return ElementType{.name = name_of(*dtype),
                       .dtype = *dtype,
                       .width = static_cast<std::uint32_t>(width_of(*dtype))};
  for (const WholeNumbers& type : kWholeNumbers)
    if (type.name == torch_name) return ElementType{.name = type.name, .width = type.width};
  return std::nullopt;
}

}  // namespace nanscope::checkpoint
