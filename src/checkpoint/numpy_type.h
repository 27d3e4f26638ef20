// NumPy's names of element types: "<f4", "|u1", ">c16".
#pragma once

#include <optional>
#include <string_view>

#include "checkpoint/element_type.h"

namespace nanscope::checkpoint {

// Nothing for what is not decoded: records, objects, texts, long doubles.
[[nodiscard]] std::optional<ElementType> type_of_numpy(std::string_view description);

}  // namespace nanscope::checkpoint
