// What the schema of an op tells of what it does with tensors.
#pragma once

#include <ATen/core/function_schema.h>

namespace nanscope::torch_adapter {

[[nodiscard]] bool is_tensor(const c10::Type& type);
[[nodiscard]] bool is_tensor_list(const c10::Type& type);
[[nodiscard]] bool is_write(const c10::Argument& argument);
[[nodiscard]] bool has_tensor_result(const c10::FunctionSchema& schema);
// Every result is an alias that is not written: no values are made.
[[nodiscard]] bool is_view(const c10::FunctionSchema& schema);

}  // namespace nanscope::torch_adapter
