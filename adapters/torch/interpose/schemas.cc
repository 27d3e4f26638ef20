#include "adapters/torch/interpose/schemas.h"

namespace nanscope::torch_adapter {

bool is_tensor(const c10::Type& type) { return type.kind() == c10::TypeKind::TensorType; }
bool is_tensor_list(const c10::Type& type) {
  return type.kind() == c10::TypeKind::ListType &&
         is_tensor(*type.expect<c10::ListType>()->getElementType());
}

bool is_write(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

bool has_tensor_result(const c10::FunctionSchema& schema) {
  for (const c10::Argument& result : schema.returns()) {
    if (is_tensor(*result.type()) || is_tensor_list(*result.type())) return true;
  }
  return false;
}

bool is_view(const c10::FunctionSchema& schema) {
  for (const c10::Argument& result : schema.returns()) {
    if (result.alias_info() == nullptr || result.alias_info()->isWrite()) return false;
  }
  return !schema.returns().empty();
}

}  // namespace nanscope::torch_adapter
